"""Iterators of the module itertools: how each is made anew as the real type, standing where the trace left it."""

from __future__ import annotations

import itertools
from itertools import (
    accumulate,
    chain,
    combinations,
    combinations_with_replacement,
    compress,
    count,
    cycle,
    dropwhile,
    filterfalse,
    groupby,
    islice,
    pairwise,
    permutations,
    product,
    repeat,
    starmap,
    takewhile,
    zip_longest,
)
from typing import Any

from frameloom.symbolic.layouts.iterator import Iterated, LazyIterator, rebuilds
from frameloom.symbolic.values import NONE, Const, Value

GROUPER = type(next(groupby([1]))[1])
TEE = type(itertools.tee(())[0])
BATCHED = getattr(itertools, "batched", None)


# -- chain -----------------------------------------------------------------------------------------------------------


def chain_from(active: Any, source: Any) -> chain:
    """A chain that goes on with `active` before the iterables of `source`; called by compiled code."""
    return chain.from_iterable(chain((active,), source))


@rebuilds(chain)
def _chain(body: LazyIterator) -> tuple:
    if not body.iterators:
        return chain, ()
    if body.extra is None:
        return chain.from_iterable, (body.inner[0],)
    return chain_from, (Iterated(body.extra), body.inner[0])


# -- islice, count, cycle, repeat ------------------------------------------------------------------------------------


class Cut:
    """Where an islice is: items taken, the next wanted, the end (None for none), the step."""

    __slots__ = ("taken", "wanted", "stop", "step")

    def __init__(self, wanted: int, stop: int | None, step: int) -> None:
        self.taken = 0
        self.wanted = wanted
        self.stop = stop
        self.step = step


@rebuilds(islice)
def _islice(body: LazyIterator) -> tuple:
    cut: Cut = body.extra
    if not body.iterators:
        return islice, (Const(()), Const(0))
    stop = None if cut.stop is None else cut.stop - cut.taken
    return islice, (body.inner[0], Const(cut.wanted - cut.taken), Const(stop), Const(cut.step))


@rebuilds(count)
def _count(body: LazyIterator) -> tuple:
    return count, (body.count, body.extra)


class Round:
    """What a cycle has saved, and how far it is in repeating that."""

    __slots__ = ("saved", "index")

    def __init__(self) -> None:
        self.saved: list[Value] = []
        self.index = 0


def cycle_of(*items: Any) -> cycle:
    """A cycle over items; called by compiled code."""
    return cycle(items)


@rebuilds(cycle)
def _cycle(body: LazyIterator) -> tuple | None:
    saved, index = body.extra.saved, body.extra.index
    if not body.iterators:
        return cycle_of, (*saved[index:], *saved[:index])
    return None if saved else (cycle, (body.inner[0],))


@rebuilds(repeat)
def _repeat(body: LazyIterator) -> tuple:
    return repeat, ((body.function,) if body.extra is None else (body.function, Const(body.extra)))


# -- one iterator and a function -------------------------------------------------------------------------------------


def accumulate_from(iterator: Any, function: Any, total: Any) -> accumulate:
    """An accumulate that has given `total`; called by compiled code."""
    made = accumulate(chain((total,), iterator), function)  # an initial value of None would be none
    next(made)
    return made


def accumulate_initial(iterator: Any, function: Any, initial: Any) -> accumulate:
    """An accumulate that has given nothing; called by compiled code."""
    return accumulate(iterator, function, initial=initial)


@rebuilds(accumulate)
def _accumulate(body: LazyIterator) -> tuple:
    function = body.function or NONE
    if body.count is not None:
        return accumulate_from, (body.inner[0], function, body.count)
    return accumulate_initial, (body.inner[0], function, body.extra or NONE)


@rebuilds(starmap, filterfalse)
def _mapped(body: LazyIterator) -> tuple:
    return body.extra, (body.function, body.inner[0])


@rebuilds(takewhile)
def _takewhile(body: LazyIterator) -> tuple:
    return takewhile, (body.function, Const(()) if body.extra else body.inner[0])


