"""Iterators over built-in containers: what they iterate and how far they are."""

from __future__ import annotations

import types
from collections import OrderedDict
from typing import Any, Callable, NamedTuple

from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.layouts.base import Layout, register, replay
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.source import STEPS, Missing
from frameloom.symbolic.values import Const, Obj, Value


class SequenceIterator:
    """`over`: the sequence (Value, None once exhausted), `index`: the next position."""

    __slots__ = ("over", "index")

    def __init__(self, over: Value | None, index: int) -> None:
        self.over = over
        self.index = index


class ItemsIterator:
    """An iterator over a dictionary or set: the handles it will give, how far it is, and the container (None once exhausted)
    with its size and its count of removals then, since it must not change while it is iterated."""

    __slots__ = ("handles", "index", "container", "size", "removals")

    def __init__(self, handles: list, container: Value | None, removals: int) -> None:
        self.handles = handles
        self.index = 0
        self.container = container
        self.size = len(handles)
        self.removals = removals


NEVER = -1
"""The size that an iterator waits for in vain, once it has met another one than it began with."""


def has_changed(body: ItemsIterator) -> bool:
    """Whether the container has lost or got entries since the iterator was made."""
    stored = body.container.body
    return len(stored.known) != body.size or not stored.full or stored.removals != body.removals


class LazyIterator:
    """map, filter, zip, enumerate, itertools: the parts of the C object, by name."""

    __slots__ = ("function", "iterators", "count", "extra")

    def __init__(self, function: Value | None, iterators: list[Value], count: Value | None = None, extra: Any = None) -> None:
        self.function = function
        self.iterators = iterators
        self.count = count
        self.extra = extra

    @property
    def inner(self) -> list[Iterated]:
        """The iterators, as what makes the C object anew takes them."""
        return [Iterated(iterator) for iterator in self.iterators]


class Iterated(NamedTuple):
    """An iterator of which C code asks an iterator, which is to be the iterator itself, unasked."""

    value: Value


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
LONG_RANGE_ITERATOR = type(iter(range(1 << 70)))
ORDERED_KEYS, ORDERED_VALUES, ORDERED_ITEMS = (
    type(view(OrderedDict())) for view in (OrderedDict.keys, OrderedDict.values, OrderedDict.items)
)
ORDERED_ITERATOR = type(iter(OrderedDict()))
VIEWS = {
    KEYS: dict.keys,
    VALUES: dict.values,
    ITEMS: dict.items,
    ORDERED_KEYS: OrderedDict.keys,
    ORDERED_VALUES: OrderedDict.values,
    ORDERED_ITEMS: OrderedDict.items,
}
"""class of view -> what makes it of a dictionary"""

VIEW_ITERATORS = {
    KEY_ITERATOR: dict.__iter__,
    VALUE_ITERATOR: lambda container: iter(dict.values(container)),
    ITEM_ITERATOR: lambda container: iter(dict.items(container)),
    type(reversed({})): dict.__reversed__,
    type(reversed({}.values())): lambda container: reversed(dict.values(container)),
    type(reversed({}.items())): lambda container: reversed(dict.items(container)),
    SET_ITERATOR: iter,
    ORDERED_ITERATOR: OrderedDict.__iter__,
}
"""class of iterator -> what makes one over a dictionary or set"""


class Foreign:
    """A real iterator whose position the trace does not know."""

    __slots__ = ()


FOREIGN = Foreign()


