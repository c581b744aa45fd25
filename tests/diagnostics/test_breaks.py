"""The table of break kinds: codes, groups and wording."""
from __future__ import annotations

import re

import pytest

from frameloom.diagnostics.breaks import BREAKS, GROUPS, ROWS, BreakKind


def test_codes_are_unique_and_ordered() -> None:
    codes = [row.code for row in ROWS]
    assert codes == sorted(set(codes)) == list(BREAKS)


@pytest.mark.parametrize("kind", ROWS, ids=lambda kind: kind.code)
def test_row_reads_well(kind: BreakKind) -> None:
    assert re.fullmatch(r"FL\d{3}", kind.code) and kind.code[:3] in GROUPS
    assert kind.title and not kind.title.endswith(".") and len(kind.title) < 70
    assert kind.explanation.endswith(".")
    assert kind.help and not kind.help.endswith(".")
    assert kind.eager == (kind.group == "running eager")


def test_titles_tell_kinds_apart() -> None:
    assert len({row.title for row in ROWS}) == len(ROWS)
