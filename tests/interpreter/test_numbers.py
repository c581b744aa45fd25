"""Numbers that differ between calls: read at run time from their second value on, and guarded by what was asked of them."""
from __future__ import annotations

import math

import pytest

from frameloom import config
from tests.compile.calls import Compiled


class Settings:
    def __init__(self, rate) -> None:
        self.rate = rate


def scaled(settings: Settings, by):
    return settings.rate * by - 1


def branched(settings: Settings, by):
    return "big" if settings.rate > 1 else "small" if settings.rate else "none"


def computed(settings: Settings, by):
    half = settings.rate / 2
    return half if half * 2 > by else math.floor(half)


def looped(settings: Settings, by):
    return [settings.rate + n for n in range(min(int(settings.rate), 4))]


def keyed(settings: Settings, by):
    return {settings.rate: by, 2: 3}, f"{settings.rate:.2f}", hash(settings.rate)


NUMBERS = [0.5, 1.5, 2.5, -0.0, 0.0, 3.25, float("inf"), float("nan"), 1e300, 2, 3, 10**40, True]


@pytest.mark.parametrize("function", [scaled, branched, computed, looped, keyed])
def test_results_are_those_of_plain_python(function) -> None:
    call = Compiled(function)
    with config.patch(recompile_limit=100):
        for rate in NUMBERS:
            for by in (2, 7):
                try:
                    expected = repr(function(Settings(rate), by))
                except (OverflowError, ValueError) as error:
                    with pytest.raises(type(error)):
                        call(Settings(rate), by)
                else:
                    assert repr(call(Settings(rate), by)) == expected, rate


@pytest.mark.parametrize(("function", "most"), [(scaled, 2), (branched, 4)])
def test_captures_do_not_follow_the_values(function, most: int) -> None:
    call = Compiled(function)
    for rate in (0.5, 0.25, 1.5, 0.75, 2.5, 3.5, 0.125, 0.0, 5.5):
        assert call(Settings(rate), 2) == function(Settings(rate), 2)
    assert len(call.captures) <= most


def chained(settings: Settings, by):
    left = settings.rate
    for _ in range(300):
        left = left - by
    return "some" if left > 0 else left


def doubled(settings: Settings, by):
    """As an expression over the number this has 2**60 operations."""
    left = settings.rate
    for _ in range(60):
        left = left + left
    return "much" if left > 2**62 * by else left


@pytest.mark.parametrize("function", [chained, doubled])
def test_much_is_computed_before_something_is_asked(function) -> None:
    call = Compiled(function)
    with config.patch(recompile_limit=100):
        for rate in (1, 2, 700, 3, -5, 1.5, 2.5, 1e30):
            assert repr(call(Settings(rate), 2)) == repr(function(Settings(rate), 2)), rate