@register(
    LIST_ITERATOR,
    TUPLE_ITERATOR,
    RANGE_ITERATOR,
    LONG_RANGE_ITERATOR,
    STR_ITERATOR,
    STR_ASCII_ITERATOR,
    BYTES_ITERATOR,
    REVERSED_LIST,
    SEQUENCE_ITERATOR,
    reversed,
)
class SequenceIteratorLayout(Layout):
    """Iterators that hold a sequence and a position in it."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def is_bound(self, obj: Obj) -> bool:
        """One over a list cannot be put behind the end that the list has when the iterator is made, be that before or after the
        list is changed."""
        body = obj.body
        if obj.cls not in (LIST_ITERATOR, REVERSED_LIST) or body is FOREIGN or type(body.over) is not Obj:
            return False
        known = body.over.body
        if known.items is None:
            return False
        room = len(known.items) if known.real is None else min(len(known.items), list.__len__(known.real.object))
        return body.index > (room if obj.cls is LIST_ITERATOR else room - 1)

    def children(self, obj: Obj) -> list:
        return [] if obj.body.over is None else [obj.body.over]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def whole_inside(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(iterator_of, (Const(obj.cls), Const(None) if obj.body.over is None else obj.body.over))

    def fill(self, obj: Obj, build: Any) -> None:
        if obj.body.over is not None and (obj.body.index or obj.cls in REVERSED):
            build.call_effect(obj.cls.__setstate__, obj, Const(obj.body.index))


def iterator_of(cls: type, over: Any) -> Any:
    """A new iterator of class `cls` over a sequence, exhausted for None; called by compiled code."""
    if over is None:
        made = _ITER[cls](_EMPTY[cls])
        next(made, None)
        return made
    return _ITER[cls](over)


REVERSED = frozenset({REVERSED_LIST, reversed})


class _NoItems:
    """A sequence without items, by the old protocol."""

    def __getitem__(self, index: int) -> Any:
        raise IndexError(index)


_EMPTY = {
    LIST_ITERATOR: [],
    TUPLE_ITERATOR: (),
    RANGE_ITERATOR: range(0),
    LONG_RANGE_ITERATOR: range(1 << 70, 1 << 70),
    STR_ITERATOR: "é",
    STR_ASCII_ITERATOR: "",
    BYTES_ITERATOR: b"",
    REVERSED_LIST: [],
    SEQUENCE_ITERATOR: _NoItems(),
    reversed: (),
}
_ITER = {
    LIST_ITERATOR: list.__iter__,
    TUPLE_ITERATOR: tuple.__iter__,
    RANGE_ITERATOR: range.__iter__,
    LONG_RANGE_ITERATOR: range.__iter__,
    STR_ITERATOR: str.__iter__,
    STR_ASCII_ITERATOR: str.__iter__,
    BYTES_ITERATOR: bytes.__iter__,
    REVERSED_LIST: list.__reversed__,
    SEQUENCE_ITERATOR: iter,
    reversed: reversed,
}


# -- looking into real iterators --------------------------------------------------------------------------------------


def position_of(iterator: Any) -> int | None:
    """How far an iterator of a built-in sequence is in what it tells to iterate; None once it is exhausted."""
    _, _, *state = iterator.__reduce__()
    return state[0] or 0 if state else None


def left_of(iterator: Any) -> int | None:
    """How many entries an iterator over a dictionary or set has still to give; None once it is exhausted.  RuntimeError where
    the container was changed so that those are not simply its last ones."""
    left = len(iterator.__reduce__()[1][0])  # RuntimeError where the iterator itself would raise it
    if not left and not is_walking(iterator):
        return None
    if left != iterator.__length_hint__():
        raise RuntimeError("entries were replaced")
    return left


def stands_at(iterator: Any, position: int | None) -> bool:
    """Guard: whether an iterator of a built-in sequence is still as far as it was."""
    return position_of(iterator) == position


def is_walking(iterator: Any) -> bool:
    """Whether an iterator over a dictionary or set is not exhausted."""
    try:
        STEPS["walked"].read(iterator, None)
    except Missing:
        return False
    return True


def has_left(iterator: Any, left: int | None) -> bool:
    """Guard: whether an iterator over a dictionary or set has still as much to give as it had."""
    try:
        return left_of(iterator) == left
    except RuntimeError:
        return False


def look_into_enumerate(session: Any, obj: Obj) -> None:
    """Fill the body of a real enumerate: the iterator inside, and its next number, not looked at."""
    parts = session.observe.read(obj, "reduced").body
    session.journal.set_field(obj, "body", LazyIterator(None, [tuple_.item(session, parts, 0)], parts.items[1]))


def look_into_parts(session: Any, obj: Obj) -> None:
    """Fill the body of a real map, filter or zip: its function and the iterators inside."""
    parts = tuple_.items(session, session.observe.read(obj, "reduced").body)
    function = None if obj.cls is zip else parts[0]
    strict = obj.cls is zip and has_strictness(obj.real.object, True)
    if obj.cls is zip:
        session.guard("CALL", obj.real.source, (has_strictness, strict, f"{{}} is {'' if strict else 'not '}strict"))
    session.journal.set_field(obj, "body", LazyIterator(function, parts if function is None else parts[1:], None, strict))


def has_strictness(iterator: zip, strict: bool) -> bool:
    """Guard: whether a zip wants its iterators to end together, or not."""
    return (len(iterator.__reduce__()) > 2) is strict


def look_into(session: Any, obj: Obj) -> None:
    """Fill the body of a real iterator whose class tells by `__reduce__` what it iterates, and guard what was seen."""
    position = position_of(obj.real.object)
    session.guard("CALL", obj.real.source, (stands_at, position, f"{{}} stands at {position}"))
    over = None if position is None else tuple_.item(session, session.observe.read(obj, "reduced").body, 0)
    session.journal.set_field(obj, "body", SequenceIterator(over, position or 0))


def look_into_walk(session: Any, obj: Obj, handles_of: Callable[[Any, Obj], list]) -> None:
    """Fill the body of a real iterator over a dictionary or set, and guard what was seen; `handles_of(session, container)` are the
    handles in the order in which such an iterator gives them."""
    try:
        left = left_of(obj.real.object)
    except RuntimeError:
        raise GraphBreak("FL502", "an iterator over a container that has changed since") from None
    session.guard("CALL", obj.real.source, (has_left, left, f"{{}} has {left} to give"))
    body = ItemsIterator([], None, 0)
    if left is not None:
        container = session.observe.read(obj, "walked")
        if id(container) in session.written or id(getattr(container.body, "owner", None)) in session.written:
            raise GraphBreak("FL502", "an iterator over a container that was changed before")
        handles = handles_of(session, container)
        body = ItemsIterator(handles, container, container.body.removals)
        body.index = len(handles) - left
    session.journal.set_field(obj, "body", body)


@register(*VIEW_ITERATORS)
class ItemsIteratorLayout(Layout):
    """Iterators over dictionaries and sets: made anew over the container and advanced, exhausted where it is None."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def is_bound(self, obj: Obj) -> bool:
        return obj.body.container is not None and has_changed(obj.body)

    def children(self, obj: Obj) -> list:
        return [] if obj.body.container is None else [obj.body.container]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def whole_first(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        body = obj.body
        if body.container is None:
            build.call_values(exhausted, (Const(obj.cls),))
        else:
            make = ORDERED_MAKERS[body.view, body.backwards] if obj.cls is ORDERED_ITERATOR else VIEW_ITERATORS[obj.cls]
            build.call_values(advanced, (Const(make), body.container, Const(body.index)))


ORDERED_MAKERS = {
    (view, backwards): lambda mapping, walk=walk, look=look: walk(look(mapping))
    for view, look in ((KEYS, OrderedDict.keys), (VALUES, OrderedDict.values), (ITEMS, OrderedDict.items))
    for backwards, walk in ((False, iter), (True, reversed))
}
"""How an iterator of an OrderedDict is made: one class serves keys, values and pairs, in both directions"""


def advanced(make: Any, container: Any, count: int) -> Any:
    """The iterator that `make` gives of a container, advanced by `count`; called by compiled code."""
    made = make(container)
    for _ in range(count):
        next(made)
    return made


def exhausted(cls: type) -> Any:
    """An iterator over a container that has nothing left; called by compiled code."""
    made = VIEW_ITERATORS[cls](OrderedDict() if cls is ORDERED_ITERATOR else set() if cls is SET_ITERATOR else {})
    next(made, None)
    return made


@register(CALLABLE_ITERATOR)
class CallableIteratorLayout(Layout):
    """iter(function, sentinel): `function` is None once the sentinel came."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def children(self, obj: Obj) -> list:
        return [] if obj.body.function is None else [obj.body.function, obj.body.extra]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        if obj.body.function is None:
            build.call_values(exhausted_call, ())
        else:
            build.call_values(iter, (obj.body.function, obj.body.extra))


def exhausted_call() -> Any:
    """An iter(function, sentinel) that has met its sentinel; called by compiled code."""
    made = iter(int, 0)
    next(made, None)
    return made


@register(*VIEWS)
class ViewLayout(Layout):
    """Views of a dictionary."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def children(self, obj: Obj) -> list:
        return [obj.body.mapping]

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.mapping]

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(VIEWS[obj.cls], (obj.body.mapping,))


