"""Operations that refuse their arguments: caught inside, the exception is eager's, message included; uncaught, it is eager's own."""
from __future__ import annotations

import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch


REFUSED = {
    "broadcast": lambda x: x + torch.ones(7),
    "product": lambda x: x @ torch.ones(7, 7),
    "view": lambda x: x.view(5),
    "dimension": lambda x: x.sum(9),
    "join": lambda x: torch.cat([x, torch.ones(1)]),
    "index": lambda x: x[11],
    "type": lambda x: torch.bmm(x, x),
    "argument": lambda x: x.transpose("a", 0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_caught_inside(name):
    refused = REFUSED[name]

    def caught(x):
        try:
            return refused(x)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            return type(error).__name__, error.args, x + 1

    x = torch.ones(2, 3)
    expected, actual = caught(x), frameloom.compile(caught, backend="eager")(x)
    assert actual[:2] == expected[:2]
    assert torch.equal(actual[2], expected[2])


@pytest.mark.parametrize("name", REFUSED)
def test_uncaught(name):
    refused = REFUSED[name]
    x = torch.ones(2, 3)
    with pytest.raises(Exception) as expected:
        refused(x)
    with pytest.raises(expected.type) as actual:
        frameloom.compile(lambda x: refused(x + 0), backend="eager", fullgraph=True)(x)
    assert actual.value.args == expected.value.args


def test_a_trial_leaves_the_random_numbers_alone():
    def draws(x):
        try:
            torch.normal(x, -x)
        except RuntimeError:
            pass
        return torch.rand(2)

    compiled = frameloom.compile(draws, backend="eager")
    results = []
    for run in (draws, compiled):
        torch.manual_seed(3)
        results.append((run(torch.ones(2)), torch.rand(1)))
    assert all(torch.equal(a, b) for a, b in zip(*results))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_failure_in_the_graph_prints_nothing(backend, capfd):
    def factor(x):
        try:
            return torch.linalg.cholesky(x @ x.T - 1000)
        except RuntimeError:
            return x * 0

    compiled = frameloom.compile(factor, backend=backend)
    for _ in range(2):
        assert torch.equal(compiled(torch.ones(2, 3)), torch.zeros(2, 3))
    assert capfd.readouterr() == ("", "")
