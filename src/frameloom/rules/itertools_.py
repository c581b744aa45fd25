"""The module itertools: each iterator is kept as itself, and advanced by the steps its documentation gives."""

from __future__ import annotations

import itertools
from itertools import (
    accumulate,
    chain,
    compress,
    count,
    cycle,
    dropwhile,
    filterfalse,
    groupby,
    islice,
    pairwise,
    repeat,
    starmap,
    takewhile,
    zip_longest,
)
from typing import Any

from frameloom.interpreter.iteration import iterate, next_item, unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import binary, equal, truth
from frameloom.rules.define import function, methods
from frameloom.rules.indexing import has_index, index_of, size_of
from frameloom.rules.iterator_ import iterator_of
from frameloom.rules.lazy_ import maker, passes
from frameloom.symbolic.layouts.iterator import TUPLE_ITERATOR, LazyIterator, SequenceIterator
from frameloom.symbolic.layouts.itertools_ import BATCHED, GROUPER, TEE, Cut, Groups, Round, Shared
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, FALSE, NONE, Const, Obj, Value


def is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None


def end(m: Machine, body: LazyIterator) -> None:
    """The iterator gives nothing more."""
    m.journal.set_field(body, "iterators", [])


# -- chain -----------------------------------------------------------------------------------------------------------


@maker(chain)
def make_chain(m: Machine, *iterables: Value) -> LazyIterator:
    return LazyIterator(None, [m.session.alloc(TUPLE_ITERATOR, SequenceIterator(m.tuple(list(iterables)), 0))])


@methods(chain, "from_iterable")
def chain_from_iterable(m: Machine, cls: Value, iterable: Value, /) -> Value:
    return m.session.alloc(chain, LazyIterator(None, [iterate(m, iterable)]))


@iterator_of(chain)
def take_chained(m: Machine, self: Obj) -> Value | None:
    body = self.body
    while body.iterators:
        if body.extra is None:
            following = next_item(m, body.iterators[0])
            if following is None:
                return end(m, body)
            m.journal.set_field(body, "extra", _iterator_or_end(m, body, following))
        item = next_item(m, body.extra)
        if item is not None:
            return item
        m.journal.set_field(body, "extra", None)
    return None


def _iterator_or_end(m: Machine, body: LazyIterator, iterable: Value) -> Value:
    try:
        return iterate(m, iterable)
    except SymbolicRaise:
        end(m, body)
        raise


# -- islice, count, cycle, repeat ------------------------------------------------------------------------------------


@maker(islice)
def make_islice(m: Machine, iterable: Value, first: Value, stop: Value | None = None, step: Value = NONE, /) -> LazyIterator:
    values = [first] if stop is None else [first, stop, step]
    bounds = [value.value if is_none(value) else _bound(m, value) for value in values]
    try:
        islice((), *bounds)
    except ValueError as error:
        raise m.error(ValueError, *error.args) from None
    found = slice(*bounds)
    return LazyIterator(None, [iterate(m, iterable)], None, Cut(found.start or 0, found.stop, found.step or 1))


def _bound(m: Machine, value: Value) -> Any:
    """The number in a bound; what is none is left to the host's own check."""
    return index_of(m, value) if has_index(m, value) else object()


@iterator_of(islice)
def take_sliced(m: Machine, self: Obj) -> Value | None:
    body = self.body
    cut: Cut = body.extra
    if not body.iterators:
        return None
    while cut.taken < cut.wanted:
        if next_item(m, body.iterators[0]) is None:
            return end(m, body)
        m.journal.set_field(cut, "taken", cut.taken + 1)
    if cut.stop is not None and cut.taken >= cut.stop:
        return end(m, body)
    item = next_item(m, body.iterators[0])
    if item is None:
        return end(m, body)
    m.journal.set_field(cut, "taken", cut.taken + 1)
    wanted = cut.wanted + cut.step
    m.journal.set_field(cut, "wanted", wanted if cut.stop is None else min(wanted, cut.stop))
    return item


@maker(count)
def make_count(m: Machine, start: Value = Const(0), step: Value = Const(1)) -> LazyIterator:
    for value in (start, step):
        if all(m.observe.type_lookup(value.cls, name) is ABSENT for name in ("__index__", "__float__", "__int__", "__complex__")):
            raise m.error(TypeError, "a number is required")
    return LazyIterator(None, [], start, step)


@iterator_of(count)
def take_counted(m: Machine, self: Obj) -> Value:
    body = self.body
    number = body.count
    m.journal.set_field(body, "count", binary(m, "+", number, body.extra))
    return number


@maker(cycle, bound=True)
def make_cycle(m: Machine, iterable: Value, /) -> LazyIterator:
    return LazyIterator(None, [iterate(m, iterable)], None, Round())


