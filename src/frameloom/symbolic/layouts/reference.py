"""Weak references."""

from __future__ import annotations

import weakref
from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.reading import Reading
from frameloom.symbolic.values import Obj, Value

REFERENT = Reading(lambda reference: weakref.ReferenceType.__call__(reference), "()")
"""What a reference refers to, or None.  The guard program hands it out to the entry, for it may die between two looks."""


class ReferenceBody:
    """`target`: the referent of a reference that the trace made."""

    __slots__ = ("target",)

    def __init__(self, target: Value) -> None:
        self.target = target


@register(weakref.ReferenceType)
class ReferenceLayout(Layout):
    """weakref.ref; real ones are read where they are called."""

    def children(self, obj: Obj) -> list:
        return [obj.body.target]

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.target]

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(weakref.ref, (obj.body.target,))
