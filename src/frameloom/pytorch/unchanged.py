"""Whether objects that a trace made before some point are still as they were then."""

from __future__ import annotations

import types
from typing import Any

from frameloom.codegen.build import held_by, held_by_attributes
from frameloom.symbolic.values import Node, Obj, Value

SUSPENDED = frozenset({types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType})


class Unchanged:
    """The fresh objects that some values reach, and what they hold now.  `suspended` is a generator among them, of which that is
    not told."""

    def __init__(self, roots: list[Any]) -> None:
        self.kept: dict[int, tuple[Value, tuple]] = {}
        self.suspended: Value | None = None
        pending = [*roots]
        while pending:
            value = pending.pop()
            if type(value) in (list, tuple):
                pending.extend(value)
            elif isinstance(value, Value) and id(value) not in self.kept:
                pending.extend(self._keep(value))

    def _keep(self, value: Value) -> list[Value]:
        if type(value) is Node and value.attributes is not None:
            self.kept[id(value)] = (value, state_of(value))
            return held_by_attributes(value.attributes)
        if type(value) is not Obj or value.real is not None:
            return []
        if value.cls in SUSPENDED:
            self.suspended = value
        self.kept[id(value)] = (value, state_of(value))
        return held_by(value)

    def changed(self) -> Value | None:
        """The first object that is not as it was, or None."""
        return next((value for value, before in self.kept.values() if not same(state_of(value), before)), None)


def state_of(value: Any) -> tuple:
    """What an object of the heap holds, level by level."""
    parts = [value.attributes, *([value.body, value.slots] if type(value) is Obj else [])]
    return tuple([_inside(part, 3) for part in parts])


def _inside(part: Any, levels: int) -> Any:
    if type(part) in (list, tuple):
        return tuple([_inside(item, levels) for item in part])
    if type(part) is dict:
        return tuple([(key, _inside(item, levels)) for key, item in part.items()])
    if isinstance(part, Value) or levels == 0 or not type(part).__module__.startswith("frameloom.symbolic.layouts"):
        return part
    return type(part), tuple([_inside(getattr(part, name, None), levels - 1) for name in _fields(part)])


def _fields(part: Any) -> list[str]:
    slots = [name for cls in type(part).__mro__ for name in vars(cls).get("__slots__", ())]
    return slots + sorted(getattr(part, "__dict__", ()))


def same(one: Any, other: Any) -> bool:
    """Whether two states hold the very same objects."""
    if type(one) is tuple and type(other) is tuple:
        return len(one) == len(other) and all(map(same, one, other))
    return one is other or type(one) is type(other) and type(one) in (int, str, bool, type(None)) and one == other
