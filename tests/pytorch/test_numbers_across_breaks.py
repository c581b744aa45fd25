"""Numbers taken out of tensors that cross a break: two compiles for each place, whatever the values are."""

from __future__ import annotations

import torch

import frameloom


@frameloom.disable
def note() -> None:
    pass


def scaled(x):
    s = x.sum().item()
    note()
    return x * s + s * 2 - s / 3


def counted(x):
    n = int(x.sum().item())
    note()
    return x * n + torch.ones(3) * (n + 1)


def branching(x):
    s = x.sum().item()
    note()
    return x * s if s > 3 else x - s


def rate(x, lr):
    return x - x * lr


def _run(function, calls) -> int:
    frameloom.reset()
    compiled = frameloom.compile(function, backend="eager")
    for arguments in calls:
        assert torch.equal(compiled(*arguments).nan_to_num(7.0), function(*arguments).nan_to_num(7.0))
    assert not frameloom.stats().eager
    return frameloom.stats().graphs


def full(*values):
    return [(torch.full((3,), value),) for value in values]


def test_floats() -> None:
    # Before item(), and twice behind the second break.
    assert _run(scaled, full(0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0, float("nan"), -0.0, float("inf"))) == 3


def test_whole_numbers() -> None:
    # 0, 1 and what is below are no symbolic numbers: one graph more.
    assert _run(counted, full(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.0, -1.0, 8.0)) <= 6


def test_branches() -> None:
    assert _run(branching, full(0.5, 0.6, 0.7, 0.8, 2.0, 3.0, 4.0, 0.1)) == 4


def test_a_learning_rate() -> None:
    assert _run(rate, [(torch.ones(3), value) for value in (0.1, 0.01, 0.001, 0.5, 1.5)]) == 2
