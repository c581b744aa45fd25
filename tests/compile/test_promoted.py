"""Numbers that have had two values are read at run time; what the program asks of them is guarded, not they."""

from __future__ import annotations

import math

import pytest

from frameloom.codegen.resume import origin_of
from frameloom.diagnostics.errors import GraphBreakError
from tests.compile.calls import Compiled
from tests.differential.things import breaker


def entries(call: Compiled, function, calls: list[tuple]) -> int:
    """How many captures the calls take, each equal to eager."""
    for arguments in calls:
        got, wanted = call(*arguments), function(*arguments)
        assert repr(got) == repr(wanted), arguments
    return len(call.captures)


FLOATS = [(v,) for v in (0.5, 0.25, 2.0, -0.0, 0.0, math.inf, math.nan, -3.75)]


def test_a_float_is_guarded_by_value_once() -> None:
    def function(s):
        return s * 2 - 1, -s

    call = Compiled(function)
    assert entries(call, function, FLOATS) == 2
    assert "EQUAL" not in [guard.check for guard in call.captures[-1].guards.guards if str(guard.source) == "s"]


def test_another_class_is_another_entry() -> None:
    def function(s):
        return s * 2

    assert entries(Compiled(function), function, [(0.5,), (1.5,), (1,), (2.5,), (True,), (3.5,)]) == 4


def test_whole_numbers_of_arguments_stay_constants() -> None:
    def function(n):
        return [n] * n

    assert entries(Compiled(function), function, [(1,), (2,), (3,), (1,), (2,)]) == 3


def test_numbers_that_cross_a_break() -> None:
    def function(s, n):
        t = s * 0.5 + 1
        k = n + 1
        breaker()
        return t * k - s

    calls = [(v, 7) for v in (0.5, 1.5, 2.5, 3.5, 4.5)] + [(0.5, 7)]
    call = Compiled(function)
    # The start and the rest behind the break, each with the first float and with any; and what is called at the break.
    assert entries(call, function, calls) == 5


def test_whole_numbers_that_cross_a_break() -> None:
    def rest(n):
        k = breaker(n)
        return k * 2 + k

    def function(n):
        return rest(n)

    call = Compiled(function)
    entries(call, function, [(n,) for n in (3, 4, 5, 6)])
    assert sum(origin_of(capture.trace.program.code) is not None for capture in call.captures) == 2


def test_a_branch_guards_its_outcome() -> None:
    def function(s):
        if s * 2 > 3.0:
            return s + 1
        return s - 1

    calls = [(v,) for v in (0.5, 1.0, 1.25, 2.0, 3.0, 0.75, 4.0, math.nan, math.inf)]
    call = Compiled(function)
    assert entries(call, function, calls) == 3
    assert "{} * 2 > 3.0".format("s") in " ".join(call.guards())


def test_two_numbers_in_one_comparison() -> None:
    def function(s, t):
        return (1, s - t) if s < t else (2, t - s)

    calls = [(1.0, 2.0), (1.5, 2.0), (1.5, 2.5), (3.0, 2.5), (1.5, 2.5)]
    assert entries(Compiled(function), function, calls) <= len(set(calls))


@pytest.mark.parametrize("function", [
    lambda s: round(s * 2, 1),
    lambda s: f"{s + 1:.2f}",
    lambda s: max(s, 1.0),
    lambda s: [s, s * 2][int(s > 1)],
    lambda s: math.sqrt(s * s + 1),
    lambda s: {s: 1, 2.0: 3},
    lambda s: s ** 2,
    lambda s: 1 / (s + 1),
    lambda s: bool(s * 2),
    lambda s: not s - 2,
    lambda s: int(s * 3),
    lambda s: s == 2 or s + 1 != 3.5,
    lambda s: s // 1 + s % 2,
])
def test_whatever_is_done_with_it(function) -> None:
    entries(Compiled(function), function, [(v,) for v in (0.5, 1.5, 2.0, 2.5, 0.0, -1.5)])


def test_nothing_breaks_for_it() -> None:
    def function(s):
        return round(s * 2, 1) + (s if s * 2 > 2 else s + 1)

    call = Compiled(function, fullgraph=True)
    try:
        entries(call, function, [(v,) for v in (0.5, 1.5, 2.0, 2.5)])
    except GraphBreakError as error:
        pytest.fail(str(error))
