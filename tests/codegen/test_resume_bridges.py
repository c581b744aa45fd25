"""Parents wait behind bridges, at any depth, under their own handlers."""
from __future__ import annotations

import pytest

from frameloom.codegen.links import LINKS
from tests.codegen.bridging import Bridging
from tests.codegen.forwarding import outcome
from tests.corpus import Case, load

CASES = load()


def _called(case: Case, make):
    arguments, keywords = make()
    return case.function(*arguments, **keywords)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize("joined", [False, True])
def test_stopping_in_callees_too(case: Case, joined: bool) -> None:
    for make in case.calls:
        expected = outcome(case.function, lambda: _called(case, make))
        bridging = Bridging(joined)
        assert outcome(case.function, lambda: bridging.run(case.function, *make())) == expected


def test_every_link_is_met() -> None:
    met: dict[str, int] = {}
    deepest = 0
    for case in CASES:
        for make in case.calls:
            bridging = Bridging()
            outcome(case.function, lambda: bridging.run(case.function, *make()))
            deepest = max(deepest, bridging.deepest)
            for link, count in bridging.bridges.items():
                met[link] = met.get(link, 0) + count
    assert met.keys() == set(LINKS)
    assert deepest >= 4


PLACES = 6  # per call, so that the corpus is run a few times only


def test_what_goes_on_with_a_callee_runs_as_it_is_made() -> None:
    met: set[str] = set()
    for case in CASES:
        for make in case.calls:
            expected = outcome(case.function, lambda: _called(case, make))
            counting = Bridging(joined=True)
            outcome(case.function, lambda: counting.run(case.function, *make()))
            places = {link: place for place, link in reversed([*enumerate(counting.waited)])}
            spread = range(0, len(counting.waited), max(1, len(counting.waited) // PLACES))
            for place in {*places.values(), *spread}:
                bridging = Bridging(joined=True, whole=place)
                assert outcome(case.function, lambda: bridging.run(case.function, *make())) == expected, (case.name, place)
                met.add(bridging.waited[place])
    assert met == set(LINKS)
