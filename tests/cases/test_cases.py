"""Every case gives what plain Python gives.  Cells are all equal; of the reports none is silently wrong.

All cases of a folder run in one process that forks for each; see `runner.py` for the verdicts.
"""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

pytestmark = pytest.mark.torch

CELLS = 16
REPORTS = 44
REPORTS_EQUAL_AT_LEAST = 34


def names(folder: str) -> list[str]:
    return sorted(path.stem for path in (HERE / folder).glob("[a-z][0-9][0-9]_*.py"))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """The results of all cases by name."""
    found: dict[str, dict] = {}
    for folder in ("cells", "reports"):
        path = tmp_path_factory.mktemp("cases") / f"{folder}.json"
        process = subprocess.run([sys.executable, "-m", "tests.cases.runner", folder, "--json", str(path)], cwd=ROOT,
                                 capture_output=True, text=True)
        assert process.returncode == 0, process.stdout + process.stderr
        print(process.stdout)
        found.update({result["name"]: result for result in json.loads(path.read_text())})
    return found


def test_no_case_is_lost(results) -> None:
    assert (len(names("cells")), len(names("reports"))) == (CELLS, REPORTS)
    assert sorted(results) == sorted(names("cells") + names("reports"))


@pytest.mark.parametrize("name", names("cells"))
def test_cell_is_equal(results, name: str) -> None:
    assert results[name]["verdict"] == "same", results[name]
    assert results[name]["full"] in ("same", "refused"), results[name]


@pytest.mark.parametrize("name", names("reports"))
def test_report_is_not_silently_wrong(results, name: str) -> None:
    assert results[name]["verdict"] not in ("different", "crash", "timeout"), results[name]
    assert results[name]["full"] != "different", results[name]


def test_most_reports_are_equal(results) -> None:
    verdicts = {name: results[name]["verdict"] for name in names("reports")}
    others = {name: verdict for name, verdict in verdicts.items() if verdict != "same"}
    assert REPORTS - len(others) >= REPORTS_EQUAL_AT_LEAST, others


def test_equal_cases_are_captured(results) -> None:
    assert not [name for name, result in results.items() if result["verdict"] == "same" and not result["ops"]]
