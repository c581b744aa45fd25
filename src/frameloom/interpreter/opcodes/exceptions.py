"""Raising, handling, and `with`."""

from __future__ import annotations

import types
from typing import Any

from frameloom.interpreter.attributes import bind_descriptor
from frameloom.interpreter.exits import forget_origin
from frameloom.interpreter.frame import Frame, Link
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import opcode
from frameloom.symbolic.layouts import exception as parts, tuple_
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, TRUE, Const, Obj, Previous, Value, boolean


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
        set_cause(m, exception, NONE if _is_none(cause) else instance(m, cause))
    raise m.raising(exception)


def _is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None


def instance(m: Machine, value: Value) -> Value:
    """An exception instance from what follows `raise`."""
    if issubclass(value.cls, type):
        cls = m.observe.known(value)
        if issubclass(cls, BaseException):
            value = m.invoke(value, [], {})
    if not issubclass(value.cls, BaseException):
        raise m.error(TypeError, "exceptions must derive from BaseException")
    return value


def set_cause(m: Machine, exception: Obj, cause: Value) -> None:
    """`raise exception from cause`."""
    parts.set_part(m.session, exception, "cause", cause)
    parts.set_part(m.session, exception, "suppress", TRUE)


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


def exception_classes(m: Machine, value: Value) -> tuple[type, ...]:
    """The classes named in an `except` clause."""
    values = tuple_.items(m.session, value.body) if value.cls is tuple else [value]
    classes = []
    for item in values:
        cls = m.observe.known(item) if issubclass(item.cls, type) else None
        if cls is None or not issubclass(cls, BaseException):
            raise m.error(TypeError, "catching classes that do not inherit from BaseException is not allowed")
        classes.append(cls)
    return tuple(classes)


# -- with ------------------------------------------------------------------------------------------------------------


@opcode("BEFORE_WITH")
def before_with(frame: Frame, arg: Any) -> None:
    m = frame.session.machine
    manager = frame.stack[-1]
    enter = m.observe.type_lookup(manager.cls, "__enter__")
    leave = m.observe.type_lookup(manager.cls, "__exit__")
    for found in (enter, leave):
        if found is ABSENT:
            raise m.error(TypeError, f"'{manager.cls.__qualname__}' object does not support the context manager protocol")
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


TRACEBACK = BaseException.__dict__["__traceback__"]


def traceback_of(m: Machine, exception: Value) -> Value:
    """The traceback of an exception; for one of the trace's own, a stand-in that breaks where anything is asked of it."""
    if exception.real is not None:
        return m.observe.read(exception, "descriptor", TRACEBACK)
    return m.session.alloc(types.TracebackType, Traceback(exception))


def stand_in(m: Machine, exception: Value) -> Value:
    """The traceback of an exception that the trace made; it exists once the exception was raised."""
    if exception.real is not None:
        return _traceback_of_real(m, exception)
    if type(exception.body.traceback) is Obj:
        return exception.body.traceback
    written = m.memory.get(("__traceback__", exception))
    if written is not None:
        return written
    if not exception.body.raised:
        return NONE
    return m.remember(("__traceback__", exception), traceback_of(m, exception))


def _traceback_of_real(m: Machine, exception: Value) -> Value:
    """One that was never raised has none; any other is CPython's."""
    found = m.observe.read(exception, "descriptor", TRACEBACK)
    if type(found) is not Const:
        raise GraphBreak("FL005", "the traceback of an exception")
    return found


class Traceback:
    """Body of the stand-in for the traceback of an exception made by the trace."""

    __slots__ = ("exception",)

    def __init__(self, exception: Value) -> None:
        self.exception = exception
