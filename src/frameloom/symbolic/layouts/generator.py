"""Generators that the trace made: a suspended frame of the interpreter."""

from __future__ import annotations

import types
from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.layouts.iterator import FOREIGN
from frameloom.symbolic.values import Marker, Obj, Value


class GeneratorBody:
    """`frame`: the interpreter's frame; `state`: "created", "suspended", "running" or "closed"; `function`: who made it;
    `handled`: the exception that the suspended frame handles, or None."""

    __slots__ = ("frame", "state", "function", "handled")

    def __init__(self, frame: Any, function: Obj) -> None:
        self.frame = frame
        self.state = "created"
        self.function = function
        self.handled: Value | None = None


@register(types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
class GeneratorLayout(Layout):
    """Generators; a fresh one is rebuilt by `codegen.generators`."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def children(self, obj: Obj) -> list:
        body = obj.body
        if body.state == "closed":
            return [body.function]
        frame = body.frame
        handled = [] if body.handled is None else [body.handled]
        return [body.function, *handled, *(value for value in (*frame.slots, *frame.stack) if not isinstance(value, Marker))]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        build.create_generator(obj)
