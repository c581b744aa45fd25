"""Exceptions: arguments, cause, context, beside their attributes."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.layouts.base import Layout, register, replay
from frameloom.symbolic.real import flags_of
from frameloom.symbolic.values import FALSE, NONE, Const, Obj, Value


class ExceptionBody:
    """`args`: a tuple Obj; cause and context: Values (None or an exception); suppress: a bool Value.

    `raised` tells that the trace raised it: then its traceback is part of what the user may see.  `traceback` stands for that
    traceback: the places that the exception has passed, or a Value where a real one was copied."""

    __slots__ = ("args", "cause", "context", "suppress", "raised", "traceback")

    def __init__(self, args: Value | None, cause: Value = NONE, context: Value = NONE, suppress: Value = FALSE) -> None:
        self.args = args
        self.cause = cause
        self.context = context
        self.suppress = suppress
        self.raised: Any = False
        self.traceback: Any = None


PARTS = ("args", "__cause__", "__context__", "__suppress_context__")


def part(session: Any, obj: Obj, name: str) -> Value:
    """One of `args`, `cause`, `context`, `suppress`."""
    found = getattr(obj.body, name)
    if found is None:
        descriptor = BaseException.__dict__[_DESCRIPTORS[name]]
        found = session.observe.read(obj, "descriptor", descriptor)
        session.journal.set_field(obj.body, name, found)
    return found


_DESCRIPTORS = {
    "args": "args",
    "cause": "__cause__",
    "context": "__context__",
    "suppress": "__suppress_context__",
}


def set_part(session: Any, obj: Obj, name: str, value: Value) -> None:
    session.journal.set_field(obj.body, name, value)
    session.operation("exception.set", obj, _DESCRIPTORS[name], value)


def leave_context(session: Any, handled: Value, exception: Obj) -> None:
    """Where `exception` is what one in the contexts of `handled` was raised in, cut it off: it is raised again in the course of
    handling itself, and contexts must not go round.

    A real exception whose context was never looked at cannot have one that the trace has made.
    """
    seen: set[int] = set()
    while type(handled) is Obj and type(context := handled.body.context) is Obj and id(handled) not in seen:
        if context is exception:
            set_part(session, handled, "context", NONE)
            return
        seen.add(id(handled))
        handled = context


def grow_traceback(session: Any, exception: Value, place: tuple) -> None:
    """An exception passes a place (code, index)."""
    if type(exception) is Obj and exception.real is None and type(exception.body) is ExceptionBody:
        session.journal.set_field(exception.body, "traceback", (place, exception.body.traceback))


def share_traceback(session: Any, original: Obj, made: Obj) -> None:
    """A part of an exception group has the traceback of the whole; both are the trace's own."""
    for name in ("raised", "traceback"):
        session.journal.set_field(made.body, name, getattr(original.body, name))


def set_traceback(session: Any, obj: Obj, traceback: Value) -> None:
    """Give a fresh exception the traceback of one that exists already."""
    session.journal.set_field(obj.body, "traceback", traceback if type(traceback) is Obj else None)


def traceback_of(session: Any, obj: Obj) -> Any:
    """What stands for the traceback of an exception: a Value where it is a real one or None, else the places that it passed."""
    if obj.real is None:
        return obj.body.traceback or NONE
    return session.observe.read(obj, "descriptor", _PART["__traceback__"])


@register(BaseException)
class ExceptionLayout(Layout):
    """BaseException and everything below it."""

    def look(self, obj: Obj, session: Any) -> ExceptionBody:
        return ExceptionBody(None, None, None, None)

    def children(self, obj: Obj) -> list:
        body = obj.body
        held = [body.args, body.cause, body.context, body.suppress]
        return [*held, body.traceback] if type(body.traceback) is Obj else held

    def needs_first(self, obj: Obj) -> list:
        return list(obj.body.args.body.items)

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(_new_of(obj.cls), (Const(obj.cls), *obj.body.args.body.items))

    def fill(self, obj: Obj, build: Any) -> None:
        body = obj.body
        if body.cause is not NONE:
            build.set_descriptor(_PART["__cause__"], obj, body.cause)
        if body.context is not NONE:
            build.set_descriptor(_PART["__context__"], obj, body.context)
        if body.suppress is not FALSE or body.cause is not NONE:  # setting a cause sets this too
            build.set_descriptor(_PART["__suppress_context__"], obj, body.suppress)
        if type(body.traceback) is Obj:
            build.set_descriptor(_PART["__traceback__"], obj, body.traceback)


_PART = BaseException.__dict__


def _new_of(cls: type) -> Any:
    """`__new__` of the C class that an exception class stands on."""
    while flags_of(cls) & HEAP_TYPE:
        cls = type.__dict__["__base__"].__get__(cls)
    return cls.__new__


HEAP_TYPE = 1 << 9


MESSAGE, EXCEPTIONS = (BaseExceptionGroup.__dict__[name] for name in ("message", "exceptions"))


@register(BaseExceptionGroup)
class GroupLayout(ExceptionLayout):
    """Groups, which are made of what they hold."""

    creates = frozenset({MESSAGE, EXCEPTIONS})

    def needs_first(self, obj: Obj) -> list:
        return [obj.slots[MESSAGE], obj.slots[EXCEPTIONS]]

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(BaseExceptionGroup.__new__, (Const(obj.cls), obj.slots[MESSAGE], obj.slots[EXCEPTIONS]))

    def fill(self, obj: Obj, build: Any) -> None:
        build.set_descriptor(_PART["args"], obj, obj.body.args)
        super().fill(obj, build)


@replay("exception.set")
def _replay_set(build: Any, target: Obj, name: str, value: Value) -> None:
    build.set_descriptor(_PART[name], target, value)
