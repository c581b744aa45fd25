"""Guards: the assumptions under which a captured frame may run again.

A guard is a check on what a source reads.  Each check is one row of `CHECKS`: the Python reference (`holds`) and its
explanation.  `compile/guard_program.py` lowers the same rows to the native program; property tests hold the two equal.
"""

from __future__ import annotations

import struct
import types
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Callable, NamedTuple

from frameloom.symbolic.ahead import ends_after, gives
from frameloom.symbolic.instance_dict import MISSING, class_item, instance_dict_item
from frameloom.symbolic.literals import literal
from frameloom.symbolic.mortal import may_die, weakly
from frameloom.symbolic.real import can_be_weak, flags_of, mro_of, stands_on
from frameloom.symbolic.source import Missing, Scope, Source


class Guard(NamedTuple):
    """`check` holds of what `source` reads, given `payload`; `where` is the user's instruction that needed it."""

    check: str
    source: Source
    payload: Any
    where: Any

    def holds(self, scope: Scope) -> bool:
        """Whether the guard holds for a call, by the Python reference."""
        row = CHECKS[self.check]
        try:
            return row.holds(self.source.read(scope), self.payload, scope)
        except Missing:  # the object, or one that it is compared with
            return False

    def __str__(self) -> str:
        return text_of(self)


def text_of(guard: Guard, name: Callable[[Source], str] = str) -> str:
    """A guard as a person reads it; `name` writes a source."""
    row = CHECKS[guard.check]
    return row.text(name(guard.source), guard.payload, *[name(other) for other in others_of(guard)])


def mortal_keys(guards: Iterable[Guard]) -> Iterator[Any]:
    """The objects that these guards find as keys or members of real containers, which keep them alive, and an entry need not."""
    for guard in guards:
        if guard.check in FIND_KEY and can_be_weak(guard.payload) and may_die(guard.payload):
            yield guard.payload
        elif guard.check in FIND_KEYS:
            yield from (key for key in guard.payload if may_die(key) and can_be_weak(key))


FIND_KEY = frozenset({"HAS_KEY", "MEMBER"})
FIND_KEYS = frozenset({"KEYS", "MEMBERS"})


def let_die(guard: Guard) -> Guard:
    """The guard as an entry keeps it: without ownership of objects of the program's."""
    held = weakly(guard.payload) if guard.check in NAMES_OBJECTS else None
    return guard if held is None else guard._replace(payload=held)


NAMES_OBJECTS = frozenset({"TYPE", "IS", "HAS_KEY", "NO_KEY", "MEMBER", "NOT_MEMBER", "KEYS", "MEMBERS"})
"""Checks whose payload is an object of the program's, or a tuple of such"""


def others_of(guard: Guard) -> tuple[Source, ...]:
    """The sources, besides its own, that a guard speaks of by the field `others` of its payload."""
    return guard.payload.others if CHECKS[guard.check].several else ()


class Check(NamedTuple):
    """holds(value, payload, scope) -> bool; text(source_text, payload) -> str.

    several: the payload has a field `others`, a tuple of other sources; `text` is given their texts too.
    """

    holds: Callable[[Any, Any, Scope], bool]
    text: Callable[..., str]
    several: bool = False


def same_constant(a: Any, b: Any) -> bool:
    """Whether two atoms are the same constant: exact type first, then value; floats by bit pattern with NaN one class."""
    if type(a) is not type(b):
        return False
    if type(a) is float:
        return a != a and b != b or struct.pack("d", a) == struct.pack("d", b)
    if type(a) is complex:
        return same_constant(a.real, b.real) and same_constant(a.imag, b.imag)
    if type(a) in (tuple, frozenset):
        return len(a) == len(b) and all(same_constant(x, y) for x, y in zip(a, b))
    return a is b or a == b


def _length(value: Any) -> int:
    for storage in (list, tuple, dict, set, frozenset):
        if stands_on(value, storage):
            return storage.__len__(value)
    raise TypeError(type(value).__name__)


def _same_keys(value: dict, keys: tuple) -> bool:
    if dict.__len__(value) != len(keys):
        return False
    return all(a is b or type(a) in PLAIN_KEYS and same_constant(a, b) for a, b in zip(ordered_keys(value), keys))


def ordered_keys(mapping: dict) -> Any:
    """The keys in the order of iteration, past the methods of a subclass: an OrderedDict has an order of its own."""
    return OrderedDict.__iter__(mapping) if stands_on(mapping, OrderedDict) else dict.__iter__(mapping)


PLAIN_KEYS = frozenset({str, int, float, bool, bytes, complex, type(None), tuple})


def _read_or_missing(source: Source, scope: Scope) -> Any:
    try:
        return source.read(scope)
    except Missing:
        return MISSING


def _distinct(value: Any, others: tuple, scope: Scope) -> bool:
    seen = {id(value)}
    for other in others:
        found = _read_or_missing(other, scope)
        if found is MISSING or id(found) in seen:
            return False
        seen.add(id(found))
    return True


