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

FROM_GETTER = "text of the getter"
"""Body of a property that has its text from its getter: copies of it ask their own getters (`property.getter`)"""


@register(*PARTS)
class DescriptorLayout(Layout):
    """property, staticmethod, classmethod."""

    creates = frozenset(part for parts in PARTS.values() for part in parts)

    def needs_first(self, obj: Obj) -> list:
        return [obj.slots.get(part, NONE) for part in PARTS[obj.cls]]

    def whole_first(self, obj: Obj) -> list:
        return self.needs_first(obj)[:1] if obj.body == FROM_GETTER else []

    def create(self, obj: Obj, build: Any) -> None:
        parts = self.needs_first(obj)
        build.call_values(obj.cls, parts[:3] if obj.body == FROM_GETTER else parts)

    def fill(self, obj: Obj, build: Any) -> None:
        if obj.body == FROM_GETTER:
            build.set_descriptor(PARTS[property][3], obj, obj.slots[PARTS[property][3]])