def never(item: Any) -> bool:
    """A predicate that holds of nothing."""
    return False


@rebuilds(dropwhile)
def _dropwhile(body: LazyIterator) -> tuple:
    return dropwhile, (Const(never) if body.extra else body.function, body.inner[0])


# -- several iterators -----------------------------------------------------------------------------------------------


@rebuilds(compress)
def _compress(body: LazyIterator) -> tuple:
    return compress, tuple(body.inner)


def longest(fill: Any, *iterators: Any) -> zip_longest:
    """A zip_longest; called by compiled code."""
    return zip_longest(*iterators, fillvalue=fill)


@rebuilds(zip_longest)
def _zip_longest(body: LazyIterator) -> tuple:
    if body.extra:
        return zip_longest, ()
    return longest, (body.function, *(Const(()) if found.value is None else found for found in body.inner))


def pairwise_from(old: Any, iterator: Any) -> pairwise:
    """A pairwise whose last item was `old`; called by compiled code."""
    return pairwise(chain((old,), iterator))


@rebuilds(pairwise)
def _pairwise(body: LazyIterator) -> tuple:
    if not body.iterators:
        return pairwise, (Const(()),)
    return (pairwise, (body.inner[0],)) if body.extra is None else (pairwise_from, (body.extra, body.inner[0]))


# -- combinatorics ---------------------------------------------------------------------------------------------------


def skipped(cls: type, taken: int, arguments: tuple, *pools: Any) -> Any:
    """An iterator over combinations that has given `taken` of them; called by compiled code."""
    made = cls(*pools, *arguments)
    for _ in range(taken):
        next(made, None)
    return made


class Picks:
    """The positions that a host iterator of the same kind gives over ranges, as far as they were asked for."""

    __slots__ = ("cls", "arguments", "pools", "host", "known", "taken")

    def __init__(self, cls: type, pools: list[Value], lengths: list[int], arguments: tuple) -> None:
        self.cls = cls
        self.pools = pools
        self.arguments = arguments
        self.host = cls(*map(range, lengths), *arguments)
        self.known: list[tuple] = []
        self.taken = 0

    def at(self, index: int) -> tuple | None:
        """The positions of the combination number `index`."""
        while len(self.known) <= index:
            following = next(self.host, None)
            if following is None:
                return None
            self.known.append(following)
        return self.known[index]


@rebuilds(product, permutations, combinations, combinations_with_replacement)
def _picks(body: LazyIterator) -> tuple:
    picks: Picks = body.extra
    return skipped, (Const(picks.cls), Const(picks.taken), Const(picks.arguments), *picks.pools)


# -- groupby, tee ----------------------------------------------------------------------------------------------------


class Groups:
    """The state of a groupby: the key and value it looked at last, the key of the group it gave last, that group."""

    __slots__ = ("key", "value", "target", "group")

    def __init__(self) -> None:
        self.key: Value | None = None
        self.value: Value | None = None
        self.target: Value | None = None
        self.group: Any = None


@rebuilds(groupby)
def _groupby(body: LazyIterator) -> tuple | None:
    groups: Groups = body.extra
    began = groups.key is not None or groups.target is not None
    return None if began else (groupby, (body.inner[0], body.function or NONE))


@rebuilds(GROUPER)
def _grouper(body: LazyIterator) -> None:
    return None


class Shared:
    """What the iterators of one tee share: the source and the items taken from it."""

    __slots__ = ("source", "items")

    def __init__(self, source: Value) -> None:
        self.source = source
        self.items: list[Value] = []


@rebuilds(TEE)
def _tee(body: LazyIterator) -> None:
    return None


if BATCHED is not None:

    def batches(iterator: Any, size: int, strict: bool) -> Any:
        """A batched; called by compiled code."""
        return BATCHED(iterator, size, strict=True) if strict else BATCHED(iterator, size)

    @rebuilds(BATCHED)
    def _batched(body: LazyIterator) -> tuple:
        iterator = body.inner[0] if body.iterators else Const(())
        return batches, (iterator, Const(body.extra[0]), Const(body.extra[1]))
