"""Messages of one screen: breaks, eager runs, recompiles, and the errors that carry them."""
from __future__ import annotations

import json
import linecache
import pickle
import textwrap

import pytest

from frameloom.diagnostics import errors
from frameloom.diagnostics.location import Location
from frameloom.diagnostics.reports import REFUSED, BreakReport, RecompileReport, shortened

HERE = Location("model.py", 2, 7, 2, 25, "Block.forward")
CALLER = Location("model.py", 77, 0, 77, 9, "Net.forward")


@pytest.fixture(autouse=True)
def source(monkeypatch) -> None:
    lines = ["def forward(self):\n", "    if scores.max() > 0.5:\n"]
    monkeypatch.setitem(linecache.cache, "model.py", (0, None, lines, "model.py"))


def message(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


def test_graph_break() -> None:
    report = BreakReport.of("FL201", (HERE, CALLER), "this bool comes from a tensor", 18)
    assert report.render() == message("""
        graph break FL201: branch depends on tensor data
          --> model.py:2:8   in Block.forward, inlined from model.py:77 in Net.forward
          |
        2 |     if scores.max() > 0.5:
          |        ^^^^^^^^^^^^^^^^^^ this bool comes from a tensor
          |
          = captured so far: 18 graph nodes; the rest continues in a resume function
          = help: use torch.where, or mark the branch with frameloom.graph_break()
          = see:  docs/breaks/FL201.md   (frameloom explain FL201)
    """)
    assert report.summary() == ("graph break FL201: branch depends on tensor data at model.py:2 in Block.forward: "
                                "this bool comes from a tensor")


def test_without_source_the_detail_is_a_line_of_its_own() -> None:
    report = BreakReport.of("FL101", (Location("<string>", 1, 0, 1, 3, "f"),), "_C.g has no rule", 1, help="call h")
    assert report.render() == message("""
        graph break FL101: call of a function implemented in C without a rule
          --> <string>:1:1   in f
          = _C.g has no rule
          = captured so far: 1 graph node; the rest continues in a resume function
          = help: call h
          = see:  docs/breaks/FL101.md   (frameloom explain FL101)
    """)


def test_a_break_in_a_library_is_shown_at_the_users_line(monkeypatch) -> None:
    lines = ["def put(key):\n", "    putenv(key)\n"]
    monkeypatch.setitem(linecache.cache, "/env/site-packages/lib.py", (0, None, lines, "/env/site-packages/lib.py"))
    inside = Location("/env/site-packages/lib.py", 2, 4, 2, 15, "put")
    between = Location("/env/site-packages/lib.py", 9, 0, 9, 3, "set_all")
    report = BreakReport.of("FL508", (inside, between, HERE, CALLER), "an environment variable is changed")
    assert report.render() == message("""
        graph break FL508: state of the whole process is changed
          --> model.py:2:8   in Block.forward, inlined from model.py:77 in Net.forward
          |
        2 |     if scores.max() > 0.5:
          |        ^^^^^^^^^^^^^^^^^^ an environment variable is changed
          |
          = inside lib.py:2 in put, 2 calls below:  putenv(key)
          = captured so far: 0 graph nodes; the rest continues in a resume function
          = help: change it before the compiled function runs
          = see:  docs/breaks/FL508.md   (frameloom explain FL508)
    """)
    assert report.location == HERE and " at model.py:2 in Block.forward: " in report.summary()


def test_an_eager_run_says_so_and_counts_no_nodes() -> None:
    text = BreakReport.of("FL902", (HERE,), notes=("the last guard that failed: value of self.step",)).render()
    assert text.startswith("running eager FL902: recompile limit is reached\n")
    assert "captured so far" not in text
    assert "  = the last guard that failed: value of self.step\n" in text


def test_long_lines_are_folded_under_their_start() -> None:
    text = BreakReport.of("FL401", notes=("word " * 60,)).render()
    folded = [line for line in text.splitlines() if "word" in line]
    assert len(folded) == 3 and all(len(line) <= 110 for line in folded)
    assert {line.index("word") for line in folded} == {4}


def test_an_unknown_code_is_an_error() -> None:
    with pytest.raises(KeyError, match="FL000"):
        BreakReport.of("FL000")


def test_recompile() -> None:
    report = RecompileReport("Net.forward", 2, 8, "value", "self.step", "3", "4", (HERE,), "keep it in a tensor",
                             label="self.step is read here")
    assert report.render() == message("""
        recompile of Net.forward: value of self.step changed
          --> model.py:2:8   in Block.forward
          |
        2 |     if scores.max() > 0.5:
          |        ^^^^^^^^^^^^^^^^^^ self.step is read here
          |
          = was: 3
          = now: 4
          = entries: 2 of at most 8; beyond that the function runs eagerly (FL902)
          = help: keep it in a tensor
    """)
    assert report.reason == "value self.step"


def test_values_are_shown_on_one_short_line() -> None:
    assert shortened("[1,\n 2]") == "[1, 2]"
    long = shortened("x" * 1000 + "end")
    assert len(long) <= 60 and long.endswith("end") and " ... " in long


def test_reports_are_plain_data_for_the_log() -> None:
    for report in (BreakReport.of("FL201", (HERE,), "d", 3), RecompileReport("f", 1, 8, "type", "x", "a", "b", (HERE,))):
        data = json.loads(json.dumps(report.as_dict()))
        assert data["chain"] == [HERE._asdict()]
    assert BreakReport.of("FL201", (HERE,)).as_dict()["code"] == "FL201"


def test_graph_break_error_carries_its_report() -> None:
    error = errors.GraphBreakError(BreakReport.of("FL201", (HERE,), then=REFUSED))
    assert error.code == "FL201" and "fullgraph=True asks for one graph" in str(error)
    assert isinstance(error, errors.FrameloomError)
    assert pickle.loads(pickle.dumps(error)).report == error.report


def test_backend_error_names_backend_and_cause() -> None:
    cause = ZeroDivisionError("by zero\nmore")
    error = errors.BackendError("mine", cause)
    assert str(error) == "backend 'mine' failed: ZeroDivisionError: by zero"
    assert error.__cause__ is cause and error.backend == "mine"
    assert str(errors.BackendError("mine", KeyError())) == "backend 'mine' failed: KeyError: no message"


def test_unknown_backend_names_the_nearest_first() -> None:
    error = errors.UnknownBackend("inducter", ["eager", "aot_eager", "inductor"])
    assert str(error) == "no backend named 'inducter'; there are inductor, aot_eager, eager"
    assert isinstance(error, ValueError)
    assert str(errors.UnknownBackend("x", [])) == "no backend named 'x'"
    assert "and 3 more" in str(errors.UnknownBackend("zz", map(str, range(11))))


def test_missing_dependency_says_what_to_install_in_one_line() -> None:
    error = errors.MissingDependency("torch", "compiling a torch program", extra="torch")
    assert str(error) == "compiling a torch program needs torch, which is not installed: pip install 'frameloom[torch]'"
    assert isinstance(error, ImportError)


@pytest.mark.parametrize("error", [
    errors.BackendError("mine", ValueError("v")), errors.UnknownBackend("x", ["y"]), errors.UnknownCode("FL1"),
    errors.MissingDependency("torch", "this", "torch"), errors.NotCompilable("no"), errors.WrongOption("no"),
    errors.InternalError("no"),
], ids=lambda error: type(error).__name__)
def test_errors_survive_pickling(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error)
