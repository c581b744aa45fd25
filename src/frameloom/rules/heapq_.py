"""The module heapq: the host's own algorithm, run on stand-ins whose `<` is the traced one."""

from __future__ import annotations

import heapq
from typing import Any, Callable

from frameloom.interpreter.machine import Machine
from frameloom.rules.define import function
from frameloom.rules.list_ import store_all
from frameloom.rules.sorting import StandIn
from frameloom.symbolic.layouts import list_
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.values import NONE, Obj, Value


def heap_of(m: Machine, heap: Value) -> list[StandIn]:
    """Stand-ins for the items of a heap."""
    if not (type(heap) is Obj and isinstance(heap.body, ListBody)):
        raise m.error(TypeError, f"heap argument must be a list, not {type_name(heap.cls)}")
    return [StandIn(m, value, value) for value in list_.items(m.session, heap.body)]


def _heap_function(name: str) -> None:
    target: Callable = getattr(heapq, name)

    @function(target)
    def operate(m: Machine, heap: Value, /, *items: Value) -> Any:
        if len(items) != TAKES[name]:
            return NotImplemented
        stand_ins = heap_of(m, heap)
        if name in NEED_ITEMS and not stand_ins:
            raise m.error(IndexError, "index out of range")
        try:
            found = target(stand_ins, *(StandIn(m, item, item) for item in items))
        finally:
            store_all(m, heap, [stand_in.item for stand_in in stand_ins])
        return NONE if found is None else found.item


TAKES = {
    "heapify": 0,
    "heappop": 0,
    "heappush": 1,
    "heappushpop": 1,
    "heapreplace": 1,
    "_heapify_max": 0,
    "_heappop_max": 0,
    "_heapreplace_max": 1,
}
"""function -> how many arguments it takes beside the heap"""

NEED_ITEMS = frozenset({"heappop", "heapreplace", "_heappop_max", "_heapreplace_max"})

for _name in TAKES:
    if hasattr(heapq, _name):
        _heap_function(_name)
