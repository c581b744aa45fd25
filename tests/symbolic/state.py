"""Pictures of everything that a trace knows, by which two moments of a trace, or two traces, are compared.

Real objects count by identity, sources by their text, values and their parts by what is in them and by who is who.
"""
from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NamedTuple

from frameloom.bytecode.program import Program
from frameloom.interpreter.frame import Frame
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.journal import Journal
from frameloom.symbolic.made import STAND_INS
from frameloom.symbolic.observe import Observer
from frameloom.symbolic.real import mro_of, namespace_of
from frameloom.symbolic.session import Session
from frameloom.symbolic.source import Source, Sources

ATOMS = (type(None), bool, int, float, complex, str, bytes, type(...), range, slice)
ROOMS = ("frameloom", "tests.toy")
LEFT_OUT = {
    # The journal itself, what only counts, what sources remember of paths, and the frames of the host's stack.
    Session: {"journal", "sources", "frame", "instructions", "most_instructions", "deepest", "domain"},
    # What is to be let go in the end, taken back or not.
    Observer: {"lent", "made_ever"},
    # How a running frame is linked to the host's stack, set anew each time it runs, and what it gave last, read at once.
    Frame: {"session", "mark", "parent", "called_from", "origins", "link", "result"},
}
"""class -> fields that are no state of the trace"""


class Picture(NamedTuple):
    """`shown` compares by value; `met` has the objects with identity in the order of the walk."""

    shown: Any
    met: list

    def difference(self, other: Picture, identities: bool = True) -> str | None:
        """Where the two first differ, as a path, or None; `identities`: their objects must be the very same ones."""
        found = difference(self.shown, other.shown)
        if found is None and identities and list(map(id, self.met)) != list(map(id, other.met)):
            return next(f"not the same {one!r}" for one, two in zip(self.met, other.met) if one is not two)
        return found


def difference(one: Any, other: Any, path: str = "") -> str | None:
    """Where two pictures first differ."""
    if type(one) is type(other) and isinstance(one, (list, tuple)):
        for number, (left, right) in enumerate(zip(one, other)):
            found = difference(left, right, f"{path}/{left[0] if _named(left) else number}")
            if found is not None:
                return found
        if len(one) != len(other):
            return f"{path}: {len(one)} and {len(other)} items, {str((one + other)[-1])[:200]}"
        return None
    return None if one == other else f"{path}: {one!r} and {other!r}"


def _named(shown: Any) -> bool:
    return type(shown) is tuple and len(shown) == 2 and type(shown[0]) is str


def picture(*things: Any) -> Picture:
    """A picture of what can be reached from the things."""
    met: dict[int, tuple[int, Any]] = {}
    shown = [_shown(thing, met) for thing in things]
    return Picture(shown, [thing for _, thing in met.values()])


def _shown(value: Any, met: dict) -> Any:
    cls = type(value)
    if cls in ATOMS:
        return (cls.__name__, repr(value))
    draw = DRAWN.get(cls)
    if draw is not None:
        return draw(value, met)
    if isinstance(value, tuple):
        return (cls.__name__, [_shown(item, met) for item in value])
    if cls in LEFT_WHOLE or isinstance(value, Domain):
        return cls.__name__
    if id(value) in STAND_INS:
        return _stand_in(value, met)
    if cls in MEMBERS and id(value.__objclass__) in STAND_INS:
        return (cls.__name__, value.__name__, _stand_in(value.__objclass__, met))
    if not cls.__module__.startswith(ROOMS) or isinstance(value, type):
        return ("real", id(value))
    if id(value) in met:
        return ("again", met[id(value)][0])
    met[id(value)] = (len(met), value)
    return (cls.__name__, [(name, _shown(found, met)) for name, found in fields(value)])


def _stand_in(cls: type, met: dict) -> Any:
    """The stand-in of a class that the trace has made, which is another one in each trace."""
    if id(cls) in met:
        return ("again", met[id(cls)][0])
    met[id(cls)] = (len(met), cls)
    namespace = {name: found for name, found in sorted(namespace_of(cls).items()) if name not in MADE_BY_C}
    return ("stand-in", cls.__qualname__, _shown(mro_of(cls)[1:], met), _shown(namespace, met))


MEMBERS = (types.MemberDescriptorType, types.GetSetDescriptorType)
MADE_BY_C = ("__dict__", "__weakref__")


def fields(value: Any) -> list[tuple[str, Any]]:
    """The state of an object of this package, by name."""
    left_out = LEFT_OUT.get(type(value), ())
    slots = [slot for cls in reversed(type(value).__mro__) for slot in vars(cls).values() if type(slot) is types.MemberDescriptorType]
    found = [(slot.__name__, slot.__get__(value)) for slot in slots if _is_full(slot, value)]
    return [(name, part) for name, part in [*found, *getattr(value, "__dict__", {}).items()] if name not in left_out]


def _is_full(slot: Any, value: Any) -> bool:
    try:
        slot.__get__(value)
    except AttributeError:
        return False
    return True


def _items(value: Any, met: dict) -> list:
    return [_shown(item, met) for item in value]


DRAWN: dict[type, Callable[[Any, dict], Any]] = {
    list: _items,
    tuple: _items,
    dict: lambda value, met: [(_key(key, met), _shown(item, met)) for key, item in value.items()],
    set: lambda value, met: ("set", sorted(map(str, (_key(key, met) for key in value)))),
    frozenset: lambda value, met: ("set", sorted(map(str, (_key(key, met) for key in value)))),
    Source: lambda value, met: str(value),
    Program: lambda value, met: ("real", id(value)),
    types.MethodType: lambda value, met: (_shown(value.__func__, met), _shown(value.__self__, met)),
}
LEFT_WHOLE = {Journal, Sources}


def _key(key: Any, met: dict) -> Any:
    """A key of a table: numbers are identities there, of objects that the walk may have met."""
    if type(key) is int and key in met:
        return ("again", met[key][0])
    if type(key) is int and key in STAND_INS:
        return _stand_in(STAND_INS[key].body.stand_in, met)
    return _shown(key, met)