@iterator_of(cycle)
def take_cycled(m: Machine, self: Obj) -> Value | None:
    body, seen = self.body, self.body.extra
    if body.iterators:
        item = next_item(m, body.iterators[0])
        if item is not None:
            m.journal.append(seen.saved, item)
            return item
        end(m, body)
    if not seen.saved:
        return None
    item = seen.saved[seen.index]
    m.journal.set_field(seen, "index", (seen.index + 1) % len(seen.saved))
    return item


@maker(repeat)
def make_repeat(m: Machine, object: Value, times: Value | None = None) -> LazyIterator:
    return LazyIterator(object, [], None, None if times is None else max(0, size_of(m, times)))


@iterator_of(repeat)
def take_repeated(m: Machine, self: Obj) -> Value | None:
    body = self.body
    if body.extra == 0:
        return None
    if body.extra is not None:
        m.journal.set_field(body, "extra", body.extra - 1)
    return body.function


@methods(repeat, "__length_hint__")
def repeats_left(m: Machine, self: Value, /) -> Value:
    if self.body.extra is None:
        raise m.error(TypeError, "len() of unsized object")
    return Const(self.body.extra)


# -- one iterator and a function -------------------------------------------------------------------------------------


@maker(accumulate)
def make_accumulate(m: Machine, iterable: Value, func: Value = NONE, *, initial: Value = NONE) -> LazyIterator:
    begin = None if is_none(initial) else initial
    return LazyIterator(None if is_none(func) else func, [iterate(m, iterable)], None, begin)


@iterator_of(accumulate)
def take_accumulated(m: Machine, self: Obj) -> Value | None:
    body = self.body
    if body.extra is not None:
        m.journal.set_field(body, "count", body.extra)
        m.journal.set_field(body, "extra", None)
        return body.count
    item = next_item(m, body.iterators[0])
    if item is None:
        return None
    total = item if body.count is None else _added(m, body, item)
    m.journal.set_field(body, "count", total)
    return total


def _added(m: Machine, body: LazyIterator, item: Value) -> Value:
    return binary(m, "+", body.count, item) if body.function is None else m.invoke(body.function, [body.count, item], {})


@maker(starmap)
def make_starmap(m: Machine, fn: Value, iterable: Value, /) -> LazyIterator:
    return LazyIterator(fn, [iterate(m, iterable)], None, starmap)


@iterator_of(starmap)
def take_starmapped(m: Machine, self: Obj) -> Value | None:
    item = next_item(m, self.body.iterators[0])
    return None if item is None else m.invoke(self.body.function, unpack(m, item), {})


@maker(filterfalse)
def make_filterfalse(m: Machine, predicate: Value, iterable: Value, /) -> LazyIterator:
    return LazyIterator(predicate, [iterate(m, iterable)], None, filterfalse)


@iterator_of(filterfalse)
def take_false(m: Machine, self: Obj) -> Value | None:
    body = self.body
    while (item := next_item(m, body.iterators[0])) is not None:
        if not passes(m, body.function, item):
            return item
    return None


@maker(takewhile)
def make_takewhile(m: Machine, predicate: Value, iterable: Value, /) -> LazyIterator:
    return LazyIterator(predicate, [iterate(m, iterable)], None, False)


@iterator_of(takewhile)
def take_while(m: Machine, self: Obj) -> Value | None:
    body = self.body
    item = None if body.extra else next_item(m, body.iterators[0])
    if item is None:
        return None
    if truth(m, m.invoke(body.function, [item], {})).value:
        return item
    m.journal.set_field(body, "extra", True)
    return None


@maker(dropwhile)
def make_dropwhile(m: Machine, predicate: Value, iterable: Value, /) -> LazyIterator:
    return LazyIterator(predicate, [iterate(m, iterable)], None, False)


@iterator_of(dropwhile)
def take_after(m: Machine, self: Obj) -> Value | None:
    body = self.body
    while (item := next_item(m, body.iterators[0])) is not None:
        if body.extra:
            return item
        if not truth(m, m.invoke(body.function, [item], {})).value:
            m.journal.set_field(body, "extra", True)
            return item
    return None


# -- several iterators -----------------------------------------------------------------------------------------------


@maker(compress)
def make_compress(m: Machine, data: Value, selectors: Value) -> LazyIterator:
    return LazyIterator(None, [iterate(m, data), iterate(m, selectors)])


@iterator_of(compress)
def take_selected(m: Machine, self: Obj) -> Value | None:
    data, selectors = self.body.iterators
    while (item := next_item(m, data)) is not None:
        selector = next_item(m, selectors)
        if selector is None:
            return None
        if truth(m, selector).value:
            return item
    return None


@maker(zip_longest)
def make_zip_longest(m: Machine, *iterables: Value, fillvalue: Value = NONE) -> LazyIterator:
    return LazyIterator(fillvalue, [iterate(m, value) for value in iterables], None, not iterables)


@iterator_of(zip_longest)
def take_longest(m: Machine, self: Obj) -> Value | None:
    """`iterators` has None where one is exhausted; `extra` is True once all are."""
    body = self.body
    if body.extra:
        return None
    items = []
    for at in range(len(body.iterators)):
        iterator = body.iterators[at]
        item = None if iterator is None else next_item(m, iterator)
        if iterator is not None and item is None:
            m.journal.set_index(body.iterators, at, None)
            if not any(body.iterators):
                m.journal.set_field(body, "extra", True)
                return None
        items.append(body.function if item is None else item)
    return m.tuple(items)


