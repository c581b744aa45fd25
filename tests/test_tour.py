"""The tour runs, says what it says in order, and what it says is true: it asserts it itself."""
from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import frameloom
from tests.conftest import HAS_TORCH

TOUR = Path(__file__).resolve().parents[1] / "docs" / "tour.py"


def test_the_tour_walks_through_all_rooms(capsys: pytest.CaptureFixture[str]) -> None:
    frameloom.reset()
    runpy.run_path(str(TOUR), run_name="__main__")
    text = capsys.readouterr().out
    titles = re.findall(r"^\d+\. (.+)\n=+$", text, re.MULTILINE)
    assert titles == [
        "bytecode: a program", "interpreter: a trace", "codegen: a plan", "codegen: bytecode", "compile: the guard program",
        "native: calls, hits and misses", "a graph break", "the language alone", "torch",
    ]
    assert "graph break FL201" in text and "recompile of smooth: value of smoother.factor changed" in text
    assert ("the tour ends here" in text) is not HAS_TORCH
    assert max(map(len, text.splitlines())) <= 170
