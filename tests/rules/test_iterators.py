"""Iterators: iter, next, reversed, enumerate, zip, map, filter; those that the trace makes and those it meets."""

from __future__ import annotations

import pytest

from tests.compile.calls import Compiled
from tests.rules.evaluate import breaks, check


class Old:
    """Iterated by its subscripts."""

    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        return i * i

    def __len__(self):
        return self.n


class Counter:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration("done")
        self.n -= 1
        return self.n


def stepping():
    it = iter([1, 2])
    a = next(it), next(it), next(it, "end"), next(it, "again")
    try:
        next(it)
    except StopIteration as stop:
        a += (stop.args, stop.value)
    try:
        next(Counter(0))
    except StopIteration as stop:
        a += (stop.args, stop.value)
    return a


def lazies():
    return (list(enumerate("ab", 5)), list(zip([1, 2, 3], "ab")), list(map(lambda x, y: x + y, [1, 2], [3, 4])), list(filter(None, [0, 1, 2])),
            list(filter(lambda x: x > 1, [0, 1, 2])), list(map(str, [1])), list(zip()), [a + b for a, b in zip((1,), (2,))], dict(zip("ab", [1, 2])),
            list(enumerate(Old(3))), list(reversed(Old(3))), list(reversed([1, 2])), list(reversed((1, 2))), list(reversed("ab")), list(Counter(3)),
            sum(map(int, "123")), list(map(None.__class__, [])), list(zip(Counter(2), Old(2))), max(enumerate([3, 1])))


def leaving():
    a, b, c, d, e = iter([1, 2, 3]), enumerate("abc"), zip([1, 2, 3], "abc"), map(abs, [-1, -2]), filter(None, [0, 1, 2, 3])
    f, g, h, i, j = iter({"a": 1, "b": 2}), iter("xyz"), iter(range(5)), reversed([1, 2, 3]), iter((1, 2))
    for it in (a, b, c, d, e, f, g, h, i, j):
        next(it)
    k, l = iter({1: 2}.items()), iter([])
    m = next(l, None)
    return a, b, c, d, e, f, g, h, i, j, k, l, m, iter(b"ab"), reversed({1: 2}), reversed((1, 2)), iter(Old(2))


def mutual():
    shared = iter(range(6))
    pairs = list(zip(shared, shared))
    rest = list(shared)
    it = iter([1, 2, 3])
    first = [x for x in it if x == 1]
    return pairs, rest, first, list(it)


def sentinel():
    values = [3, 2, 1, 0, 5]
    it = iter(values.pop, 3)
    return list(it), list(it), values


def strict():
    found = []
    for lists in (([1], [1, 2]), ([1, 2], [1]), ([1], [2], [3, 4]), ([1], [2])):
        try:
            found.append(list(zip(*lists, strict=True)))
        except ValueError as error:
            found.append(error.args)
    return found


def stopped_by_a_function():
    def f(x):
        if x == 3:
            raise StopIteration
        return x

    return list(map(f, [1, 2, 3, 4]))


def faults():
    found = []
    for fault in (
        lambda: iter(5),
        lambda: next(5),
        lambda: reversed(5),
        lambda: zip(5),
        lambda: list(map(1, [1])),
        lambda: enumerate(5),
        lambda: iter(5, 1),
        lambda: reversed({1}),
        lambda: enumerate([1], "x"),
        lambda: [*5],
    ):
        try:
            found.append(fault())
        except Exception as error:
            found.append((type(error), error.args))
    return found


def generators():
    def g(n):
        got = yield n
        yield got
        return "result"

    it = g(1)
    a = next(it), it.send("sent")
    try:
        next(it)
    except StopIteration as stop:
        a += (stop.value,)
    return a, next(it, "over"), list(g(2)), sum(x for x in range(4)), iter(it) is it, any(x > 1 for x in range(3))


@pytest.mark.parametrize("program", [
    stepping, lazies, leaving, mutual, sentinel, strict, stopped_by_a_function, faults, generators,
], ids=lambda f: f.__name__)
def test_program(program):
    check(program)


def advanced(iterator, count):
    for _ in range(count):
        next(iterator, None)
    return iterator


@pytest.mark.parametrize("make", [
    lambda: iter([1, 2, 3]), lambda: iter((1, 2, 3)), lambda: iter("abc"), lambda: iter("äöü"), lambda: iter(range(3)), lambda: iter({"a": 1, "b": 2, "c": 3}),
    lambda: enumerate([1, 2, 3]), lambda: enumerate(enumerate("abc"), 7), lambda: iter(b"abc"), lambda: iter({"a": 1, "b": 2}.values()),
    lambda: iter({"a": 1, "b": 2}.items()), lambda: reversed([1, 2, 3]), lambda: zip([1, 2, 3], "ab"), lambda: map(str, [1, 2, 3]),
    lambda: filter(None, [1, 0, 3]), lambda: enumerate(zip("abc", range(9))), lambda: zip(iter([1, 2, 3]), enumerate("abc")),
], ids=str)
@pytest.mark.parametrize("before", [0, 1, 3, 4])
@pytest.mark.parametrize("taken", [0, 2, 5])
def test_real_iterators_are_looked_into(make, before, taken):
    def program(it):
        return [x for x, _ in zip(it, range(taken))]

    from tests.rules.evaluate import difference, symbolic, told

    first, second = advanced(make(), before), advanced(make(), before)
    expected = told(program, first), list(first)
    found = symbolic(program, (second,)), list(second)
    assert not difference(found, expected), difference(found, expected)


def test_foreign_iterators_break():
    assert "FL502" in breaks(lambda it: next(it), iter(int, 1))
    assert "FL502" in breaks(lambda it: next(it), zip([1], iter(int, 1)))


def reversed_after_growth(xs, box):
    xs.append(9)
    box.it = reversed(xs)


def reversed_between(xs, box):
    xs.append(9)
    box.it = reversed(xs)
    xs.append(10)
    next(box.it)


def reversed_before_it_shrinks(xs, box):
    box.it = reversed(xs)
    xs.pop()
    xs.pop()


def forward_before_it_shrinks(xs, box):
    box.it = iter(xs)
    next(box.it), next(box.it)
    del xs[:2]


def forward_before_it_is_cleared(xs, box):
    box.it = iter(xs)
    next(box.it), next(box.it)
    xs.clear()
    xs.append(5)


def over_a_fresh_list(xs, box):
    fresh = [*xs]
    box.it = iter(fresh)
    next(box.it), next(box.it)
    fresh.clear()
    xs.extend(fresh)
    box.fresh = fresh


def reversed_over_a_fresh_list(xs, box):
    fresh = [*xs, 4]
    box.it = reversed(fresh)
    fresh.pop()
    fresh.pop()
    box.fresh = fresh


class Holder:
    pass


@pytest.mark.parametrize("program", [
    reversed_after_growth, reversed_between, reversed_before_it_shrinks, forward_before_it_shrinks, forward_before_it_is_cleared,
    over_a_fresh_list, reversed_over_a_fresh_list,
])
def test_an_iterator_stands_where_it_stood_whatever_became_of_its_list(program):
    def run(call):
        xs, box = [1, 2, 3], Holder()
        call(xs, box)
        grown = getattr(box, "fresh", xs)
        grown.append("grown")
        return [*box.it], xs, grown

    call = Compiled(program)
    assert [run(call), run(call)] == [run(program)] * 2
