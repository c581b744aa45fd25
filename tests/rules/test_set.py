"""Sets: members, order, and the operations of either class."""

from __future__ import annotations

import pytest

from tests.rules.evaluate import breaks, check


class Key:
    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return self.n % 3

    def __eq__(self, other):
        return isinstance(other, Key) and self.n == other.n


class Own(set):
    """A subclass with an attribute."""


def members(s):
    s.add(100)
    s.add(3)
    s.discard(1)
    s.discard("nothing")
    s.remove(2)
    return 3 in s, 1 in s, len(s), s


def made_of(s):
    t = set(range(20))
    t -= {3, 4, 5}
    t.add(77)
    u = {x * 7 % 31 for x in t}
    return list(t), list(u), sorted(u), set("hello") == {"h", "e", "l", "o"}, frozenset([1, 2]), set({"k": 1}), list(frozenset(u))


def algebra(s):
    t = {2, 3, 9}
    return (sorted(s | t), sorted(s & t), sorted(s - t), sorted(s ^ t), sorted(s.union([7], (8,))), sorted(s.intersection([2])),
            sorted(s.difference([2])), sorted(s.symmetric_difference([2, 50])), s.isdisjoint([99]), s.issubset(range(9)),
            s.issuperset([1]), s <= t, s < {1, 2, 3, 4}, s == {1, 2, 3}, s != t, s >= set(), {1} | frozenset({2}),
            type(frozenset({2}) | {1}), frozenset({1}) == {1})


def in_place(s):
    s |= {8}
    s &= {1, 8, 2}
    s ^= {2, 5}
    s -= {1}
    s.update([4], {6: 1})
    s.intersection_update([4, 5, 8])
    s.symmetric_difference_update([4, 11])
    s.difference_update([5])
    return sorted(s)


def popped():
    s = {5, 1, 9, 33}
    first = s.pop()
    s.add(first)
    return first, s.pop(), list(s)


def order_of_operations():
    s = set()
    for n in (64, 1, 33, 8, 129):
        s.add(n)
    s.discard(33)
    t = s | {16, 24}
    u = s.copy()
    u.update(t)
    return list(s), list(t), list(u), list(t & {129, 64, 24}), list(t ^ u), [x for x in {3, 1, 2}]


def with_keys():
    s = {Key(1), Key(2), Key(1), Key(4)}
    t = {Key(4), Key(7)}
    return len(s), Key(2) in s, [k.n for k in s], [k.n for k in s | t], [k.n for k in s & t], s >= {Key(1)}


def nested():
    s = {frozenset({1, 2}), (1, 2)}
    return frozenset([2, 1]) in s, {1, 2} in s, (1, 2) in s, len(s)


def iterated():
    s = {1, 2, 3}
    total = 0
    for x in s:
        total += x
    return total, max(s), sum(s), [*s], next(iter(s))


def grown():
    s = {1, 2}
    for x in s:
        s.add(x + 10)


def owned():
    s = Own([1])
    s.name = "x"
    s.add(2)
    return s, s | {3}, type(s | {3}), type(s.copy()), s.name


def faults():
    found = []
    for fault in (
        lambda: {1}.remove(5),
        lambda: set().pop(),
        lambda: {[]},
        lambda: set(5),
        lambda: {1} | [1],
        lambda: {1} < 5,
        lambda: {1}.add([]),
        lambda: {1}.union(5),
        lambda: frozenset({1}).add,
    ):
        try:
            found.append(fault())
        except Exception as error:
            found.append((type(error), error.args))
    return found


def shown():
    return repr({1}), repr(set()), repr(frozenset({2})), repr(frozenset()), str(Own([3])), repr({"a", "b"}) in ("{'a', 'b'}", "{'b', 'a'}")


@pytest.mark.parametrize("program", [members, algebra, in_place, made_of], ids=lambda f: f.__name__)
@pytest.mark.parametrize("fresh", [True, False], ids=["made", "given"])
def test_program(program, fresh):
    if fresh:
        def made():
            return program({1, 2, 3})
        check(made)
    else:
        check(program, {1, 2, 3})


@pytest.mark.parametrize("program", [
    popped, order_of_operations, with_keys, nested, iterated, grown, owned, faults, shown,
], ids=lambda f: f.__name__)
def test_made(program):
    check(program)


def test_given_is_iterated():
    check(lambda s: [x for x in s], {5, 70, 6})


def test_order_of_a_changed_argument_is_not_known():
    def program(s):
        s.add(1)
        return [x for x in s]

    assert "FL501" in breaks(program, {5, 70})
