"""Generators that outlive the trace: rebuilt as real ones, standing where the trace left them (DESIGN, section 7)."""

from __future__ import annotations

import types
from typing import Any

from frameloom.bytecode.flow import PREVIOUS, VALUE
from frameloom.codegen.kinds import exceptions_of, shape_of
from frameloom.codegen.resume import argument_slots, resume_code
from frameloom.symbolic import values
from frameloom.symbolic.values import Const, Obj

VARARGS, VARKEYWORDS = 4, 8


def create(build: Any, obj: Obj) -> None:
    """Emit code that pushes a generator in the state of a generator of the trace."""
    CREATE[obj.body.state](build, obj)


def _create_suspended(build: Any, obj: Obj) -> None:
    """A resume generator, primed: `close`, `throw`, `send` and `gi_frame` find it at the user's yield."""
    frame, out = obj.body.frame, build.out
    shape = shape_of(frame.program, frame.next, frame.slots, frame.stack)
    code = resume_code(frame.program.code, frame.next, shape)
    out.begin_call(prime)
    build.push_function(frame.program, frame.slots, frame.globals, code)
    for value in frame.slots[: argument_slots(frame.program.code)]:
        build.load(values.NONE if value is values.UNBOUND else value)
    handled = iter(exceptions_of(frame.stack, obj.body.handled))
    count = 0
    for value, kind in zip(frame.stack, shape.stack):
        if kind in (VALUE, PREVIOUS):
            build.load_handled(next(handled)) if kind == PREVIOUS else build.load(value)
            count += 1
    out.build_tuple(count)
    out.end_call(argument_slots(frame.program.code) + 2)


def prime(function: types.FunctionType, *state: Any) -> types.GeneratorType:
    """A generator of a resume function, run to the yield where the user's was suspended; called by compiled code."""
    made = function(*state)
    next(made)
    return made


def _create_unstarted(build: Any, obj: Obj) -> None:
    body = obj.body
    arguments = [value for slot, value in zip(body.frame.program.slots, body.frame.slots) if slot.is_argument]
    build.call_values(start, (body.function, *arguments))


def start(function: types.FunctionType, *slots: Any) -> types.GeneratorType:
    """Call a generator function with what its argument slots hold; called by compiled code."""
    code = function.__code__
    positional, named = code.co_argcount, code.co_kwonlyargcount
    arguments = list(slots[:positional])
    keywords = dict(zip(code.co_varnames[positional : positional + named], slots[positional:]))
    rest = list(slots[positional + named :])
    if code.co_flags & VARARGS:
        arguments += rest.pop(0)
    if code.co_flags & VARKEYWORDS:
        keywords.update(rest.pop(0))
    return function(*arguments, **keywords)


def _create_closed(build: Any, obj: Obj) -> None:
    count = sum(slot.is_argument for slot in obj.body.frame.program.slots)
    build.call_values(closed, (obj.body.function, Const(count)))


def closed(function: types.FunctionType, count: int) -> types.GeneratorType:
    """A generator of a function that is over, without any of its code having run; called by compiled code."""
    code = function.__code__
    stars = [()] * bool(code.co_flags & VARARGS) + [{}] * bool(code.co_flags & VARKEYWORDS)
    made = start(function, *[None] * (count - len(stars)), *stars)
    made.close()
    return made


CREATE = {"suspended": _create_suspended, "created": _create_unstarted, "closed": _create_closed}
