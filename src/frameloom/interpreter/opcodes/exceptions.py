"""Raising, handling, and `with`."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.attributes import bind_descriptor
from frameloom.interpreter.exceptions import exception_classes, instance, set_cause, traceback_of
from frameloom.interpreter.exits import forget_origin
from frameloom.interpreter.frame import Frame, Link
from frameloom.interpreter.registry import opcode
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, Const, Previous, Value, boolean


@opcode("RAISE_VARARGS")
def raise_varargs(frame: Frame, count: int) -> None:
    session = frame.session
    m = session.machine
    if count == 0:
        handled = session.handling()
        if handled is None:
            raise m.error(RuntimeError, "No active exception to reraise")
        raise SymbolicRaise(handled)
    exception = instance(m, frame.stack[-count])
    if count == 2:
        cause = frame.stack[-1]
        is_none = type(cause) is Const and cause.value is None
        set_cause(m, exception, NONE if is_none else instance(m, cause))
    raise m.raising(exception)


@opcode("PUSH_EXC_INFO")
def push_exc_info(frame: Frame, arg: Any) -> None:
    session = frame.session
    exception = frame.stack[-1]
    frame.stack[-1:] = [Previous(session.handled), exception]
    session.journal.set_field(session, "handled", exception)


@opcode("POP_EXCEPT")
def pop_except(frame: Frame, arg: Any) -> None:
    session = frame.session
    forget_origin(frame, session.handled)
    previous = frame.stack.pop()
    session.journal.set_field(session, "handled", previous.value)


@opcode("RERAISE")
def reraise(frame: Frame, arg: int) -> None:
    raise SymbolicRaise(frame.stack[-1])


@opcode("CHECK_EXC_MATCH")
def check_exc_match(frame: Frame, arg: Any) -> None:
    m = frame.session.machine
    classes = exception_classes(m, frame.stack[-1])
    matched = any(m.observe.is_subtype(frame.stack[-2].cls, cls) for cls in classes)
    frame.stack[-1] = boolean(matched)


# -- with ------------------------------------------------------------------------------------------------------------


@opcode("BEFORE_WITH")
def before_with(frame: Frame, arg: Any) -> None:
    m = frame.session.machine
    manager = frame.stack[-1]
    enter = m.observe.type_lookup(manager.cls, "__enter__")
    leave = m.observe.type_lookup(manager.cls, "__exit__")
    for found in (enter, leave):
        if found is ABSENT:
            raise m.error(TypeError, f"'{type_name(manager.cls)}' object does not support the context manager protocol")
    bound = bind_descriptor(m, leave, manager, manager.cls)
    # While `__enter__` runs, `__exit__` lies where the manager was: that is what a frame has that waits for it.
    entering = bind_descriptor(m, enter, manager, manager.cls)
    m.journal.record(_put_back, frame, len(frame.stack) - 1, manager)
    frame.stack[-1] = bound
    try:
        entered = m.invoke(entering, [], {}, Link("result", len(frame.stack)))
    except SymbolicRaise:
        frame.stack[-1] = manager
        raise
    frame.stack.append(entered)


def _put_back(frame: Frame, place: int, manager: Value) -> None:
    if place < len(frame.stack):  # of a state before the instruction: any other is about to be replaced
        frame.stack[place] = manager


@opcode("WITH_EXCEPT_START")
def with_except_start(frame: Frame, arg: Any) -> None:
    m = frame.session.machine
    exception = frame.stack[-1]
    arguments = [m.observe.constant(exception.cls), exception, traceback_of(m, exception)]
    frame.stack.append(m.invoke(frame.stack[-4], arguments, {}, Link("result", len(frame.stack))))
