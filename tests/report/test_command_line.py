"""`frameloom explain` and its kin."""
from __future__ import annotations

import subprocess
import sys

import pytest

from frameloom.diagnostics.breaks import BREAKS
from frameloom.diagnostics.errors import UnknownCode
from frameloom.report import pages
from frameloom.report.__main__ import main


@pytest.mark.parametrize("spelling", ["FL201", "fl201", "201"])
def test_explain_prints_the_page(spelling, capsys) -> None:
    assert main(["explain", spelling]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# FL201: branch depends on tensor data\n") and "## What to do" in out


def test_explain_prints_several_pages(capsys) -> None:
    assert main(["explain", "FL201", "FL902"]) == 0
    out = capsys.readouterr().out
    assert out.index("# FL201") < out.index("# FL902")


def test_explain_without_code_lists_every_kind(capsys) -> None:
    assert main(["explain"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(BREAKS)


def test_unknown_code_is_an_error_of_one_line(capsys) -> None:
    assert main(["explain", "FL291"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == "frameloom: no break kind 'FL291'; `frameloom explain` lists them all\n"
    with pytest.raises(UnknownCode):
        pages.page("nonsense")


def test_page_that_is_not_installed_is_an_error(monkeypatch, capsys) -> None:
    monkeypatch.setattr(pages, "_candidates", lambda name: [])
    assert main(["explain", "FL201"]) == 2
    assert capsys.readouterr().err == "frameloom: the page of FL201 is not installed\n"


@pytest.mark.parametrize("arguments", [["--version"], ["explain", "FL401"]])
def test_as_a_module(arguments) -> None:
    result = subprocess.run([sys.executable, "-m", "frameloom", *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "frameloom" in result.stdout


@pytest.mark.parametrize("arguments", [[], ["explode"]])
def test_wrong_usage_ends_with_status_2(arguments, capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2 and "usage: frameloom" in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_error() -> None:
    program = [sys.executable, "-m", "frameloom", "explain", *BREAKS]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("# FL001")
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0
