"""`torch.utils.checkpoint`: in one graph where running its function twice does not show; gradients and random numbers are eager's."""
from __future__ import annotations

import functools
import random
from typing import Any, Callable

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

import frameloom
from tests.models.reference import reference

pytestmark = pytest.mark.torch


def block(x, w, scale=1.0):
    y = torch.tanh(x @ w)
    y = nn.functional.dropout(y, 0.5)
    return torch.sin(y) @ w * scale


def once(x, w):
    return checkpoint(block, x * 2, w, use_reentrant=False)


def several(x, w):
    for _ in range(3):
        x = checkpoint(block, x, w, scale=0.5, use_reentrant=False, preserve_rng_state=True)
    return x + torch.rand(1)


def inner(x, w):
    return checkpoint(block, x.exp(), w, use_reentrant=False).cos()


def nested(x, w):
    return checkpoint(inner, x, w, use_reentrant=False, early_stop=False)


def in_autocast(x, w):
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        return checkpoint(block, x, w, use_reentrant=False)


def without_random(x, w):
    return checkpoint(lambda x: (x @ w).relu().exp(), x, use_reentrant=False, preserve_rng_state=False)


def without_gradients(x, w):
    with torch.no_grad():
        y = checkpoint(block, x, w, use_reentrant=False)
    return y + x


def in_parts(x, w):
    layers = [lambda x: x @ w, torch.tanh, lambda x: nn.functional.dropout(x, 0.3), torch.sin]
    return checkpoint_sequential(layers, 2, x, use_reentrant=False)


def partial(x, w):
    return checkpoint(functools.partial(block, scale=2.0), x, w=w, use_reentrant=False)


def outcome(function: Callable, wrap: Callable) -> Any:
    torch.manual_seed(0)
    random.seed(0)
    x, w = torch.randn(3, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)
    result = wrap(function)(x, w)
    between = torch.get_rng_state()
    result.float().sum().backward()
    gradients = [torch.empty(0) if t.grad is None else t.grad for t in (x, w)]
    return [result, *gradients, between, torch.get_rng_state()], random.random()


def assert_same(found: Any, expected: Any) -> None:
    assert found[1] == expected[1]
    assert all(torch.equal(one, other) for one, other in zip(found[0], expected[0], strict=True))


WHOLE = [once, several, nested, in_autocast, without_random, without_gradients, in_parts, partial]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", WHOLE)
def test_one_graph(function: Callable, backend: str) -> None:
    with reference():
        expected = outcome(function, lambda f: f)
    compiled = frameloom.compile(function, backend=backend, fullgraph=True)
    for _ in range(2):
        assert_same(outcome(function, lambda f: compiled), expected)
    assert frameloom.stats().graphs == 1


def test_results_inside_are_computed_again() -> None:
    """A backend that makes a backward graph keeps the inputs of the region, not what is computed in it."""
    kept: list[int] = []

    def chain(x, w):
        return checkpoint(lambda x: x.sin().cos().tanh().exp().sin().cos(), x, use_reentrant=False)

    def plain(x, w):
        return x.sin().cos().tanh().exp().sin().cos()

    for function in (chain, plain):
        compiled = frameloom.compile(function, backend="aot_eager")
        x = torch.ones(3, requires_grad=True)
        result = compiled(x, x)
        kept.append(len(result.grad_fn.saved_tensors))
    assert kept[0] < kept[1]


COUNT = [0]
TABLE = torch.zeros(3)


def counts(x, w):
    COUNT[0] += 1
    return torch.tanh(x @ w)


def writes(x, w):
    TABLE.add_(1)
    return torch.tanh(x @ w)


def prints(x, w):
    print("here")
    return torch.tanh(x @ w)


def draws(x, w):
    return torch.tanh(x @ w) * random.random()


def breaks(x, w):
    y = torch.tanh(x @ w)
    frameloom.graph_break()
    return nn.functional.dropout(y, 0.5)


def normalises(x, w):
    return NORM(x @ w).tanh()


NORM = nn.BatchNorm1d(3)
TWICE = [counts, writes, prints, draws, breaks, normalises]


@pytest.mark.parametrize("body", [*TWICE, block], ids=lambda f: f.__name__)
@pytest.mark.parametrize("given", [{"use_reentrant": False}, {"use_reentrant": True}], ids=str)
def test_what_shows_when_it_is_done_twice_is_left_to_eager(body: Callable, given: dict, capsys: Any) -> None:
    def step(x, w):
        return checkpoint(body, x * 2, w, **given).sin()

    def seen(wrap: Callable) -> Any:
        COUNT[0] = 0
        TABLE.zero_()
        NORM.reset_running_stats()
        found, drawn = outcome(step, wrap)
        state = [TABLE.clone(), NORM.running_mean.clone(), NORM.num_batches_tracked.clone()]
        return found + state, (drawn, COUNT[0], capsys.readouterr().out)

    with reference():
        expected = seen(lambda f: f)
    compiled = frameloom.compile(step, backend="eager")
    for _ in range(2):
        assert_same(seen(lambda f: compiled), expected)
    whole = body is block
    assert bool(frameloom.stats().breaks) is not whole


