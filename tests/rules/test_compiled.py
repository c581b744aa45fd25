"""The programs of this folder, compiled: entries, guards and the bytecode that makes objects and replays operations."""

from __future__ import annotations

import copy
import itertools
import random
from collections import OrderedDict, deque
from typing import Any, Callable

import pytest

from tests.rules import test_atoms, test_collections, test_dict, test_itertools, test_list, test_random, test_taken_back
from tests.rules.running import compared, reasons

GIVEN = [
    *test_taken_back.GIVEN,
    (test_list.shrinking, [1, 2, 3, 2]),
    (test_list.changed_while_iterated, [1, 2, 3]),
    (test_list.unpacked, [1, 2, 3]),
    (test_dict.compared, {"a": 1, "b": 2, "c": 3}),
    (test_dict.shown, {"a": 1}),
    (test_collections.ordered, OrderedDict(a=1, b=2, c=3)),
    (test_collections.queues, deque([1, 2, 3])),
    (test_collections.heaps, [5, 1, 9, 7, 2]),
    (test_collections.sections, [1, 3, 3, 5]),
    (test_atoms.strings, "hello world"),
    (test_atoms.joined, "-"),
    (test_atoms.ranges, 17),
    (test_atoms.slices, 4),
    (test_atoms.data, b"abc"),
    (test_random.draws, random.Random(3)),
    (test_random.seeded, random.Random(3)),
    (test_random.arithmetic, random.Random(3)),
]


@pytest.mark.parametrize("program", test_taken_back.MADE, ids=lambda f: f.__name__)
def test_made(program: Callable) -> None:
    assert reasons(compared(program, (), 2, tuple)) == []


@pytest.mark.parametrize(("program", "argument"), GIVEN, ids=lambda found: getattr(found, "__name__", ""))
def test_given(program: Callable, argument: Any) -> None:
    assert reasons(compared(program, (lambda: copy.deepcopy(argument),), 2, tuple)) == []


@pytest.mark.parametrize("make", [
    lambda: iter([1, 2, 3]), lambda: iter((1,)), lambda: iter("abc"), lambda: iter(range(3)), lambda: enumerate("ab"), lambda: iter({"a": 1, "b": 2}),
], ids=["list", "tuple", "str", "range", "enumerate", "keys"])
def test_an_iterator_that_exists_is_advanced(make: Callable) -> None:
    left: list = []

    def program(it: Any) -> Any:
        taken = [next(it, "end"), next(it, "end")]
        return taken, it

    def remaining() -> Any:
        it = make()
        left.append(it)
        return it

    assert reasons(compared(program, (remaining,), 2, lambda: list(left[-1]))) == []


@pytest.mark.parametrize("name", sorted(test_itertools.LEAVING))
@pytest.mark.parametrize("taken", [0, 1, 3])
def test_leaves_as_itself(name: str, taken: int) -> None:
    make = test_itertools.LEAVING[name]

    def program() -> Any:
        iterator = make()
        given = [next(iterator, "end") for _ in range(taken)]
        return given, type(iterator), list(rest(iterator))

    compiler = compared(program, (), 2, tuple)
    assert all(reason.startswith(("FL504", "FL101", "FL102", "FL402")) for reason in reasons(compiler))


def rest(iterator: Any) -> Any:
    return iterator


def begun() -> Any:
    grouped = itertools.groupby([1, 1, 2])
    return next(grouped)[0], grouped


def test_what_cannot_be_made_anew_breaks_where_it_is_made() -> None:
    found = reasons(compared(begun, (), 2, tuple))
    assert found and found[0].startswith("FL504")


def test_what_stays_inside_does_not_break() -> None:
    def program() -> Any:
        first, left = begun()
        return first, [(key, list(group)) for key, group in left]

    assert reasons(compared(program, (), 2, tuple)) == []
