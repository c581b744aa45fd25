"""The page of features of training scripts: its rows are those of the command that writes it, and a part of them is run; all of them among the
slow tests."""
from __future__ import annotations

import zlib

import pytest
import torch

import frameloom
from tests.models.reference import reference
from tests.pytorch import features

pytestmark = pytest.mark.torch
ROWS = [
    features.cells(line)
    for line in features.PAGE.read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| group")
]


def test_the_page_has_the_rows_of_the_command() -> None:
    assert [row[:2] for row in ROWS] == [[f.group, f.name.replace("_", " ")] for f in features.features()]


def test_no_row_is_unequal() -> None:
    assert [row[:2] for row in ROWS if row[3] != "yes"] == []


EACH = list(features.features())
SOME = {id(feature) for feature in {f.group: f for f in reversed(EACH)}.values()}
SOME |= {id(f) for f in EACH if zlib.crc32(f"{f.group} {f.name}".encode()) % 10 == 0}


def _named(feature: features.Feature) -> str:
    return f"{feature.group}: {feature.name}"


@pytest.mark.parametrize("feature", [f for f in EACH if id(f) in SOME], ids=_named)
def test_rows_are_true(feature: features.Feature) -> None:
    _check(feature)


@pytest.mark.slow
@pytest.mark.parametrize("feature", [f for f in EACH if id(f) not in SOME], ids=_named)
def test_every_row_is_true(feature: features.Feature) -> None:
    _check(feature)


def _check(feature: features.Feature) -> None:
    with reference():
        expected = features.attempt(feature.run, lambda function: function)
    answer = features.under_frameloom(feature.run, expected)
    frameloom.reset()
    stated = next(row for row in ROWS if row[:2] == [feature.group, feature.name.replace("_", " ")])
    assert [answer.text, answer.equal] == [stated[2], True]


def test_a_wrong_answer_is_noticed() -> None:
    assert not features.equal([torch.ones(2)], [torch.ones(3)])
    assert not features.equal([torch.ones(2), 1], [torch.ones(2)])
    assert not features.equal([1], [1.0])
