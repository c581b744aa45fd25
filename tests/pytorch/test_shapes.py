"""Sizes that vary: when they become symbolic, what may be asked of them, and that every answer is guarded."""
from __future__ import annotations

import math

import pytest
import torch

import frameloom
from frameloom.pytorch import marks, shapes
from frameloom.pytorch.shapes import DynamicDimension
from tests.models.recorder import Recorder
from tests.pytorch.hand import Hand

pytestmark = pytest.mark.torch


def graphs(function, calls, **settings):
    """The number of graphs that the calls need; each result must be eager's."""
    recorder = Recorder()
    compiled = frameloom.compile(function, backend=recorder, **settings)
    for args in calls:
        expected, actual = function(*args), compiled(*args)
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)
    return recorder.graphs


def rows(*counts):
    return [(torch.arange(float(n * 3)).view(n, 3),) for n in counts]


def test_a_size_that_changed_is_symbolic_then():
    assert graphs(lambda x: x.view(-1) * x.shape[0], rows(4, 4, 5, 6, 7)) == 2


def test_zero_and_one_are_never_symbolic():
    assert graphs(lambda x: x * 2, rows(4, 5, 1, 0, 6, 1, 0)) == 4


def test_dynamic_true_and_false():
    assert graphs(lambda x: x * 2, rows(4, 5, 6), dynamic=True) == 1
    assert graphs(lambda x: x * 2, rows(4, 5, 6), dynamic=False) == 3


def test_marks():
    marked = rows(4, 5, 6)
    marks.mark_dynamic(marked[0][0], 0)
    assert graphs(lambda x: x * 2, marked) == 1
    fixed = rows(4, 5, 6)
    for (tensor,) in fixed:
        marks.mark_static(tensor)
    assert graphs(lambda x: x * 2, fixed, dynamic=True) == 3


def test_two_tensors_that_grow_together():
    calls = [(torch.ones(n, 3), torch.ones(n, 3)) for n in (4, 5, 6, 7)]
    assert graphs(lambda x, y: torch.cat([x, y]) + x.shape[0], calls) == 2


def test_two_tensors_that_stop_growing_together():
    calls = [(torch.ones(n, 3), torch.ones(m, 3)) for n, m in ((4, 4), (5, 5), (6, 7), (8, 9))]
    assert graphs(lambda x, y: torch.cat([x, y]), calls) <= 3


def branching(x):
    return x * 2 if x.shape[0] > 5 else x * 3


def test_answers_are_guarded():
    assert graphs(branching, rows(4, 7, 8, 5, 3, 20)) == 3


def test_transposed_inputs_are_told_apart():
    assert graphs(lambda x: (x * 2, x.is_contiguous()), [(torch.ones(4, 3),), (torch.ones(5, 3),), (torch.ones(3, 6).T,)]) == 3


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape(x.shape[0] * 3),
        lambda x: x.view(x.size(0), 3, 1).expand(-1, -1, x.shape[0]),
        lambda x: torch.zeros(x.shape[0], x.shape[1] + 1) + torch.arange(x.shape[0])[:, None],
        lambda x: x[: x.shape[0] // 2],
        lambda x: x[-1] + len(x),
        lambda x: x.sum() / x.shape[0],
        lambda x: x * (x.numel() - x.shape[0] % 3),
        lambda x: x * math.sqrt(x.shape[0]),
        lambda x: torch.stack([x[i] for i in range(x.shape[0])]),
        lambda x: x.new_zeros(x.shape) + max(x.shape),
        lambda x: x.unflatten(0, (1, -1)).flatten(),
        lambda x: (x.shape == torch.Size([5, 3]), x * 1)[1],
        lambda x: torch.nn.functional.pad(x, (0, 0, 0, 8 - x.shape[0])),
        lambda x: x * float(x.shape[0]),
        lambda x: x.repeat(2, 1).chunk(2)[0],
        lambda x: torch.ones(int(x.shape[0])) * -x.shape[0],
    ],
)
def test_what_is_asked_of_sizes(function):
    assert graphs(function, rows(4, 5, 6, 7, 2)) <= 5


def test_a_whole_number_that_changes_is_symbolic():
    """A number that is guarded by value would be a new graph at every call; one that the program counts up is read instead."""

    class Counter:
        step = 0

    counter = Counter()

    def count(x):
        counter.step += 1
        return x * counter.step

    recorder = Recorder()
    compiled = frameloom.compile(count, backend=recorder)
    for number in range(1, 9):
        assert compiled(torch.ones(2)).tolist() == [float(number)] * 2
    assert recorder.graphs <= 3


def test_decisions_are_drawn_from_sizes_alone():
    from frameloom.pytorch.fakes import fact_of
    from frameloom.pytorch.guards import tensor_payload

    hand = Hand(x=torch.ones(4, 3))
    source = hand.nodes["x"].real.source
    wanted = tensor_payload(torch.ones(4, 3), fact_of(torch.ones(4, 3)), True)
    assert shapes.decide(source, wanted, torch.ones(5, 3)) == {DynamicDimension("x", 0)}
    assert shapes.decide(source, wanted, torch.ones(5, 7)) == {DynamicDimension("x", 0), DynamicDimension("x", 1)}
    for other in (torch.ones(4, 3), torch.ones(1, 3), torch.ones(4), torch.nn.Parameter(torch.ones(5, 3)), 5, None):
        assert shapes.decide(source, wanted, other) == frozenset()


def test_the_guard_says_what_it_checks():
    hand = Hand(decisions=frozenset({DynamicDimension("x", 0)}), x=torch.ones(7, 3))
    x = hand.nodes["x"]
    size = hand.attribute(x, "shape").body.items[0]
    assert hand.operate(">", size, 5).value is True
    hand.run(hand.operate("*", x, 2))
    assert hand.guards_hold(x=torch.ones(6, 3))
    (failing,) = hand.failing(x=torch.ones(5, 3))
    assert "x.shape[0] > 5" in failing and "s64" not in failing
    assert not hand.guards_hold(x=torch.ones(6, 4))
    assert not hand.guards_hold(x=torch.ones(6, 6)[:, :3])


def test_symbols_of_one_trace_are_not_those_of_another():
    answers = []
    for size in (7, 3):
        hand = Hand(dynamic=True, x=torch.ones(size, 2))
        shape = hand.attribute(hand.nodes["x"], "shape").body.items
        answers.append(hand.operate(">", shape[0], 5).value)
    assert answers == [True, False]


@pytest.mark.parametrize("divided", [lambda n: 7 % n, lambda n: 7 // n, lambda n: divmod(7, n)], ids=["%", "//", "divmod"])
def test_a_symbolic_size_that_is_zero_divides_nothing(divided):
    """The program's own handler gets the ZeroDivisionError, and other sizes have no part in it."""

    def tail(x, n):
        try:
            return x[n:] + 1, divided(x[n:].shape[0])
        except ZeroDivisionError as error:
            return x, str(error)

    compiled = frameloom.compile(tail, backend="eager")
    for n in (1, 2, 3, 5, 4, 5, 1):
        expected, found = tail(torch.ones(5), n), compiled(torch.ones(5), n)
        assert torch.equal(found[0], expected[0]) and found[1] == expected[1]
    assert not frameloom.stats().eager and frameloom.stats().graphs == 3
