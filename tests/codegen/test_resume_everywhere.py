"""Stopping before every instruction of odd functions, and going on, is as if nothing had been."""
from __future__ import annotations

import pytest

from tests.codegen.forwarding import Forwarding, outcome
from tests.corpus import Case, load

CASES = load()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_stopping_before_every_instruction(case: Case) -> None:
    for make in case.calls:
        expected = outcome(case.function, lambda: _called(case, make))
        everywhere = Forwarding(lambda state: True)
        assert outcome(case.function, lambda: everywhere.run(case.function, *make())) == expected
        assert everywhere.steps > 0


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_going_on_from_every_instruction(case: Case) -> None:
    """The frame that takes over at the n-th stop runs to the end, for every state that is met."""
    for make in case.calls:
        expected = outcome(case.function, lambda: _called(case, make))
        met = set()
        at = 0
        while True:
            forwarding = Forwarding(lambda state: forwarding.steps <= at)
            found = outcome(case.function, lambda: forwarding.run(case.function, *make()))
            assert found == expected, f"going on at stop {at}: {forwarding.seen[-1]}"
            new = [number for number, state in enumerate(_all_states(case, make)) if number > at and state not in met]
            met.update(forwarding.seen)
            if not new:
                break
            at = new[0]


_STATES: dict[tuple[str, int], list] = {}


def _all_states(case: Case, make) -> list:
    key = (case.name, id(make))
    if key not in _STATES:
        everywhere = Forwarding(lambda state: True)
        outcome(case.function, lambda: everywhere.run(case.function, *make()))
        _STATES[key] = everywhere.seen
    return _STATES[key]


def _called(case: Case, make):
    arguments, keywords = make()
    return case.function(*arguments, **keywords)
