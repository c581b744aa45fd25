"""Objects of `super`."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import Obj, Value

PARTS = {name: super.__dict__[name] for name in ("__thisclass__", "__self__", "__self_class__")}


class SuperBody:
    """`super(start, self)`: `start` a class, `self` the object or class, `owner` the class whose MRO is walked."""

    __slots__ = ("start", "self", "owner")

    def __init__(self, start: Value, self_: Value, owner: Value) -> None:
        self.start = start
        self.self = self_
        self.owner = owner


@register(super)
class SuperLayout(Layout):
    """super, with an object."""

    def look(self, obj: Obj, session: Any) -> SuperBody:
        return SuperBody(*(session.observe.read(obj, "descriptor", part) for part in PARTS.values()))

    def children(self, obj: Obj) -> list:
        return self.needs_first(obj)

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.start, obj.body.self]

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(super, (obj.body.start, obj.body.self))
