"""CPython's own tests have the same outcomes when every frame runs by its entry."""

from __future__ import annotations

import pytest

from tests.cpython.modules import MODULES, WAYS
from tests.cpython.run import compare, details

QUICK = {("test_scope", "replay"), ("test_with", "replay"), ("test_listcomps", "replay"), ("test_scope", "3"), ("test_with", "1")}
"""What every push runs."""


def _cases() -> list:
    return [
        pytest.param(module, how, id=f"{module}-{how}", marks=() if (module, how) in QUICK else pytest.mark.slow)
        for module in MODULES
        for how in WAYS
    ]


@pytest.mark.parametrize("module, how", _cases())
def test_outcomes_are_the_same(module: str, how: str) -> None:
    compared = compare(module, how)
    print(compared)
    assert compared.tests > 0
    assert compared.found.figures["captures"] > 0
    assert compared.is_same, "\n".join(details(compared))
