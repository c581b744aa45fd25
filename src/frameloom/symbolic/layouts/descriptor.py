"""Properties, static methods and class methods: what they wrap is known by their member descriptors."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import NONE, Obj

PARTS: dict[type, tuple] = {
    property: tuple(property.__dict__[name] for name in ("fget", "fset", "fdel", "__doc__")),
    staticmethod: (staticmethod.__dict__["__func__"],),
    classmethod: (classmethod.__dict__["__func__"],),
}


@register(*PARTS)
class DescriptorLayout(Layout):
    """property, staticmethod, classmethod."""

    creates = frozenset(part for parts in PARTS.values() for part in parts)

    def needs_first(self, obj: Obj) -> list:
        return [obj.slots.get(part, NONE) for part in PARTS[obj.cls]]

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(obj.cls, self.needs_first(obj))
