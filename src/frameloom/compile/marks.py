"""What calls of frameloom's own functions mean inside a trace."""

from __future__ import annotations

from typing import Any

from frameloom.codegen.links import further
from frameloom.codegen.resume import origin_of
from frameloom.compile.asked import graph_break, is_compiling
from frameloom.compile.running import in_compiled
from frameloom.compile.finalisers import may_run_code
from frameloom.interpreter.calls import CALLERS
from frameloom.interpreter.frame import Link
from frameloom.interpreter.registry import CODE_RULES, rule
from frameloom.native import Callable, go_on
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, TRUE, Const, Node, Obj, Value

WRAPPED = Callable.__dict__["__wrapped__"]
ENGINE = Callable.__dict__["engine"]


def _call_wrapped(m: Any, fn: Obj, args: list[Value], kwargs: dict[str, Value], link: Any) -> Value:
    """A compiled callable inside a trace is what it wraps; a disabled one breaks."""
    engine = m.observe.read(fn, "descriptor", ENGINE)
    if type(engine) is Const and engine.value is None:
        raise GraphBreak("FL402", "a function marked with frameloom.disable is called")
    return m.invoke(m.observe.read(fn, "descriptor", WRAPPED), args, kwargs, link)


CALLERS[Callable] = _call_wrapped


@rule(graph_break)
def _graph_break(m: Any) -> Value:
    raise GraphBreak("FL401", "the program asks for a break")


@rule(is_compiling, in_compiled)
def _is_compiling(m: Any) -> Value:
    return TRUE


@rule(go_on)
def _go_on_inside(m: Any, items: Value) -> Any:
    """A resume function waits for what goes on with an inner frame: that is inlined, and this frame waits for it as the user's did."""
    frame = m.session.frame
    origin = origin_of(frame.program.code)
    waits = origin.waits if origin is not None else None
    if waits is None or waits.call != frame.index:
        return NotImplemented
    function, *arguments = items.body.items  # not looked at yet
    if any(may_run_code(m.observe.peek(argument)) for argument in arguments):
        raise GraphBreak("FL503", "what dies with the inner frame runs code, which must not wait for the end of the outer one")
    values = tuple(frame.stack[waits.depth : waits.depth + len(further(waits.link)) - 1])
    return m.invoke(m.observe.resolve(function), arguments, {}, Link(waits.link, waits.depth, values))


def operation(function: Any) -> Any:
    """Make calls of a Python function one operation of the graph, whatever happens inside.

    The function is called with example tensors when it is captured, and by the backend when the graph runs.
    """

    def apply(m: Any, *args: Value, **kwargs: Value) -> Any:
        if not any(type(value) is Node for value in (*args, *kwargs.values())):
            return NotImplemented
        return m.domain.apply(m.session, function, list(args), kwargs)

    CODE_RULES[function.__code__] = apply
    return function


def constant_result(function: Any) -> Any:
    """Take the result of a call with constant arguments at capture for all later calls."""

    def apply(m: Any, *args: Value, **kwargs: Value) -> Value:
        plain = [m.need_constant(value, "FL101", "an argument that is no constant") for value in args]
        named = {name: m.need_constant(value, "FL101", "an argument that is no constant") for name, value in kwargs.items()}
        result = function(*plain, **named)
        return NONE if result is None else m.observe.constant(result)

    CODE_RULES[function.__code__] = apply
    return function
