"""Eager and compiled agree on small programs: results, exceptions, everything that a program can change, and identities."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from frameloom.symbolic.domain import Domain
from tests import differential
from tests.toy import stopping
from tests.toy.domain import ToyDomain

from .compiled import compare
from .grammar import programs

AT_LEAST = 500
SHARES = 4.0
"""Of all tests here together."""


def examples(share: float) -> settings:
    """Settings for a test that takes its share of the programs: as many as the command line asks for, or the profile."""
    every = differential.asked or max(AT_LEAST, settings().max_examples * SHARES)
    return settings(max_examples=max(1, int(every * share / SHARES)), suppress_health_check=list(HealthCheck))


@given(source=programs())
@examples(2)
def test_programs(source: str) -> None:
    compiler = compare(source, ToyDomain())
    assert compiler.count, "nothing was captured"


@pytest.mark.parametrize("breaks_at", [1, 2, 3, 5])
def test_with_a_domain_that_breaks(breaks_at: int) -> None:
    @given(source=programs())
    @examples(0.3)
    def run(source: str) -> None:
        compare(source, ToyDomain(breaks_at))

    run()


@given(source=programs())
@examples(0.4)
def test_with_an_entry_for_every_frame(source: str) -> None:
    compiler = compare(source, Domain(), replay=True)
    assert compiler.count, "nothing was captured"


@pytest.mark.parametrize("count", [2, 7])
def test_with_traces_that_stop_early(count: int) -> None:
    @given(source=programs())
    @examples(0.2)
    def run(source: str) -> None:
        with stopping.in_force():
            compare(source, stopping.every(count), replay=True)

    run()
