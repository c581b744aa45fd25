"""Slices whose bounds are not all constants."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import Obj, Value


class SliceBody:
    """start, stop and step as Values."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Value, Value, Value]) -> None:
        self.parts = parts


@register(slice)
class SliceLayout(Layout):
    """slice objects."""

    def look(self, obj: Obj, session: Any) -> SliceBody:
        members = (slice.__dict__[name] for name in ("start", "stop", "step"))
        return SliceBody(tuple(session.observe.read(obj, "descriptor", member) for member in members))

    def children(self, obj: Obj) -> list:
        return list(obj.body.parts)

    def needs_first(self, obj: Obj) -> list:
        return list(obj.body.parts)

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(slice, obj.body.parts)
