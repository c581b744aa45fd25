"""Which logged writes can be left out, because nothing can observe that they were (DESIGN, section 7)."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.graph import Operation
from frameloom.symbolic.guards import same_constant
from frameloom.symbolic.layouts import REPLAYS
from frameloom.symbolic.values import Const, Node, Value


def merged(operations: list[Operation], guards: dict) -> list[Operation]:
    """The operations without those that later ones hide.

    Two writes of one location become one, at the place of the first (so that a dictionary's order is kept) with the value of
    the last, if between them stand only writes of other locations, which nobody sees happen, and if the value in between can
    go unnoticed.  A write of the value that a guard says is there already is left out.
    """
    kept: list[Operation] = []
    open_: dict[Any, int] = {}  # location -> index in `kept` of the write that a later one may replace
    for operation in operations:
        location = location_of(operation)
        if location is None:
            _close(open_, operation)
            kept.append(operation)
            continue
        index = open_.get(location)
        if index is not None and _goes_unnoticed(kept[index], operation):
            # The first write decides which of several equal keys stands in a dictionary.
            kept[index] = operation._replace(arguments=(*kept[index].arguments[:-1], operation.arguments[-1]))
        else:
            _close_of_other_kind(open_, location)
            open_[location] = len(kept)
            kept.append(operation)
    return [operation for operation in kept if not _writes_what_is_there(operation, kept, guards)]


def location_of(operation: Operation) -> tuple | None:
    """What part of what object the operation writes; None where it is more than a plain write."""
    find = REPLAYS[operation.kind].location
    if find is None or operation.target is None:
        return None
    return (id(operation.target), operation.kind, find(*operation.arguments))


def _close(open_: dict, operation: Operation) -> None:
    """No write before `operation` can be replaced by one after it, where it touches the same object or is an effect."""
    if operation.target is None:
        open_.clear()
        return
    for location in [location for location in open_ if location[0] == id(operation.target)]:
        del open_[location]


def _close_of_other_kind(open_: dict, new: tuple) -> None:
    for location in [location for location in open_ if location[0] == new[0] and location[1] != new[1]]:
        del open_[location]


def _goes_unnoticed(earlier: Operation, later: Operation) -> bool:
    """Whether the values of the earlier write can die without anybody noticing: atoms, or kept by the later write."""
    kept = {id(value) for value in _flat(later.arguments)}
    return all(type(value) in (Const, Node) or id(value) in kept for value in _flat(earlier.arguments))


def _flat(arguments: tuple) -> list[Value]:
    found: list[Value] = []
    for argument in arguments:
        if isinstance(argument, Value):
            found.append(argument)
        elif isinstance(argument, (list, tuple)):
            found += _flat(tuple(argument))
    return found


_STEPS = {"attribute.set": "attribute", "dict.set": "dict_item", "cell.set": "contents"}


def _writes_what_is_there(operation: Operation, all_: list[Operation], guards: dict) -> bool:
    """Whether a plain write stores the constant that the location is guarded to hold, and nothing else writes there."""
    step = _STEPS.get(operation.kind)
    if step is None or type(operation.arguments[-1]) is not Const:
        return False
    others = [other for other in all_ if other is not operation and other.target is operation.target]
    if any(_is_structural(other) or location_of(other) == location_of(operation) for other in others):
        return False
    key = None if step == "contents" else operation.arguments[0]
    key = key.value if type(key) is Const else key
    if isinstance(key, Value):
        return False
    guard = guards.get(("EQUAL", operation.target.real.source.child(step, key)))
    return guard is not None and same_constant(guard.payload, operation.arguments[-1].value)


def _is_structural(operation: Operation) -> bool:
    return REPLAYS[operation.kind].location is None
