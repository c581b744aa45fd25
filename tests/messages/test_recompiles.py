"""Why a call fitted no entry is told in one screen: golden messages for the common kinds of guards."""
from __future__ import annotations

import importlib.util
import linecache
from pathlib import Path

import pytest

import frameloom
from frameloom.compile import callables
from frameloom.compile.hook import Settings
from frameloom.diagnostics import events
from tests import golden
from tests.toy.array import array
from tests.toy.domain import ToyDomain

FILE = "program.py"
HERE = Path(__file__).parent


def messages(case: golden.Case, names: dict, monkeypatch: pytest.MonkeyPatch) -> str:
    """The recompiles that the case's program tells of, in order."""
    lines = [line + "\n" for line in case.program.splitlines()]
    monkeypatch.setitem(linecache.cache, FILE, (len(case.program), None, lines, FILE))
    found: list[str] = []
    frameloom.reset()
    with events.listen(lambda kind, data: found.append(data["report"].render()) if kind == "recompile" else None):
        exec(compile(case.program, FILE, "exec"), {"__name__": "__main__", **names})
    return "\n\n".join(found)


@golden.parametrize(HERE, "recompiles.test")
def test_of_python(case: golden.Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(function):
        return callables.compiled(function, Settings(ToyDomain()))

    case.check("message", messages(case, {"compiled": compiled, "array": array}, monkeypatch))


@pytest.mark.torch
@golden.parametrize(HERE, "recompiles_torch.test")
def test_of_torch(case: golden.Case, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = importlib.import_module("torch")
    case.check("message", messages(case, {"compiled": frameloom.compile(backend="eager"), "torch": torch}, monkeypatch))
