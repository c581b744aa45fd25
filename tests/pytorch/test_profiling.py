"""Regions of `record_function`: labels and what runs in them are eager's, with and without a profiler."""
from __future__ import annotations

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, record_function

import frameloom

pytestmark = pytest.mark.torch


@frameloom.disable
def pause():
    return None


def labelled(x):
    with record_function("forward"):
        y = x.sin()
    return y.cos()


def nested(x):
    with record_function("outer", "of two"):
        y = x.sin()
        with record_function("inner"):
            y = y.cos()
        return y.tan()


def twice(x):
    for _ in range(2):
        with record_function("loop"):
            x = x.sin()
    return x


def raised(x):
    try:
        with record_function("left"):
            y = x.sin()
            raise KeyError(1)
    except KeyError:
        return y.cos()


def broken_inside(x):
    with record_function("broken"):
        y = x.sin()
        pause()
        y = y.cos()
    return y


@record_function("decorated")
def decorated(x):
    return x.sin()


def by_a_decorated_one(x):
    return decorated(x).cos()


def by_hand(x):
    region = record_function("by hand")
    region.__enter__()
    y = x.sin()
    region.__exit__(None, None, None)
    return y.cos()


def nothing_inside(x):
    with record_function("empty"):
        pass
    return x.sin()


FUNCTIONS = (labelled, nested, twice, raised, broken_inside, by_a_decorated_one, by_hand, nothing_inside)
SHOWN = {"aten::sin", "aten::cos", "aten::tan"}


def events(function, *args):
    """What a call gives, and of the labels and operations in it which lies in which."""
    with profile(activities=[ProfilerActivity.CPU]) as found:
        result = function(*args)
    labels = {event.name for event in found.events() if event.is_user_annotation}
    seen = [event for event in found.events() if event.name in SHOWN | labels]
    return result.tolist(), [(event.name, around(event, labels)) for event in sorted(seen, key=lambda event: event.time_range.start)]


def around(event, labels):
    parent = event.cpu_parent
    while parent is not None and parent.name not in labels:
        parent = parent.cpu_parent
    return None if parent is None else parent.name


@pytest.mark.parametrize("backend", ("eager", "aot_eager"))
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_regions(function, backend):
    frameloom.reset()
    compiled = frameloom.compile(function, backend=backend)
    x = torch.ones(2)
    assert compiled(x).tolist() == function(x).tolist()
    events(compiled, x)  # what a backend tries while it compiles is seen as well
    assert events(compiled, x) == events(function, x)
    assert compiled(x).tolist() == function(x).tolist()
    assert not frameloom.stats().eager


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f is not broken_inside], ids=lambda function: function.__name__)
def test_whole_under_a_profiler(function):
    frameloom.reset()
    events(frameloom.compile(function, backend="eager"), torch.ones(2))
    assert not frameloom.stats().breaks


def test_profiler_is_guarded():
    frameloom.reset()
    compiled = frameloom.compile(labelled, backend="eager")
    for _ in range(3):
        compiled(torch.ones(2))
        events(compiled, torch.ones(2))
    assert frameloom.stats().entries == 2


def test_region_that_leaves_the_function():
    frameloom.reset()

    def entered(x):
        region = record_function("left open")
        region.__enter__()
        return region, x.sin()

    compiled = frameloom.compile(entered, backend="eager")
    with profile(activities=[ProfilerActivity.CPU]) as found:
        region, y = compiled(torch.ones(2))
        y.cos()
        region.__exit__(None, None, None)
    inside = [event.name for event in found.events() if around(event, {"left open"}) == "left open"]
    assert [name for name in inside if name in SHOWN] == ["aten::sin", "aten::cos"]
