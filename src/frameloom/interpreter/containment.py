"""Containment: `item in container`."""

from __future__ import annotations

import operator

from frameloom.interpreter.frame import Link
from frameloom.interpreter.iteration import iterate, next_item
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import _call_slot, equal, is_graph, truth
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import SymbolicRaise
from frameloom.symbolic.values import ABSENT, FALSE, TRUE, Const, Value


def contains(m: Machine, container: Value, item: Value, link: Link | None = None) -> Value:
    """`item in container`."""
    if type(container) is Const and type(item) is Const:
        return m.fold(operator.contains, container.value, item.value)
    if is_graph(container):
        found = m.domain.operator(m.session, "in", [container, item])
        if found is not NOT_HANDLED:
            return found
    slot = m.observe.type_lookup(container.cls, "__contains__")
    if type(slot) is Const and slot.value is None:
        raise m.error(TypeError, f"'{type_name(container.cls)}' object is not a container")
    if slot is not ABSENT:
        return truth(m, _call_slot(m, slot, container, [item], link))
    try:
        iterator = iterate(m, container)
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, TypeError):
            raise
        raise m.error(TypeError, f"argument of type '{type_name(container.cls)}' is not iterable") from None
    while True:
        found = next_item(m, iterator)
        if found is None:
            return FALSE
        if equal(m, found, item):
            return TRUE