def _type_attribute_absent(cls: type, name: str) -> bool:
    return class_item(cls, name) is MISSING


def class_order(cls: type) -> tuple:
    """The classes along which a class looks attributes up: static ones themselves, others by weak references."""
    return tuple(weakref.ref(base) if flags_of(base) & HEAP_TYPE else base for base in mro_of(cls))


HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that is not static, so that it can change and die


def _class_named(entry: Any) -> str:
    cls = entry() if type(entry) is weakref.ref else entry
    return "a class that is gone" if cls is None else QUALNAME.__get__(cls)


def _short(value: Any) -> str:
    if stands_on(value, type):
        return QUALNAME.__get__(value)
    if type(value) in PLAIN_KEYS:
        text = literal(value)
        return text if len(text) <= 60 else text[:57] + "..."
    if stands_on(value, types.FunctionType, types.BuiltinFunctionType):
        return value.__qualname__
    return QUALNAME.__get__(type(value))


QUALNAME = type.__dict__["__qualname__"]


CHECKS: dict[str, Check] = {
    "TYPE": Check(lambda v, cls, s: type(v) is cls, lambda t, cls: f"type({t}) is {_short(cls)}"),
    "IS": Check(lambda v, other, s: v is other, lambda t, other: f"{t} is {_short(other)}"),
    "EQUAL": Check(lambda v, other, s: same_constant(v, other), lambda t, other: f"{t} == {_short(other)}"),
    "SAME": Check(lambda v, other, s: v is _read_or_missing(other, s), lambda t, other: f"{t} is {other}"),
    "DISTINCT": Check(_distinct, lambda t, others: f"{t} is none of {', '.join(map(str, others))}, nor are they one another"),
    "LENGTH": Check(lambda v, n, s: _length(v) == n, lambda t, n: f"len({t}) == {n}"),
    "LENGTH_AT_LEAST": Check(lambda v, n, s: _length(v) >= n, lambda t, n: f"len({t}) >= {n}"),
    "KEYS": Check(lambda v, keys, s: _same_keys(v, keys), lambda t, keys: f"list({t}) == [{', '.join(map(_short, keys))}]"),
    "HAS_KEY": Check(lambda v, key, s: dict.__contains__(v, key), lambda t, key: f"{_short(key)} in {t}"),
    "NO_KEY": Check(lambda v, key, s: not dict.__contains__(v, key), lambda t, key: f"{_short(key)} not in {t}"),
    "MEMBER": Check(lambda v, key, s: _set(v).__contains__(v, key), lambda t, key: f"{_short(key)} in {t}"),
    "NOT_MEMBER": Check(lambda v, key, s: not _set(v).__contains__(v, key), lambda t, key: f"{_short(key)} not in {t}"),
    "MEMBERS": Check(lambda v, keys, s: _same_members(v, keys), lambda t, keys: f"{t} has just {len(keys)} members"),
    "NO_ATTRIBUTE": Check(
        lambda v, name, s: instance_dict_item(v, name) is MISSING, lambda t, name: f"{name!r} not in {t}.__dict__"
    ),
    "NO_TYPE_ATTRIBUTE": Check(
        lambda v, name, s: _type_attribute_absent(v, name), lambda t, name: f"no {name!r} along the classes of {t}"
    ),
    # The payload is what `class_order` makes: a guard must not keep classes of the program alive.
    "ORDER": Check(
        lambda v, order, s: class_order(v) == order, lambda t, order: f"{t}.__mro__ is {', '.join(map(_class_named, order))}"
    ),
    # The payload is (mask, flags).
    "FLAGS": Check(lambda v, flags, s: flags_of(v) & flags[0] == flags[1], lambda t, flags: f"{t}.__flags__ & {flags[0]:#x} == {flags[1]:#x}"),
    "EMPTY_CELL": Check(lambda v, _, s: _is_empty(v), lambda t, _: f"{t} is empty"),
    # How many items an iterator over a built-in container has left: so many at least, or just so many.
    "GIVES": Check(lambda v, n, s: gives(v, n), lambda t, n: f"{t} gives {n} more at least"),
    "ENDS": Check(lambda v, n, s: ends_after(v, n), lambda t, n: f"{t} ends after {n} more"),
    # A check of the domain: payload is (callable, argument, text with {} where the source is named).
    "CALL": Check(lambda v, payload, s: payload[0](v, payload[1]), lambda t, payload: payload[2].replace("{}", t, 1)),
}


def _set(value: Any) -> type:
    return frozenset if stands_on(value, frozenset) else set


def _same_members(value: Any, keys: tuple) -> bool:
    """Whether iteration over the real storage gives just these keys, in this order: a set's order is visible."""
    storage = _set(value)
    if storage.__len__(value) != len(keys):
        return False
    return all(a is b or type(a) in PLAIN_KEYS and same_constant(a, b) for a, b in zip(storage.__iter__(value), keys))


def _is_empty(cell: Any) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return True
    return False
