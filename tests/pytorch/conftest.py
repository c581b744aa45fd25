"""What every test of torch shares: it begins and ends with nothing compiled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import frameloom


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Forget what was compiled before the test, and in it."""
    frameloom.reset()
    yield
    frameloom.reset()
