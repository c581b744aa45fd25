"""Containers that are changed while C code goes through them, and what is asked of their keys."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest

from frameloom.interpreter.registry import refuse

from tests.rules.evaluate import capture
from tests.rules.running import breaks, compared


class Emptying:
    """Empties a container where it is compared."""

    def __init__(self, emptied: dict) -> None:
        self.emptied = emptied

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        self.emptied.clear()
        return True


class Hashing(set):
    def __hash__(self) -> int:
        return 5


class Unlucky(set):
    def __hash__(self) -> int:
        raise TypeError("no hash today")


class Named:
    pass


class WithoutNext:
    def __iter__(self) -> object:
        return self


def named() -> Named:
    made = Named()
    made.__dict__[1] = 1
    made.a = "a"
    return made


def outcome(function: Callable, *arguments: object) -> tuple:
    try:
        return "returned", function(*arguments)
    except (RuntimeError, TypeError) as error:
        return "raised", type(error), error.args


def updated() -> tuple:
    other: dict = {1: 0, 2: 0}
    other[Emptying(other)] = 0
    return outcome({Emptying(other): 0, 1: 1}.update, other), len(other)


def equal_values() -> tuple:
    first: dict = {}
    second: dict = {0: set(), 1: 1}
    first.update({0: Emptying(second), 1: 1})
    return outcome(first.__eq__, second), len(second)


def equal_keys() -> tuple:
    first: dict = {}
    first[Emptying(first)] = 0
    second: dict = {Emptying(first): Emptying(first)}
    return outcome(first.__eq__, second), len(first)


@pytest.mark.parametrize("program", [updated, equal_values, equal_keys])
def test_a_dictionary_that_a_comparison_changes(program: Callable) -> None:
    breaks("FL102", program)


def looked_for(kind: type) -> tuple:
    one = kind([1, 2])
    known = {frozenset([1, 2]), 7}
    known.add(Hashing([3]))
    return one in known, Hashing([3]) in known, outcome(known.discard, one), len(known)


@pytest.mark.parametrize("kind", [set, Hashing, Unlucky])
def test_a_set_is_looked_for_by_its_own_hash_if_it_has_one(kind: type) -> None:
    compared(lambda: looked_for(kind), (), 2, tuple)


def test_names_of_attributes_that_are_no_strings() -> None:
    compared(lambda found: (found.__dict__ == {1: 1, "a": "a"}, list(found.__dict__)), (named,), 2, tuple)


@pytest.mark.parametrize("use", [
    iter, enumerate, list, sum, zip, lambda found: map(abs, found), lambda found: [*found], lambda found: [x for x in found],
    lambda found: dict.fromkeys(found),
])  # fmt: skip
def test_what_iter_gives_must_be_an_iterator(use: Callable) -> None:
    compared(lambda: outcome(use, WithoutNext()), (), 2, tuple)


# -- deques ------------------------------------------------------------------------------------------------------------


CHANGES = [
    lambda found: found.append(9), lambda found: found.appendleft(9), lambda found: None, lambda found: found.rotate(),
    lambda found: found.clear(), lambda found: found.__setitem__(0, 9), lambda found: (found.append(8), found.pop()),
]  # fmt: skip


def pause() -> None:
    """Is refused, so that a trace stops."""


refuse("FL401", "the test breaks here", pause)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("taken", [0, 1, 3])
@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("most", [None, 2, 0])
def test_a_deque_is_changed_while_it_is_iterated(change: Callable, taken: int, stops: bool, most: int | None) -> None:
    def program() -> tuple:
        found = deque([1, 2], most)
        walks = iter(found), reversed(found)
        steps = [[outcome(next, it, "end") for _ in range(taken)] for it in walks]
        told = outcome(change, found) if found else None
        if stops:
            pause()
        later = [[outcome(next, it, "end"), outcome(next, it, "end"), outcome(list, it)] for it in walks]
        return steps, told is None, later, list(found)

    compared(program, (), 2, tuple)


def test_a_long_queue_costs_a_trace_no_more_for_each_item_than_a_short_one() -> None:
    def kept(count: int) -> int:
        def program() -> int:
            queue = deque(range(count), count)
            for item in range(count):
                queue.append(item)
                queue.append(queue.popleft())
                queue.appendleft(queue.pop())
            return len(queue)

        lists = {id(part): part for entry in capture(program, ()).session.journal._undo for part in entry if type(part) is list}
        return sum(map(len, lists.values())) // count

    assert kept(100) <= kept(20) + 10


# -- iterators that exist already --------------------------------------------------------------------------------------


def grows(found: dict, it: object) -> object:
    for key in it:
        found[9] = 9
    return found


def gets_others(found: dict, it: object) -> object:
    for key in it:
        found.popitem()
        found["other"] = key
    return found


def grew(found: dict, it: object) -> object:
    found[9] = 9
    return list(it)


def gone_through(found: dict, it: object) -> object:
    return list(it), list(found)


def in_parts(found: dict, it: object) -> object:
    return next(it, "end"), it.__length_hint__(), next(it, "end"), next(it, "end"), next(it, "end"), list(it)


MAKERS = [
    iter, reversed, lambda found: iter(found.values()), lambda found: iter(found.items()), lambda found: reversed(found.items()),
]  # fmt: skip


@pytest.mark.parametrize("program", [grows, gets_others, grew, gone_through, in_parts])
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("taken", [0, 1, 2, 4])
def test_an_iterator_knows_its_dictionary(program: Callable, make: Callable, taken: int) -> None:
    def made() -> tuple:
        found = {1: "a", 2: "b", 3: "c"}
        it = make(found)
        for _ in range(taken):
            next(it, None)
        return found, it

    compared(lambda pair: outcome(program, *pair), (made,), 2, tuple)


@pytest.mark.parametrize("change", [
    lambda found: found.pop(1), lambda found: found.update({4: "d"}), lambda found: (found.pop(1), found.update({4: "d"})),
    lambda found: (found.pop(3), found.update({4: "d"})), lambda found: found.clear(),
])  # fmt: skip
def test_an_iterator_whose_dictionary_has_changed_since(change: Callable) -> None:
    def made() -> tuple:
        found = {1: "a", 2: "b", 3: "c"}
        it = iter(found)
        next(it)
        change(found)
        return found, it

    compared(lambda pair: outcome(gone_through, *pair), (made,), 2, tuple)


@pytest.mark.parametrize("change", [lambda found: None, lambda found: found.add(90), lambda found: found.discard(3)])
def test_an_iterator_knows_its_set(change: Callable) -> None:
    def made() -> tuple:
        found = {1, 2, 3}
        it = iter(found)
        next(it)
        return found, it

    def program(pair: tuple) -> tuple:
        found, it = pair
        first = next(it)
        change(found)
        return first, outcome(list, it), len(found)

    compared(program, (made,), 2, tuple)
