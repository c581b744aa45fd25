"""C iterators over the program's own ones that outlive the trace: these are not asked for iterators again, and need give none."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest

from tests.rules.running import compared


class Logged:
    """An iterator that tells when it is asked for an iterator; it cannot while it is half made."""

    def __init__(self) -> None:
        self.asked = 0
        self.given = 0

    def __iter__(self) -> Logged:
        self.asked += 1
        return self

    def __next__(self) -> int:
        self.given += 1
        return self.given


class Bare:
    """What it gives as an iterator gives none itself."""

    def __iter__(self) -> Any:
        return Steps()


class Steps:
    def __init__(self) -> None:
        self.given = 0

    def __next__(self) -> int:
        self.given += 1
        return self.given


def same(*values: Any) -> tuple:
    return values


MAKERS = {
    "map": lambda found: map(same, found),
    "map over two": lambda found: map(same, found, found),
    "zip": lambda found: zip(found, found),
    "strict zip": lambda found: zip(found, found, strict=True),
    "enumerate": enumerate,
    "filter": lambda found: filter(None, found),
    "pairwise": itertools.pairwise,
    "chain": lambda found: itertools.chain(found, found),
    "islice": lambda found: itertools.islice(found, 1, 9, 2),
    "cycle": itertools.cycle,
    "accumulate": itertools.accumulate,
    "accumulate with initial": lambda found: itertools.accumulate(found, initial=3),
    "takewhile": lambda found: itertools.takewhile(bool, found),
    "dropwhile": lambda found: itertools.dropwhile(lambda item: item < 2, found),
    "filterfalse": lambda found: itertools.filterfalse(lambda item: item < 2, found),
    "compress": lambda found: itertools.compress(found, found),
    "zip_longest": lambda found: itertools.zip_longest(found, found, fillvalue=0),
    "groupby": itertools.groupby,
}


@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("name", MAKERS)
def test_they_stay_what_they_are(name: str, steps: int) -> None:
    make: Callable = MAKERS[name]

    def run(cls: type) -> tuple:
        found = cls()
        made = make(found)
        first = [next(made) for _ in range(steps)]
        open(__file__).close()
        return type(made), first, next(made), getattr(found, "asked", None)

    compared(run, (lambda: Logged,), 2, tuple)
    compared(run, (lambda: Bare,), 2, tuple)


def test_a_class_that_the_trace_makes_answers_for_itself() -> None:
    def run() -> list:
        class Own:
            def __iter__(self):
                return self

            def __next__(self):
                return self

        made = zip(Own(), Own())
        open(__file__).close()
        return [type(item).__name__ for item in next(made)]

    compared(run, (), 2, tuple)


def test_a_generator_has_what_its_function_was_given() -> None:
    flags = attrgetter("gi_code.co_flags", "__name__", "__qualname__")

    def run() -> tuple:
        @types.coroutine
        def steps():
            yield

        steps.__name__, steps.__qualname__ = "taken", "over"
        made = steps()
        return flags(made)

    compared(run, (), 2, tuple)


def test_tuples_that_are_let_go_of_may_lie_in_one_place() -> None:
    def run() -> list:
        return [len({*map(id, made)}) for made in (zip("ab", "cd"), itertools.permutations("abc"), [*zip("ab", "cd")])]

    compared(run, (), 2, tuple)
