"""product, permutations and combinations: the positions are those that the host's own iterators give over ranges."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, permutations, product

from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.rules.indexing import size_of
from frameloom.rules.iterator_ import iterator_of
from frameloom.rules.lazy_ import maker
from frameloom.symbolic.layouts.iterator import LazyIterator
from frameloom.symbolic.layouts.itertools_ import Picks
from frameloom.symbolic.values import NONE, Const, Obj, Value


@maker(product)
def make_product(m: Machine, *iterables: Value, repeat: Value = Const(1)) -> LazyIterator:
    times = size_of(m, repeat)
    if times < 0:
        raise m.error(ValueError, "repeat argument cannot be negative")
    pools = [m.tuple(unpack(m, value)) for value in iterables] * times
    return _picked(product, pools, ())


def _picked(cls: type, pools: list[Obj], arguments: tuple) -> LazyIterator:
    return LazyIterator(None, [], None, Picks(cls, pools, [len(pool.body.items) for pool in pools], arguments))


@maker(permutations)
def make_permutations(m: Machine, iterable: Value, r: Value = NONE) -> LazyIterator:
    pool = m.tuple(unpack(m, iterable))
    if type(r) is Const and r.value is None:
        return _picked(permutations, [pool], ())
    if not issubclass(r.cls, int):
        raise m.error(TypeError, "Expected int as r")
    return _of(m, permutations, pool, r)


def _of(m: Machine, cls: type, pool: Obj, r: Value) -> LazyIterator:
    size = size_of(m, r)
    if size < 0:
        raise m.error(ValueError, "r must be non-negative")
    return _picked(cls, [pool], (size,))


@maker(combinations)
def make_combinations(m: Machine, iterable: Value, r: Value) -> LazyIterator:
    return _of(m, combinations, m.tuple(unpack(m, iterable)), r)


@maker(combinations_with_replacement)
def make_combinations_with_replacement(m: Machine, iterable: Value, r: Value) -> LazyIterator:
    return _of(m, combinations_with_replacement, m.tuple(unpack(m, iterable)), r)


@iterator_of(product, permutations, combinations, combinations_with_replacement)
def take_picked(m: Machine, self: Obj) -> Value | None:
    picks: Picks = self.body.extra
    positions = picks.at(picks.taken)
    if positions is None:
        return None
    m.journal.set_field(picks, "taken", picks.taken + 1)
    pools = picks.pools if picks.cls is product else picks.pools * len(positions)
    return m.tuple([pool.body.items[at] for pool, at in zip(pools, positions)])
