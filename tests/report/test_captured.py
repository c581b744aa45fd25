"""Real captures, explained: names, checks of values before those of look-ups, graph with its outputs, effects, exit, breaks."""
from __future__ import annotations

import pytest

import frameloom
from frameloom.compile import callables
from frameloom.compile.hook import Settings
from frameloom.report.captured import explained
from frameloom.report.explanation import Explanation
from tests.toy.array import array
from tests.toy.domain import ToyDomain


class Counter:
    def __init__(self) -> None:
        self.calls = 0


def counted(counter, x, history):
    counter.calls += 1
    history.append("seen")
    y = x * 2
    if y:
        y = y + x
    return y


def explanation() -> Explanation:
    frames = []
    compiled = callables.compiled(counted, Settings(ToyDomain(), on_capture=lambda capture: frames.append(explained(capture))))
    result = compiled(Counter(), array(1.0, 2.0), [])
    own = tuple(frame for frame in frames if frame.filename == __file__)  # the array's own Python is captured too
    return Explanation("counted", own, result)


def test_each_frame_says_what_it_is() -> None:
    first = counted.__code__.co_firstlineno
    shown = explanation()
    names = [frame.name for frame in shown.frames]
    rest = [f"counted, the rest from line {first + line}" for line in (4, 5)]  # 3.13 goes on at the jump, which is of the `if`
    assert names[0] == "counted" and names[1] in rest and len(names) == 2
    assert (shown.graphs, [report.kind.code for report in shown.breaks]) == (2, ["FL201"])
    assert shown.frames[0].source[0].text == "def counted(counter, x, history):"


def test_checks_of_values_stand_apart_from_look_ups() -> None:
    checks = explanation().frames[0].checks
    listed = [check.text for check in checks if not check.detail]
    details = [check.text for check in checks if check.detail]
    assert "counter.calls == 0" in listed and "x has size 2" in listed
    assert not [text for text in listed if "__" in text] and len(details) > 3
    place = next(check.location for check in checks if check.text == "counter.calls == 0")
    assert place.lineno == counted.__code__.co_firstlineno + 1


def test_the_text_shows_graph_effects_and_exit() -> None:
    text = str(explanation().frames[0].graph) + explanation().frames[0].effects + explanation().frames[0].exit
    for part in ("toy.mul", "-> ", "attribute.set counter calls, 1", "list.append history 'seen'", "break FL201"):
        assert part in text


@pytest.mark.torch
def test_a_module_is_shown_by_its_own_forward() -> None:
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def forward(self, x):
            return x + 1

    (frame,) = frameloom.explain(Net())(torch.ones(2)).frames
    assert frame.name.endswith("Net.forward, called by Module._wrapped_call_impl")
    assert [line.text.strip() for line in frame.source] == ["def forward(self, x):", "return x + 1"]
    assert any(check.text.startswith("args[0] is a Tensor float32[2]") and not check.detail for check in frame.checks)
