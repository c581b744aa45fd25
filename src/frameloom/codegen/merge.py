"""Which logged writes can be left out, because nothing can observe that they were (DESIGN, section 7)."""

from __future__ import annotations

import collections
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
    writes = _OpenWrites()
    for operation in operations:
        location = location_of(operation)
        if location is None:
            writes.close(operation.target)
            kept.append(operation)
            continue
        index = writes.index_of(location)
        if index is not None and _goes_unnoticed(kept[index], operation):
            # The first write decides which of several equal keys stands in a dictionary.
            kept[index] = operation._replace(arguments=(*kept[index].arguments[:-1], operation.arguments[-1]))
        else:
            writes.open(location, len(kept))
            kept.append(operation)
    return [operation for operation, alone in zip(kept, _alone(kept)) if not (alone and _writes_what_is_there(operation, guards))]


def location_of(operation: Operation) -> tuple | None:
    """What part of what object the operation writes; None where it is more than a plain write."""
    find = REPLAYS[operation.kind].location
    if find is None or operation.target is None:
        return None
    return (id(operation.target), operation.kind, find(*operation.arguments))


def place_of(operation: Operation) -> tuple | None:
    """The same for what takes away as for what writes: what stood at this place before stands there no more."""
    family, _, verb = operation.kind.partition(".")
    write = REPLAYS.get(f"{family}.set")
    if operation.target is None or write is None or write.location is None or (verb not in ("set", "delete") and operation.kind != "cell.clear"):
        return None
    arguments = operation.arguments if verb == "set" else (*operation.arguments, None)
    return (id(operation.target), family, write.location(*arguments))


class _OpenWrites:
    """The writes that a later one may replace: for each target, those of the kind that was written last, by location."""

    def __init__(self) -> None:
        self.targets: dict[int, tuple[str, dict[Any, int]]] = {}

    def index_of(self, location: tuple) -> int | None:
        target, kind, part = location
        opened = self.targets.get(target)
        return opened[1].get(part) if opened is not None and opened[0] == kind else None

    def open(self, location: tuple, index: int) -> None:
        """The write at `index` may be replaced; those of other kinds to the same target may no longer."""
        target, kind, part = location
        opened = self.targets.get(target)
        if opened is None or opened[0] != kind:
            opened = self.targets[target] = (kind, {})
        opened[1][part] = index

    def close(self, target: Any) -> None:
        """No write before this one can be replaced by one after it, where it touches the same object or is an effect."""
        if target is None:
            self.targets.clear()
        else:
            self.targets.pop(id(target), None)


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


def restored(added: list[Operation], before: list[Operation]) -> bool:
    """Whether plain writes leave every location as it was: as earlier ones made it, else with the object that was found there."""
    last = {location_of(operation): operation for operation in before}
    for location, operation in {location_of(operation): operation for operation in added}.items():
        step = _STEPS.get(operation.kind)
        if location is None or step is None:
            return False
        value = operation.arguments[-1]
        earlier = last.get(location)
        if earlier is not None:
            if value is not earlier.arguments[-1]:
                return False
            continue
        real = getattr(value, "real", None)
        if real is None or real.source is not operation.target.real.source.child(step, _key_of(operation, step)):
            return False
    return True


def _key_of(operation: Operation, step: str) -> Any:
    key = None if step == "contents" else operation.arguments[0]
    return key.value if type(key) is Const else key


def _alone(operations: list[Operation]) -> list[bool]:
    """Of each operation, whether it is a plain write to a location that no other operation writes."""
    locations = [location_of(operation) for operation in operations]
    written = collections.Counter(locations)
    structural = {id(operation.target) for operation, location in zip(operations, locations) if location is None}
    return [
        location is not None and written[location] == 1 and id(operation.target) not in structural
        for operation, location in zip(operations, locations)
    ]


def _writes_what_is_there(operation: Operation, guards: dict) -> bool:
    """Whether a plain write stores the constant that the location is guarded to hold."""
    step = _STEPS.get(operation.kind)
    if step is None or type(operation.arguments[-1]) is not Const:
        return False
    key = _key_of(operation, step)
    if isinstance(key, Value):
        return False
    guard = guards.get(("EQUAL", operation.target.real.source.child(step, key)))
    return guard is not None and same_constant(guard.payload, operation.arguments[-1].value)