MAKERS: dict[type, Any] = {}
"""class of lazy iterator -> parts(body): (function called by compiled code, its arguments as Values), None where it cannot be"""


class LazyIteratorLayout(Layout):
    """map, zip, itertools and the like: made anew, as the real type, over the iterators that are left."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def is_bound(self, obj: Obj) -> bool:
        return MAKERS[obj.cls](obj.body) is None

    def children(self, obj: Obj) -> list:
        made = MAKERS[obj.cls](obj.body)
        return [] if made is None else [value for value in map(_plain, made[1]) if type(value) is not Const]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        function, values = MAKERS[obj.cls](obj.body)
        places = tuple([place for place, value in enumerate(values) if type(value) is Iterated and not _gives_itself(value.value.cls)])
        values = tuple(map(_plain, values))
        if places:
            function, values = make_over, (Const(function), Const(places), *values)
        build.call_values(function, values)


def _plain(value: Any) -> Value:
    return value.value if type(value) is Iterated else value


class Given:
    """Asked for an iterator it gives one that may itself have no `__iter__`, or one that is the program's and runs once only."""

    __slots__ = ("iterator",)

    def __init__(self, iterator: Any) -> None:
        self.iterator = iterator

    def __iter__(self) -> Any:
        return self.iterator


def make_over(function: Any, places: tuple[int, ...], *values: Any) -> Any:
    """`function(*values)`, without asking the iterators in these places for iterators; called by compiled code."""
    return function(*[Given(value) if place in places else value for place, value in enumerate(values)])


