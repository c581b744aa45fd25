"""Exceptions as `raise` and `except` see them: instances, causes, classes to be caught, tracebacks."""

from __future__ import annotations

import types

from frameloom.interpreter.machine import Machine
from frameloom.symbolic.layouts import exception as parts, tuple_
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, TRUE, Const, Obj, Value


def instance(m: Machine, value: Value) -> Value:
    """An exception instance from what follows `raise`."""
    if issubclass(value.cls, type):
        cls = m.observe.known_class(value)
        if issubclass(cls, BaseException):
            value = m.invoke(value, [], {})
    if not issubclass(value.cls, BaseException):
        raise m.error(TypeError, "exceptions must derive from BaseException")
    return value


def set_cause(m: Machine, exception: Obj, cause: Value) -> None:
    """`raise exception from cause`."""
    parts.set_part(m.session, exception, "cause", cause)
    parts.set_part(m.session, exception, "suppress", TRUE)


def exception_classes(m: Machine, value: Value) -> tuple[type, ...]:
    """The classes named in an `except` clause."""
    values = tuple_.items(m.session, value.body) if value.cls is tuple else [value]
    classes = []
    for item in values:
        cls = m.observe.known_class(item) if issubclass(item.cls, type) else None
        if cls is None or not issubclass(cls, BaseException):
            raise m.error(TypeError, "catching classes that do not inherit from BaseException is not allowed")
        classes.append(cls)
    return tuple(classes)


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
