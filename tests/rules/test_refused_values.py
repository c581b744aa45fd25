"""Values that CPython refuses or warns of, and values too large to hold: eager's own outcome each time."""

from __future__ import annotations

import random
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from tests.rules.running import compared, reasons, whole


def attempt(function: Callable, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), error.args


class Nothing:
    """A class that takes every operation away."""

    __iter__ = __bool__ = __contains__ = __add__ = __radd__ = __getitem__ = __eq__ = __call__ = __hash__ = __next__ = None
    __reversed__ = __int__ = __float__ = __index__ = __setitem__ = __str__ = __format__ = __lt__ = __neg__ = __iadd__ = None


@pytest.mark.parametrize("use", [
    iter, bool, lambda x: 1 in x, lambda x: x + 1, lambda x: 1 + x, lambda x: x[0], lambda x: x == 1, lambda x: x(), hash, next, reversed,
    int, float, lambda x: [1][x], list, str, lambda x: f"{x}", lambda x: x < 1, lambda x: -x, lambda x: [*x], lambda x: {x: 1},
])
def test_a_special_method_that_is_none(use: Callable) -> None:
    compared(lambda x: attempt(use, x), (Nothing,), 2, tuple)


@pytest.mark.parametrize(("base", "cls"), [
    (int, bool), (object, int), (float, int), (list, dict), (tuple, list), (dict, list), (set, frozenset), (frozenset, set), (str, int),
    (int, 5), (list, "no class"), (bytes, str),
])
def test_new_of_another_class(base: type, cls: Any) -> None:
    compared(lambda: attempt(base.__new__, cls), (), 2, tuple)


class Index:
    def __init__(self, given: Any) -> None:
        self.given = given

    def __index__(self) -> Any:
        return self.given


@pytest.mark.parametrize("given", [1, True, 1.0, "1"])
def test_what_index_gives(given: Any) -> None:
    def program() -> Any:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            found = attempt(lambda: [5, 6][Index(given)]), attempt(int, Index(given)), attempt(lambda: [7] * Index(given))
        return found, [str(warning.message) for warning in seen]

    compared(program, (), 2, tuple)


@pytest.mark.parametrize("times", [2**62, 2**65, -1, 0])
@pytest.mark.parametrize("make", [lambda: [0, 1], lambda: (0, 1), lambda: "ab", lambda: b"ab", lambda: deque([0, 1])])
def test_sequences_repeated_too_often(make: Callable, times: int) -> None:
    def in_place() -> Any:
        made = make()
        made *= times
        return made

    def program() -> Any:
        return attempt(lambda: make() * times), attempt(lambda: times * make()), attempt(in_place)

    compared(program, (), 2, tuple)


def test_numbers_with_very_many_digits() -> None:
    def program() -> Any:
        return [attempt(f) for f in (
            lambda: str(10**5000), lambda: int("1" * 5000), lambda: f"{10**5000}", lambda: repr([10**5000]), lambda: int("7" * 5000, 10),
        )]

    found = reasons(compared(program, (), 2, tuple))
    assert found and all(reason.startswith("FL111") for reason in found)


def test_a_function_that_uses_up_its_own_iterator() -> None:
    def program() -> Any:
        entered = []

        def give() -> int:
            if entered:
                return 2
            entered.append(1)
            list(held[0])
            return 1

        held = [iter(give, 2)]
        return attempt(next, held[0]), attempt(next, held[0])

    whole(program)


# -- generators of random numbers whose methods are replaced -------------------------------------------------------------

GENERATOR = random.Random(3)


@pytest.mark.parametrize("draw", [
    lambda r: r.uniform(1.0, 10.0), lambda r: r.expovariate(2.0), lambda r: r.gammavariate(1.0, 3.14), lambda r: r.triangular(0.0, 1.0),
    lambda r: r.choice([1, 2, 3]) if False else r.gauss(0.0, 1.0), lambda r: r.betavariate(3.0, 3.0), lambda r: r.lognormvariate(0.0, 1.0),
])
def test_a_generator_whose_random_is_replaced(draw: Callable) -> None:
    def program(generator: random.Random) -> Any:
        return draw(generator)

    def replaced() -> random.Random:
        made = random.Random(3)
        made.random = [0.45, 0.3, 0.2, 0.7, 0.6, 0.9, 0.1, 0.8, 0.25].pop
        return made

    whole(program, replaced)


def test_a_method_of_the_class_that_is_replaced_later(monkeypatch: pytest.MonkeyPatch) -> None:
    from frameloom.symbolic.domain import Domain
    from tests.differential.compiled import Compiled

    call = Compiled(Domain(), replay=True).of(lambda: GENERATOR.uniform(1.0, 2.0))
    assert 1.0 <= call() <= 2.0
    monkeypatch.setattr(random.Random, "random", lambda self: 0.5)
    assert call() == 1.5


class Measure(float):
    pass


def test_a_nan_hashes_by_its_address() -> None:
    def program(value: Any) -> Any:
        return hash(value) == object.__hash__(value), hash(value) == hash(value)

    compared(program, (lambda: Measure("nan"),), 2, tuple)
    compared(lambda: program(Measure("nan")), (), 2, tuple)


def test_an_operation_of_a_frozenset_without_operands_gives_another_object() -> None:
    def program(s: frozenset) -> Any:
        found = s.intersection(), s.union(), s.difference(), s.copy(), frozenset(s)
        return [made is s for made in found], [made == s for made in found]

    whole(program, lambda: frozenset("abc"))
