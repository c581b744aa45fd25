"""Parents wait behind bridges, at any depth, under their own handlers."""
from __future__ import annotations

import pytest

from frameloom.codegen.bridge import LINKS
from tests.codegen.bridging import Bridging
from tests.codegen.forwarding import outcome
from tests.corpus import Case, load

CASES = load()


def _called(case: Case, make):
    arguments, keywords = make()
    return case.function(*arguments, **keywords)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_stopping_in_callees_too(case: Case) -> None:
    for make in case.calls:
        expected = outcome(case.function, lambda: _called(case, make))
        bridging = Bridging()
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