def rebuilds(*classes: type) -> Any:
    """Decorator: the function tells how iterators of these classes are made anew: parts(body) -> (function, Values), or None."""

    def add(parts: Any) -> Any:
        for cls in classes:
            MAKERS[cls] = parts
        return register(*classes)(LazyIteratorLayout) and parts

    return add


SELVES = frozenset({
    LIST_ITERATOR, TUPLE_ITERATOR, RANGE_ITERATOR, LONG_RANGE_ITERATOR, STR_ITERATOR, STR_ASCII_ITERATOR, BYTES_ITERATOR, REVERSED_LIST,
    SEQUENCE_ITERATOR, *VIEW_ITERATORS, types.GeneratorType,
})  # fmt: skip


def _gives_itself(cls: type) -> bool:
    """Whether C code asked for an iterator of one of this class gives that itself, and does nothing else."""
    return cls in SELVES or cls in MAKERS


@rebuilds(enumerate)
def _enumerate(body: LazyIterator) -> tuple:
    return enumerate, (body.inner[0], body.count)


@rebuilds(zip)
def _zip(body: LazyIterator) -> tuple:
    return make_zip, (Const(bool(body.extra)), *body.inner)


@rebuilds(map)
def _map(body: LazyIterator) -> tuple:
    return map, (body.function, *body.inner)


@rebuilds(filter)
def _filter(body: LazyIterator) -> tuple:
    return filter, (body.function, *body.inner)


def advance(iterator: Any, count: int) -> None:
    """Take `count` items from an iterator; called by compiled code."""
    for _ in range(count):
        next(iterator, None)


@replay("iterator.advance")
def _replay_advance(build: Any, target: Obj, count: int) -> None:
    build.call_effect(advance, target, Const(count))


def make_zip(strict: bool, *iterators: Any) -> zip:
    """A zip over iterators; called by compiled code."""
    return zip(*iterators, strict=strict)
