"""Weak references: one that exists gives its referent; making one is left to running code."""

from __future__ import annotations

import weakref

from frameloom.interpreter.calls import CALLERS
from frameloom.interpreter.frame import Link
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse
from frameloom.rules.define import function, methods
from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.layouts.cell import CellBody
from frameloom.symbolic.layouts.reference import REFERENT, ReferenceBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Value

def call_reference(m: Machine, reference: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """The referent, or None where it is dead."""
    if args or kwargs:
        raise m.error(TypeError, f"__call__() takes 0 arguments but {len(args) + len(kwargs)} were given")
    if isinstance(reference.body, ReferenceBody):
        return reference.body.target
    found = m.observe.read(reference, "descriptor", REFERENT)
    if found.cls is not type(None) and not (_is_held(m, found) or _is_reached(m, found) or _keeps_all(m)):
        raise GraphBreak("FL113", "a weak reference is asked when the trace has let objects go that may have held its referent")
    return found


ADDS = frozenset({"list.append", "set.add"})
"""Operations on real objects that let nothing go."""


def _is_held(m: Machine, found: Value) -> bool:
    """Whether a variable or the value stack of a running frame holds an object."""
    frame = m.session.frame
    while frame is not None:
        if any(value is found for value in (*frame.slots, *frame.stack)):
            return True
        frame = frame.parent
    return False


def _is_reached(m: Machine, found: Value) -> bool:
    """Whether the trace had come to an object by another way, and has written to nothing on it: so it is held there still."""
    if type(found) is Const or found.real is None:
        return False
    source = found.real.source
    way = {source}
    while source.base is not None:
        if source.key is REFERENT:
            return False
        source = source.base
        way.add(source)
    written = (operation.target.real.source for operation in m.session.operations if operation.target is not None)
    return source.step in LASTING and way.isdisjoint(written)


LASTING = frozenset({"cell", "global", "const"})
"""Where a way begins that no local variable holds."""


def _keeps_all(m: Machine) -> bool:
    """Whether every real object lives that lived at the begin of the trace: what a trace lets go dies when its entry runs, while
    eager would have let it go by now."""
    session = m.session
    if any(operation.target is not None and operation.kind not in ADDS for operation in session.operations):
        return False
    root = session.frame
    while root.parent is not None:
        root = root.parent
    return all(_still_there(m, argument, slot) for argument, slot in zip(session.root_arguments, root.slots))


def _still_there(m: Machine, argument: Value, slot: Value) -> bool:
    if isinstance(getattr(slot, "body", None), CellBody) and slot.real is None:
        slot = slot.body.contents
    passed = m.observe.peek(argument)
    return type(passed) in ATOMS or type(passed) is tuple and not passed or m.observe.peek(slot) is passed


CALLERS[weakref.ReferenceType] = call_reference


@methods(weakref.ReferenceType, "__call__")
def call(m: Machine, reference: Value, /, *args: Value, **kwargs: Value) -> Value:
    return call_reference(m, reference, list(args), kwargs, None)


@function(weakref.ref)
def make(m: Machine, target: Value, callback: Value = NONE, /) -> Value:
    """A plain reference to a class is made, since it is one with all others and the class does not die while code names it."""
    if not issubclass(target.cls, type) or not (type(callback) is Const and callback.value is None):
        raise GraphBreak("FL113", f"a weak reference to an object of class {target.cls.__name__} is made")
    return m.session.alloc(weakref.ReferenceType, ReferenceBody(target))


refuse("FL113", "a weak reference is made", weakref.ReferenceType.__new__, weakref.proxy)
refuse("FL113", "weak references are counted", weakref.getweakrefcount, weakref.getweakrefs)
