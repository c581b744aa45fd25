"""What backends that make backward graphs, and take writes out of graphs, would do otherwise than eager torch does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F

import frameloom

pytestmark = pytest.mark.torch


def outcome(call: Callable, *given: Any) -> Any:
    try:
        return call(*given)
    except RuntimeError as error:
        return type(error)


@pytest.fixture(params=["eager", "aot_eager"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


def kept_and_written(x: Any) -> Any:
    y = x.exp()
    y.add_(1)
    return y


def leaf_written(x: Any) -> Any:
    y = x * x
    with torch.no_grad():
        x.sub_(0.1)
    return y


@pytest.mark.parametrize("program", [kept_and_written, leaf_written])
def test_a_backward_that_fails_does_so_when_asked_for(program: Callable, backend: str, recwarn: Any) -> None:
    compiled = frameloom.compile(program, backend=backend)
    for rows in (3, 5):
        given = [torch.ones(rows, requires_grad=True) for _ in range(2)]
        results = program(given[0]), compiled(given[1])
        assert torch.equal(*results) and torch.equal(*given)
        assert not [warning for warning in recwarn if "Error detected" in str(warning.message)]
        for result in results:
            with pytest.raises(RuntimeError, match="inplace operation"):
                result.sum().backward()


def made_inside(x: Any) -> Any:
    weight = torch.ones(3, requires_grad=True)
    (x * weight).sum().backward()
    return weight.grad, weight.is_leaf


def made_large(x: Any, out: Any) -> Any:
    torch.mul(x, 2, out=out)
    return out.sum()


def by_data(x: Any) -> Any:
    x.data.add_(1)
    return x * 2


def test_equal(backend: str) -> None:
    for program, make in (
        (made_inside, lambda: (torch.ones(3),)),
        (made_large, lambda: (torch.ones(4, 3), torch.empty(0))),
        (by_data, lambda: (torch.ones(3, requires_grad=True),)),
    ):
        compiled = frameloom.compile(program, backend=backend)
        for _ in range(2):
            given = make(), make()
            expected, found = program(*given[0]), compiled(*given[1])
            torch.testing.assert_close(found, expected, rtol=0, atol=0)
            torch.testing.assert_close(given[1], given[0], rtol=0, atol=0)


@pytest.mark.parametrize("layer", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_recurrent_layers_train(layer: Callable, backend: str) -> None:
    """With one graph before the layer and one behind it, for sequences of any length."""
    torch.manual_seed(0)
    layer = layer(3, 4, batch_first=True)

    def program(x: Any) -> Any:
        states, _ = layer(x * 2)
        return states.relu().sum()

    compiled = frameloom.compile(program, backend=backend)
    for length in (3, 5, 7):
        x = torch.ones(2, length, 3)
        expected = torch.autograd.grad(program(x), layer.parameters())
        found = torch.autograd.grad(compiled(x), layer.parameters())
        torch.testing.assert_close(found, expected)
    stats = frameloom.stats()
    assert backend == "eager" or (stats.graphs, stats.breaks["FL322"]) == (4, 2), stats


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("p", "training"), [(0.5, False), (0.0, True)])
def test_dropout_that_drops_nothing_gives_its_argument(p: float, training: bool, dynamic: bool, backend: str) -> None:
    def program(x: Any) -> Any:
        y = F.dropout(x, p, training)
        y.add_(1)
        return y, x * 2

    given = torch.ones(4, 3)
    found, doubled = frameloom.compile(program, backend=backend, dynamic=dynamic)(given)
    assert found is given and torch.equal(given, torch.full((4, 3), 2.0)) and torch.equal(doubled, given * 2)


def asked(x: Any) -> Any:
    y = x * 2
    with torch.no_grad():
        row = y[0]
    seen = (x, y, row, y.detach(), y.detach()[0], y.view(-1), y.clone().add_(1), y.data, y.reshape(-1))
    return [each._is_view() for each in seen]


def test_whether_a_tensor_is_a_view(backend: str) -> None:
    compiled = frameloom.compile(asked, backend=backend, fullgraph=True)
    for make in (lambda: torch.ones(2, 3), lambda: torch.ones(4, 2, 3)[1], lambda: torch.ones(2, 3)):
        assert compiled(make()) == asked(make())
