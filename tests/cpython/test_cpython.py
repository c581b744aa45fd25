"""CPython's own tests have the same outcomes when every frame runs by its entry.

Every push runs a quarter of the held modules in replay (`QUARTER=n` repeats it), and some of the small ones with traces that stop.
`make test-all` runs all held modules, and some of them with traces that stop in every way.  The table of all modules, held or not,
is made by `make test-cpython`.
"""

from __future__ import annotations

import pytest

from tests.cpython.modules import HELD, HELD_IN_ALL_WAYS, HELD_LONG, KNOWN, MODULES, WAYS, quarter, quarter_of_commit
from tests.cpython.run import compare, details

STOPPED = {("test_scope", "3"), ("test_with", "5"), ("test_raise", "2"), ("test_global", "1"), ("test_dictcomps", "7")}


def _cases() -> list:
    quick = {*STOPPED, *((module, "replay") for module in quarter(quarter_of_commit(), HELD))}
    all_ways = [(module, how) for module in HELD_IN_ALL_WAYS for how in WAYS]
    cases = dict.fromkeys([*all_ways, *((module, "replay") for module in (*HELD, *HELD_LONG)), *sorted(STOPPED)])
    return [
        pytest.param(module, how, id=f"{module}-{how}", marks=() if (module, how) in quick else pytest.mark.slow)
        for module, how in cases
    ]


@pytest.mark.parametrize("module, how", _cases())
def test_outcomes_are_the_same(module: str, how: str) -> None:
    compared = compare(module, how)
    print(compared)
    assert compared.tests > 0
    assert compared.found.figures["captures"] > 0
    assert not compared.faults and not compared.found.ends and compared.different.keys() <= KNOWN.keys(), "\n".join(details(compared))


def test_known_differences_are_of_modules_that_are_run() -> None:
    assert {name.split(".")[1] for name in KNOWN} <= {*HELD, *HELD_LONG}


def test_quarters_make_the_whole() -> None:
    assert sorted(module for number in range(4) for module in quarter(number)) == sorted(MODULES)
