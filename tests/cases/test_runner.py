"""The runner of the cases tells right from wrong, and outlives cases that do not come back."""
from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from frameloom.diagnostics.errors import NotCompilable
from tests.cases import runner
from tests.cases.picture import picture

PLAIN = SimpleNamespace()


def outcome(observed: object, *errors: Exception) -> SimpleNamespace:
    return SimpleNamespace(observed=("done", observed), errors=list(errors))


@pytest.mark.parametrize(("run", "expected"), [
    (outcome(1), ("same", "")),
    (outcome(2), ("different", "")),
    (outcome(2, ValueError("bad\nmore")), ("error", "ValueError: bad")),
    (outcome(2, NotCompilable("no"), ValueError()), ("refused", "NotCompilable: no")),
])
def test_verdicts(run: SimpleNamespace, expected: tuple[str, str]) -> None:
    assert runner.verdict(PLAIN, outcome(1), run) == expected


def test_another_exception_than_python_raises_is_different() -> None:
    assert runner.verdict(PLAIN, outcome(1, KeyError()), outcome(2, ValueError("v"))) == ("different", "ValueError: v")


def test_a_case_may_compare_in_its_own_way() -> None:
    case = SimpleNamespace(check=lambda eager, compiled: eager == -compiled)
    assert runner.verdict(case, outcome(1), outcome(-1))[0] == "same"
    assert runner.verdict(case, outcome(1), outcome(1))[0] == "different"


@pytest.mark.parametrize(("text", "expected"), [
    ("import os\nos._exit(3)\n", "crash"),
    ("import faulthandler, os\nfaulthandler.disable()\nos.abort()\n", "crash"), ("while True: pass\n", "timeout"),
    ("raise ValueError\n", "crash"),
])
def test_a_case_that_does_not_come_back(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "_common.py").write_text("")
    path = tmp_path / "x01_gone.py"
    path.write_text(text)
    assert runner.isolated(path, timeout=0.5).verdict == expected


def test_pictures_tell_types_bits_and_sharing_apart() -> None:
    shared: list = [1]
    assert picture([shared, [1]]) == picture([[1], shared])
    circle: list = []
    circle.append(circle)
    assert picture(circle) == ("list", [("seen", 0)])
    differing = [1, 1.0, True, "1", None, -0.0, 0.0, float("nan"), [1], (1,), {1}, frozenset({1}), {1: 1}, ValueError(),
                 torch.ones(1), torch.ones(1, dtype=torch.float64), torch.ones(1, 1), torch.zeros(1),
                 torch.ones(1, requires_grad=True), torch.nn.Parameter(torch.ones(1)), torch.nn.Linear(1, 1), iter([1]), int]
    pictures = [repr(picture(value)) for value in differing]
    assert len(set(pictures)) == len(differing)
    assert all(pictures[index] == repr(picture(value)) for index, value in enumerate(differing))
