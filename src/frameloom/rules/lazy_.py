"""enumerate, zip, map and filter: kept as themselves, advanced when their items are asked for."""

from __future__ import annotations

from typing import Any, Callable

from frameloom.interpreter.iteration import PEEKS, adopt, iterate, next_item, next_unseen
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import binary, index, truth
from frameloom.interpreter.registry import RULES
from frameloom.rules.define import Signature
from frameloom.rules.iterator_ import OF_PARTS, TAKES, iterator_of
from frameloom.symbolic.layouts.iterator import FOREIGN, LazyIterator, look_into_parts
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Lazy, Obj, Value

ONE = Const(1)


def maker(cls: type, bound: bool = False) -> Callable:
    """Decorator: the function gives the body of a new iterator of this class.

    `bound`: in some states such an iterator cannot be made anew.
    """

    def add(make: Callable) -> Callable:
        takes = Signature(make).takes

        def made(m: Machine, *args: Value, **kwargs: Value) -> Any:
            if not takes(args, kwargs):
                return NotImplemented
            alloc = m.session.alloc_bound if bound else m.session.alloc
            return alloc(cls, make(m, *args, **kwargs))

        def new(m: Machine, of: Value, *args: Value, **kwargs: Value) -> Any:
            if m.observe.known(of) is not cls:
                raise GraphBreak("FL101", f"a subclass of {cls.__qualname__}")
            return made(m, *args, **kwargs)

        RULES[cls] = made
        RULES[cls.__dict__["__new__"]] = new
        return make

    return add


@maker(enumerate)
def make_enumerate(m: Machine, iterable: Value, start: Value = Const(0)) -> LazyIterator:
    number = index(m, start)
    return LazyIterator(None, [iterate(m, iterable)], number)


@iterator_of(enumerate)
def take_enumerated(m: Machine, self: Obj) -> Value | None:
    body = self.body
    item = _inner(m, self, body.iterators[0])
    if item is None:
        return None
    return m.tuple([_number(m, body), item])


def _number(m: Machine, body: LazyIterator) -> Value:
    """The number of an item; the first that a real enumerate gives is not looked at."""
    number = body.count
    if type(number) is Lazy and body.extra is None:
        m.journal.set_field(body, "extra", True)
        return number
    if type(number) is Lazy:
        number = binary(m, "+", m.observe.resolve(number), ONE)
    m.journal.set_field(body, "count", binary(m, "+", number, ONE))
    return number


for _cls in (zip, map, filter):
    PEEKS[_cls] = lambda m, obj: look_into_parts(m.session, obj)
    OF_PARTS.add(_cls)


def _inner(m: Machine, outer: Obj, iterator: Value) -> Value | None:
    """The next item of the iterator inside, perhaps not looked at; where the outer one is real, its own replay moves the inner one."""
    return next_unseen(m, iterator) if outer.real is None else _moved_by_outer(m, iterator)


def _moved_by_outer(m: Machine, iterator: Value) -> Value | None:
    """The next item of a real iterator that moves when the one around it does."""
    if type(iterator) is Obj and iterator.body is FOREIGN:
        adopt(m, iterator)
    if iterator.cls is zip:
        return _zipped(m, iterator.body, _moved_by_outer)
    take = TAKES.get(iterator.cls)
    if take is None or iterator.cls in OF_PARTS:
        raise GraphBreak("FL502", f"an iterator of class {iterator.cls.__name__} that exists already is advanced")
    return take(m, iterator)


@maker(zip)
def make_zip(m: Machine, *iterables: Value, strict: Value = Const(False)) -> LazyIterator:
    return LazyIterator(None, [iterate(m, value) for value in iterables], None, truth(m, strict).value)


@iterator_of(zip)
def take_zipped(m: Machine, self: Obj) -> Value | None:
    return _zipped(m, self.body, next_unseen)


def _zipped(m: Machine, body: LazyIterator, take: Callable) -> Value | None:
    items = []
    for at, iterator in enumerate(body.iterators):
        item = take(m, iterator)
        if item is None:
            if body.extra:
                _check_lengths(m, body.iterators, at, take)
            return None
        items.append(item)
    return m.tuple(items) if items else None


def _check_lengths(m: Machine, iterators: list[Value], at: int, take: Callable) -> None:
    """zip(strict=True) when iterator number `at` (from 0) has ended first."""
    if at:
        raise m.error(ValueError, f"zip() argument {at + 1} is shorter than argument{_up_to(at)}")
    for later in range(1, len(iterators)):
        if take(m, iterators[later]) is not None:
            raise m.error(ValueError, f"zip() argument {later + 1} is longer than argument{_up_to(later)}")


def _up_to(count: int) -> str:
    return " 1" if count == 1 else f"s 1-{count}"


@maker(map)
def make_map(m: Machine, fn: Value, iterable: Value, /, *more: Value) -> LazyIterator:
    return LazyIterator(fn, [iterate(m, value) for value in (iterable, *more)])


@iterator_of(map)
def take_mapped(m: Machine, self: Obj) -> Value | None:
    items = []
    for iterator in self.body.iterators:
        item = next_item(m, iterator)
        if item is None:
            return None
        items.append(item)
    function = self.body.function
    if type(function) is Const and function.value is id and type(items[0]) is Obj and items[0].real is None and items[0].cls is tuple:
        raise GraphBreak("FL501", "id() of tuples that are let go of at once, and may be one after the other in one place")
    return m.invoke(function, items, {})


@maker(filter)
def make_filter(m: Machine, fn: Value, iterable: Value, /) -> LazyIterator:
    return LazyIterator(fn, [iterate(m, iterable)])


@iterator_of(filter)
def take_filtered(m: Machine, self: Obj) -> Value | None:
    body = self.body
    while (item := next_item(m, body.iterators[0])) is not None:
        if passes(m, body.function, item):
            return item
    return None


def passes(m: Machine, fn: Value, item: Value) -> Any:
    """Whether a predicate (None and bool mean the item's own truth) holds of an item."""
    plain = type(fn) is Const and fn.value is None or fn.cls is type and m.observe.known(fn) is bool
    return truth(m, item if plain else m.invoke(fn, [item], {})).value