@maker(pairwise)
def make_pairwise(m: Machine, iterable: Value, /) -> LazyIterator:
    return LazyIterator(None, [iterate(m, iterable)])


@iterator_of(pairwise)
def take_pair(m: Machine, self: Obj) -> Value | None:
    body = self.body
    if not body.iterators:
        return None
    old = body.extra
    if old is None:
        old = next_item(m, body.iterators[0])
        if old is None:
            return end(m, body)
        m.journal.set_field(body, "extra", old)
    new = next_item(m, body.iterators[0])
    if new is None:
        m.journal.set_field(body, "extra", None)
        return end(m, body)
    m.journal.set_field(body, "extra", new)
    return m.tuple([old, new])


# -- groupby ---------------------------------------------------------------------------------------------------------


@maker(groupby, bound=True)
def make_groupby(m: Machine, iterable: Value, key: Value = NONE) -> LazyIterator:
    return LazyIterator(None if is_none(key) else key, [iterate(m, iterable)], None, Groups())


def _step(m: Machine, body: LazyIterator) -> bool:
    """Look at the next item; False at the end."""
    groups: Groups = body.extra
    value = next_item(m, body.iterators[0])
    if value is None:
        return False
    key = value if body.function is None else m.invoke(body.function, [value], {})
    m.journal.set_field(groups, "value", value)
    m.journal.set_field(groups, "key", key)
    return True


@iterator_of(groupby)
def take_group(m: Machine, self: Obj) -> Value | None:
    body = self.body
    groups: Groups = body.extra
    m.journal.set_field(groups, "group", None)
    while groups.key is None or groups.target is not None and equal(m, groups.target, groups.key):
        if not _step(m, body):
            return None
    m.journal.set_field(groups, "target", groups.key)
    group = m.session.alloc_bound(GROUPER, LazyIterator(groups.target, [], None, self))
    m.journal.set_field(groups, "group", group)
    return m.tuple([groups.key, group])


@iterator_of(GROUPER)
def take_of_group(m: Machine, self: Obj) -> Value | None:
    whole = self.body.extra.body
    groups: Groups = whole.extra
    if groups.group is not self:
        return None
    if groups.value is None and not _step(m, whole):
        return None
    if not equal(m, self.body.function, groups.key):
        return None
    value = groups.value
    m.journal.set_field(groups, "value", None)
    m.journal.set_field(groups, "key", None)
    return value


# -- tee -------------------------------------------------------------------------------------------------------------


@function(itertools.tee)
def tee(m: Machine, iterable: Value, n: Value = Const(2), /) -> Value:
    many = size_of(m, n)
    if many < 0:
        raise m.error(ValueError, "n must be >= 0")
    if not many:
        return m.tuple([])
    iterator = iterate(m, iterable)
    if iterator.cls is TEE:
        copies = [_one(m, iterator.body.extra, iterator.body.count) for _ in range(many - 1)]
        return m.tuple([iterator, *copies])
    if m.observe.type_lookup(iterator.cls, "__copy__") is not ABSENT:
        raise GraphBreak("FL101", f"itertools.tee of a {iterator.cls.__name__} that copies itself")
    shared = Shared(iterator)
    return m.tuple([_one(m, shared, 0) for _ in range(many)])


def _one(m: Machine, shared: Shared, at: int) -> Obj:
    return m.session.alloc_bound(TEE, LazyIterator(None, [], at, shared))


@iterator_of(TEE)
def take_of_tee(m: Machine, self: Obj) -> Value | None:
    body = self.body
    shared: Shared = body.extra
    if body.count == len(shared.items):
        item = next_item(m, shared.source)
        if item is None:
            return None
        m.journal.append(shared.items, item)
    m.journal.set_field(body, "count", body.count + 1)
    return shared.items[body.count - 1]


# -- batched ---------------------------------------------------------------------------------------------------------

if BATCHED is not None:

    @maker(BATCHED)
    def make_batched(m: Machine, iterable: Value, n: Value, *, strict: Value = FALSE) -> LazyIterator:
        size = size_of(m, n)
        if size < 1:
            raise m.error(ValueError, "n must be at least one")
        return LazyIterator(None, [iterate(m, iterable)], None, (size, truth(m, strict).value))

    @iterator_of(BATCHED)
    def take_batch(m: Machine, self: Obj) -> Value | None:
        body = self.body
        size, strict = body.extra
        items: list[Value] = []
        while body.iterators and len(items) < size:
            item = next_item(m, body.iterators[0])
            if item is None:
                end(m, body)
                break
            items.append(item)
        if items and len(items) < size and strict:
            raise m.error(ValueError, "batched(): incomplete batch")
        return m.tuple(items) if items else None
