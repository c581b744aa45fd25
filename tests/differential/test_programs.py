"""Eager and compiled agree on small programs: results, exceptions, everything that a program can change, and identities."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from frameloom.symbolic.domain import Domain
from tests.toy.domain import ToyDomain

from .compiled import compare
from .grammar import programs

QUICK = settings.get_profile(settings.get_current_profile_name()).max_examples


@given(source=programs())
@settings(suppress_health_check=list(HealthCheck))
def test_programs(source: str) -> None:
    compare(source, ToyDomain())
