"""Exceptions: arguments, cause, context, beside their attributes."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import FALSE, NONE, Obj, Value


class ExceptionBody:
    """`args`: a tuple Obj; cause and context: Values (None or an exception); suppress: a bool Value.

    `raised` tells that the trace raised it: then its traceback is part of what the user may see."""

    __slots__ = ("args", "cause", "context", "suppress", "raised")

    def __init__(self, args: Value | None, cause: Value = NONE, context: Value = NONE, suppress: Value = FALSE) -> None:
        self.args = args
        self.cause = cause
        self.context = context
        self.suppress = suppress
        self.raised = False


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


@register(BaseException)
class ExceptionLayout(Layout):
    """BaseException and everything below it."""

    def look(self, obj: Obj, session: Any) -> ExceptionBody:
        return ExceptionBody(None, None, None, None)

    def children(self, obj: Obj) -> list:
        body = obj.body
        return [body.args, body.cause, body.context, body.suppress]

    def needs_first(self, obj: Obj) -> list:
        return list(obj.body.args.body.items)

    def create(self, obj: Obj, build: Any) -> None:
        build.call_constant_items(BaseException.__new__, obj.cls, obj.body.args.body.items)

    def fill(self, obj: Obj, build: Any) -> None:
        body = obj.body
        if body.cause is not NONE:
            build.store_attribute(obj, "__cause__", body.cause)
        if body.context is not NONE:
            build.store_attribute(obj, "__context__", body.context)
        if body.suppress is not FALSE:
            build.store_attribute(obj, "__suppress_context__", body.suppress)
