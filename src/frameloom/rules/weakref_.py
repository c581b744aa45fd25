"""Weak references: one that exists gives its referent; making one is left to running code."""

from __future__ import annotations

import weakref

from frameloom.interpreter.calls import CALLERS
from frameloom.interpreter.frame import Link
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse
from frameloom.rules.define import methods
from frameloom.symbolic.reading import Reading
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Obj, Value

REFERENT = Reading(lambda reference: weakref.ReferenceType.__call__(reference), "()")


def call_reference(m: Machine, reference: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """The referent, or None where it is dead."""
    if args or kwargs:
        raise m.error(TypeError, f"__call__() takes 0 arguments but {len(args) + len(kwargs)} were given")
    if type(reference) is not Obj or reference.real is None:
        raise GraphBreak("FL113", "a weak reference made in the trace")
    return m.observe.read(reference, "descriptor", REFERENT)


CALLERS[weakref.ReferenceType] = call_reference


@methods(weakref.ReferenceType, "__call__")
def call(m: Machine, reference: Value, /, *args: Value, **kwargs: Value) -> Value:
    return call_reference(m, reference, list(args), kwargs, None)


refuse("FL113", "a weak reference is made", weakref.ref, weakref.ReferenceType.__new__, weakref.proxy)
refuse("FL113", "weak references are counted", weakref.getweakrefcount, weakref.getweakrefs)
