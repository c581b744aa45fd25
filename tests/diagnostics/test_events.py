"""Events are counted, logged where asked, written as JSON lines, and told to listeners."""
from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading

import pytest

from frameloom import config
from frameloom.diagnostics import events
from frameloom.diagnostics.location import Location
from frameloom.diagnostics.reports import BreakReport, RecompileReport

HERE = Location("model.py", 2, 7, 2, 25, "forward")
BREAK = BreakReport.of("FL201", (HERE,), "a tensor", 2)
EAGER = BreakReport.of("FL902", (HERE,))
RECOMPILE = RecompileReport("forward", 1, 8, "value", "self.step", "3", "4", (HERE,))


@pytest.fixture(autouse=True)
def clean():
    events.reset()
    yield
    events.reset()


def happen() -> None:
    events.frame("forward", HERE)
    events.graph("forward", 5)
    events.entry("forward", 0.25)
    events.graph_break(BREAK)
    events.graph_break(BREAK)
    events.recompile(RECOMPILE)
    events.eager(EAGER, tell=False)
    events.user_exception(ValueError, HERE)
    events.restart("forward", "size of x")


def test_everything_is_counted() -> None:
    happen()
    stats = events.stats()
    assert (stats.frames, stats.entries, stats.graphs, stats.ops) == (1, 1, 1, 5)
    assert stats.breaks == {"FL201": 2} and stats.eager == {"FL902": 1} and stats.recompiles == {"value self.step": 1}
    assert (stats.user_exceptions, stats.restarts, stats.capture_seconds) == (1, 1, 0.25)
    text = str(stats)
    assert "FL201 branch depends on tensor data" in text and "FL902 recompile limit is reached" in text


def test_stats_are_a_snapshot() -> None:
    before = events.stats()
    happen()
    assert before.frames == 0 and before.breaks.total() == 0
    events.reset()
    assert events.stats() == before


def test_counts_survive_threads() -> None:
    threads = [threading.Thread(target=lambda: [events.graph_break(BREAK) for _ in range(500)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert events.stats().breaks["FL201"] == 2000


def test_only_reasons_for_eager_running_are_eager_runs() -> None:
    with pytest.raises(ValueError, match="FL201"):
        events.eager(BREAK)


def test_listeners_see_reports_and_leave_again() -> None:
    seen = []
    with events.listen(lambda kind, data: seen.append((kind, data))):
        events.graph_break(BREAK)
    events.graph_break(BREAK)
    assert seen == [("break", {"report": BREAK})]


def test_event_file_has_one_object_a_line(tmp_path) -> None:
    path = tmp_path / "events.jsonl"
    with config.patch(events=str(path)):
        happen()
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["event"] for record in records] == [
        "frame", "graph", "entry", "break", "break", "recompile", "eager", "user_exception", "restart"]
    assert records[3]["code"] == "FL201" and records[3]["chain"][0]["lineno"] == 2
    assert records[5]["old"] == "3" and all(record["time"] > 0 for record in records)


def test_logs_write_the_channels_that_are_on(caplog) -> None:
    with config.patch(logs=["breaks"]):
        happen()
    assert [record.name for record in caplog.records] == ["frameloom.breaks"] * 3
    assert caplog.records[0].getMessage() == BREAK.render()
    caplog.clear()
    with config.patch(logs=["graph", "recompiles"]):
        events.graph("forward", 1, lambda: "add(x, 1)")
        events.recompile(RECOMPILE)
    assert [record.name for record in caplog.records] == ["frameloom.graph", "frameloom.recompiles"]
    assert "add(x, 1)" in caplog.text and "self.step" in caplog.text


def test_an_eager_run_is_logged_once_for_each_place(caplog) -> None:
    with config.patch(logs=["breaks"]):
        for _ in range(3):
            events.eager(EAGER, tell=False)
    assert [record.getMessage() for record in caplog.records] == [EAGER.render()]
    assert events.stats().eager[EAGER.kind.code] == 3


def test_graph_text_is_made_only_for_the_log() -> None:
    events.graph("forward", 1, lambda: pytest.fail("nobody asked for the text"))


def test_an_eager_run_is_announced_once_for_each_place(caplog) -> None:
    caplog.set_level(logging.WARNING)
    other = BreakReport.of("FL902", (HERE._replace(lineno=9),))
    for report in (EAGER, EAGER, other):
        events.eager(report)
    texts = [record.getMessage() for record in caplog.records]
    assert texts == [f"frameloom: running eager FL902: recompile limit is reached at model.py:{line} in forward"
                     " (frameloom explain FL902)" for line in (2, 9)]
    assert events.stats().eager["FL902"] == 3


def test_progress_goes_to_standard_error(capsys) -> None:
    with config.patch(progress=True):
        events.frame("forward")
    assert capsys.readouterr().err == "frameloom: capturing forward\n"


def test_logs_reach_standard_error_of_a_plain_program() -> None:
    program = ("from frameloom.diagnostics import events, reports\n"
               "for _ in range(2): events.graph_break(reports.BreakReport.of('FL401'))\n")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                            env={**__import__("os").environ, "FRAMELOOM_LOGS": "breaks"})
    assert result.stderr.count("graph break FL401") == 2 and result.stdout == ""
