"""RecursionError comes where it comes in plain Python, though captured code makes one frame of many calls."""
from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from frameloom import config
from tests.compile.calls import Compiled

LIMIT = 600
NEAR = 60  # calls


def counted() -> int:
    n = 0

    def go() -> None:
        nonlocal n
        n += 1
        go()

    try:
        go()
    except RecursionError:
        return n
    return -1


def walk(n: int, log: list) -> None:
    log.append(n)
    walk(n + 1, log)


def logged() -> int:
    log: list = []
    try:
        walk(0, log)
    except RecursionError:
        return len(log)
    return -1


def mutual() -> int:
    seen = []

    def one(k: int) -> None:
        other(k + 1)

    def other(k: int) -> None:
        seen.append(k)
        one(k + 1)

    try:
        one(0)
    except RecursionError:
        return 2 * len(seen)
    return -1


def by_attribute() -> int:
    class Asked:
        count = 0

        def __getattr__(self, name: str) -> int:
            Asked.count += 1
            return self.other

    try:
        Asked().thing
    except RecursionError:
        return Asked.count
    return -1


def depth(n: int) -> int:
    return 0 if n == 0 else 1 + depth(n - 1)


def below(n: int) -> object:
    try:
        return depth(n)
    except RecursionError:
        return "too deep"


@pytest.fixture
def limit():
    before, at = sys.getrecursionlimit(), 0
    frame = sys._getframe()
    while frame is not None:
        at, frame = at + 1, frame.f_back
    sys.setrecursionlimit(LIMIT + at)
    yield
    sys.setrecursionlimit(before)


def calls(function: Callable, *args: object) -> list:
    """What three calls give. Out of stack the compiler leaves a call as it is, which it says; it must not raise of its own."""
    call = Compiled(function, on_capture=None)
    with config.patch(strict=False):
        return [call.call(*args) for _ in range(3)]


@pytest.mark.parametrize("function", [counted, logged, mutual])
def test_the_limit_is_found_at_the_same_depth(function: Callable, limit: None) -> None:
    expected = function()
    assert expected > LIMIT - 2 * NEAR
    for found in calls(function):
        assert abs(found - expected) <= NEAR


def test_the_limit_of_a_method_that_asks_itself(limit: None) -> None:
    assert by_attribute() > 0
    assert all(found > 0 for found in calls(by_attribute))


@pytest.mark.parametrize(("n", "expected"), [(LIMIT // 2, LIMIT // 2), (LIMIT + 100, "too deep")])
def test_a_recursion_with_an_end(n: int, expected: object, limit: None) -> None:
    assert below(n) == expected
    assert calls(below, n) == [expected] * 3


def leaf(n: int) -> int:
    return n + 1


def three_deep(n: int) -> int:
    return (lambda: leaf(n) + 1)() + 1


def at_depth(k: int, call: Callable) -> object:
    """Calls with k calls left, as far as plain Python tells."""
    return call(1) if k == 0 else at_depth(k - 1, call)


def test_an_entry_is_passed_over_where_its_calls_have_no_room(limit: None) -> None:
    call = Compiled(three_deep, on_capture=None)
    assert call(1) == 4

    def deepest(function: Callable) -> int:
        k = 0
        while True:
            try:
                at_depth(k, function)
            except RecursionError:
                return k
            k += 1

    assert abs(deepest(call.call) - deepest(three_deep)) <= 5