def test_random_numbers_drawn_anew_are_left_to_eager() -> None:
    def step(x, w):
        return checkpoint(block, x, w, use_reentrant=False, preserve_rng_state=False)

    assert_same(outcome(step, frameloom.compile(backend="eager")), outcome(step, lambda f: f))
    assert set(frameloom.stats().breaks) == {"FL314"}


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_model_with_checkpointed_layers(backend: str) -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up, self.down, self.norm = nn.Linear(6, 12), nn.Linear(12, 6), nn.LayerNorm(6)

        def forward(self, x):
            return x + nn.functional.dropout(self.down(torch.nn.functional.gelu(self.up(self.norm(x)))), 0.1, self.training)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(Layer() for _ in range(3))

        def forward(self, x):
            for layer in self.layers:
                x = checkpoint(layer, x, use_reentrant=False)
            return x

    def train(wrap: Callable) -> list:
        torch.manual_seed(0)
        model = Model()
        run = wrap(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(4):
            loss = run(torch.randn(4, 6)).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return [*losses, *model.parameters(), *[p.grad for p in model.parameters()], torch.get_rng_state()]

    with reference():
        expected = train(lambda model: model)
    found = train(frameloom.compile(backend=backend, fullgraph=True))
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


FACTOR = nn.Parameter(torch.linspace(-1, 1, 9).view(3, 3))


def reentered(x, w):
    return checkpoint(block, x * 2, w, 0.5, use_reentrant=True).sin()


def reentered_with_what_is_closed_over(x, w):
    y = w.exp()
    first, second = checkpoint(lambda x: (x @ FACTOR + y, (x * w).tanh()), x, use_reentrant=True)
    return first * second


def reentered_twice(x, w):
    return checkpoint(lambda x: checkpoint(block, x, w, use_reentrant=True), x, use_reentrant=True)


def reentered_without_random(x, w):
    return checkpoint(lambda x, w: (x @ w).relu(), x, w, use_reentrant=True, preserve_rng_state=False)


def reentered_with_its_argument(x, w):
    return checkpoint(lambda x, w: (x, x @ w), x * 1, w, use_reentrant=True)[1] * 2


REENTRANT = [reentered, reentered_with_what_is_closed_over, reentered_without_random, reentered_with_its_argument]


def asks_for_the_mode(x, w):
    return checkpoint(lambda x: x * (2.0 if torch.is_grad_enabled() else 3.0), x, use_reentrant=True)


def reentered_without_gradients(x, w):
    with torch.no_grad():
        y = checkpoint(block, x, w, use_reentrant=True)
    return y + x


def reentered_and_counted(x, w):
    return checkpoint(counts, x, w, use_reentrant=True)


def with_the_parameter(function: Callable, wrap: Callable) -> Any:
    FACTOR.grad = None
    tensors, number = outcome(function, wrap)
    return [*tensors, torch.zeros(0) if FACTOR.grad is None else FACTOR.grad, torch.tensor(float(COUNT[0]))], number


@pytest.mark.parametrize("function", REENTRANT)
def test_reentrant(function: Callable) -> None:
    COUNT[0] = 0
    expected = with_the_parameter(function, lambda f: f)
    compiled = frameloom.compile(function, backend="eager", fullgraph=True)
    for _ in range(2):
        assert_same(with_the_parameter(function, lambda f: compiled), expected)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [*REENTRANT, asks_for_the_mode, reentered_without_gradients, reentered_and_counted, reentered_twice])
def test_reentrant_otherwise(function: Callable, backend: str) -> None:
    COUNT[0] = 0
    expected = with_the_parameter(function, lambda f: f)
    COUNT[0] = 0
    assert_same(with_the_parameter(function, lambda f: frameloom.compile(function, backend=backend)), expected)
    assert bool(frameloom.stats().breaks) is not (backend == "eager" and function in REENTRANT)


def test_reentrant_refuses_what_eager_refuses() -> None:
    x = torch.ones(3, 3, requires_grad=True)
    for called in (reentered, frameloom.compile(reentered, backend="eager", fullgraph=True)):
        with pytest.raises(RuntimeError, match="incompatible"):
            torch.autograd.grad(called(x, x).sum(), x)
