"""The program on the page of each break kind gives the message on that page, and no break of another kind."""
from __future__ import annotations

import linecache
import sys
from pathlib import Path

import pytest

import frameloom
from frameloom.diagnostics import events
from frameloom.diagnostics.breaks import BREAKS
from frameloom.diagnostics.reports import BreakReport
from tests import golden
from tests.messages import pages, staging

FILE = "program.py"


def parameters(codes: list[str]) -> list:
    """The codes as test parameters; those whose program imports torch are marked."""
    marks = {True: (pytest.mark.torch,), False: ()}
    return [pytest.param(code, marks=marks["import torch" in pages.read(code).program]) for code in codes]


def reports(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[BreakReport]:
    """Run the page's program as a file of its own, and give the breaks and eager runs that it had."""
    program = pages.read(code).program
    (folder / FILE).write_text(program, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [FILE])
    linecache.checkcache(FILE)
    linecache.cache.pop(FILE, None)
    found: list[BreakReport] = []

    def listener(kind: str, data: dict) -> None:
        if kind in ("break", "eager"):
            found.append(data["report"])

    frameloom.reset()
    with events.listen(listener), staging.stage(code):
        exec(compile(program, FILE, "exec"), {"__name__": "__main__"})
    return found


@pytest.mark.parametrize("code", parameters(list(BREAKS)))
def test_page_shows_the_message_of_its_program(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = reports(code, tmp_path, monkeypatch)
    codes = {report.kind.code for report in found}
    assert codes - staging.ALONGSIDE.get(code, frozenset()) == {code}
    message = staging.steady(code, next(report for report in found if report.kind.code == code).render())
    page = pages.read(code)
    if golden.updating and page.message() != message:
        pages.path(code).write_text(page.with_message(message).text, encoding="utf-8")
        page = pages.read(code)
    assert page.message() == message, golden.difference(page.message(), message)
