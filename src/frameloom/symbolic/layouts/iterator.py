"""Iterators over built-in containers: what they iterate and how far they are."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.layouts.base import Layout, register, replay
from frameloom.symbolic.values import Const, Obj, Value


class SequenceIterator:
    """`over`: the sequence (Value, None once exhausted), `index`: the next position."""

    __slots__ = ("over", "index")

    def __init__(self, over: Value | None, index: int) -> None:
        self.over = over
        self.index = index


class ItemsIterator:
    """An iterator over a snapshot of values (views of dictionaries, sets): `items`, `index`, and the container it came from
    with its size then, since a change of size while iterating is an error."""

    __slots__ = ("items", "index", "container", "size")

    def __init__(self, items: list[Value] | None, index: int, container: Value | None, size: int) -> None:
        self.items = items
        self.index = index
        self.container = container
        self.size = size


class LazyIterator:
    """map, filter, zip, enumerate, itertools: the parts of the C object, by name."""

    __slots__ = ("function", "iterators", "count", "extra")

    def __init__(self, function: Value | None, iterators: list[Value], count: Value | None = None, extra: Any = None) -> None:
        self.function = function
        self.iterators = iterators
        self.count = count
        self.extra = extra


class ViewBody:
    """keys(), values(), items() of a dictionary."""

    __slots__ = ("mapping",)

    def __init__(self, mapping: Value) -> None:
        self.mapping = mapping


LIST_ITERATOR = type(iter([]))
TUPLE_ITERATOR = type(iter(()))
RANGE_ITERATOR = type(iter(range(0)))
STR_ITERATOR = type(iter("é"))
STR_ASCII_ITERATOR = type(iter("a"))
BYTES_ITERATOR = type(iter(b""))
REVERSED_LIST = type(reversed([]))
SEQUENCE_ITERATOR = type(iter(type("Sequence", (), {"__getitem__": lambda self, i: i})()))
KEY_ITERATOR = type(iter({}))
VALUE_ITERATOR = type(iter({}.values()))
ITEM_ITERATOR = type(iter({}.items()))
SET_ITERATOR = type(iter(set()))
CALLABLE_ITERATOR = type(iter(int, 1))
KEYS, VALUES, ITEMS = type({}.keys()), type({}.values()), type({}.items())

SEQUENCE_ITERATORS = frozenset(
    {LIST_ITERATOR, TUPLE_ITERATOR, RANGE_ITERATOR, STR_ITERATOR, STR_ASCII_ITERATOR, BYTES_ITERATOR}
)
PEEKED = SEQUENCE_ITERATORS | {KEY_ITERATOR, enumerate}


class Foreign:
    """A real iterator whose position the trace does not know."""

    __slots__ = ()


FOREIGN = Foreign()


@register(LIST_ITERATOR, TUPLE_ITERATOR, RANGE_ITERATOR, STR_ITERATOR, STR_ASCII_ITERATOR, BYTES_ITERATOR)
class SequenceIteratorLayout(Layout):
    """Iterators over a list, tuple, range, str or bytes."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def children(self, obj: Obj) -> list:
        return [] if obj.body.over is None else [obj.body.over]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        body = obj.body
        build.call_values(iterator_at, (Const(obj.cls), Const(None) if body.over is None else body.over, Const(body.index)))


def iterator_at(cls: type, over: Any, index: int) -> Any:
    """An iterator of a built-in sequence that stands at `index`; called by compiled code."""
    if over is None:
        exhausted = iter(_EMPTY[cls])
        for _ in exhausted:
            pass
        return exhausted
    made = _ITER[cls](over)
    if index:
        made.__setstate__(index)
    return made


_EMPTY = {
    LIST_ITERATOR: [],
    TUPLE_ITERATOR: (),
    RANGE_ITERATOR: range(0),
    STR_ITERATOR: "é",
    STR_ASCII_ITERATOR: "a",
    BYTES_ITERATOR: b"",
}
_ITER = {
    LIST_ITERATOR: list.__iter__,
    TUPLE_ITERATOR: tuple.__iter__,
    RANGE_ITERATOR: range.__iter__,
    STR_ITERATOR: str.__iter__,
    STR_ASCII_ITERATOR: str.__iter__,
    BYTES_ITERATOR: bytes.__iter__,
}


@register(KEY_ITERATOR, VALUE_ITERATOR, ITEM_ITERATOR, SET_ITERATOR, REVERSED_LIST, CALLABLE_ITERATOR, SEQUENCE_ITERATOR)
class ItemsIteratorLayout(Layout):
    """Iterators over views and sets, and others that are met by their class alone."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def children(self, obj: Obj) -> list:
        body = obj.body
        return list(body.items[body.index:]) if body.items is not None else []

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.container]

    def create(self, obj: Obj, build: Any) -> None:
        body = obj.body
        build.call_values(advanced, (Const(VIEW_OF[obj.cls]), body.container, Const(body.index)))


def advanced(make: Any, container: Any, count: int) -> Any:
    """A new iterator over a container, advanced by `count`; called by compiled code."""
    made = iter(make(container))
    for _ in range(count):
        next(made)
    return made


VIEW_OF = {
    KEY_ITERATOR: dict.keys,
    VALUE_ITERATOR: dict.values,
    ITEM_ITERATOR: dict.items,
    SET_ITERATOR: set.__iter__,
    REVERSED_LIST: list.__reversed__,
}


@register(KEYS, VALUES, ITEMS)
class ViewLayout(Layout):
    """Views of a dictionary."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def children(self, obj: Obj) -> list:
        return [obj.body.mapping]

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.mapping]

    def create(self, obj: Obj, build: Any) -> None:
        make = {KEYS: dict.keys, VALUES: dict.values, ITEMS: dict.items}[obj.cls]
        build.call_values(make, (obj.body.mapping,))


@register(map, filter, zip, enumerate)
class LazyIteratorLayout(Layout):
    """map, filter, zip and enumerate: rebuilt as the real type over the remaining iterators."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def children(self, obj: Obj) -> list:
        body = obj.body
        return [part for part in (body.function, body.count, *body.iterators) if part is not None]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        body = obj.body
        if obj.cls is enumerate:
            build.call_values(enumerate, (body.iterators[0], body.count))
        elif obj.cls is zip:
            build.call_values(make_zip, (Const(bool(body.extra)), *body.iterators))
        else:
            build.call_values(obj.cls, (body.function, *body.iterators))


def advance(iterator: Any, count: int) -> None:
    """Take `count` items from an iterator; called by compiled code."""
    for _ in range(count):
        next(iterator)


@replay("iterator.advance")
def _replay_advance(build: Any, target: Obj, count: int) -> None:
    build.call_effect(advance, target, Const(count))


def make_zip(strict: bool, *iterators: Any) -> zip:
    """A zip over iterators; called by compiled code."""
    return zip(*iterators, strict=strict)
