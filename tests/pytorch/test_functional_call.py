"""Modules called with other parameters than their own: captured whole, and the modules are left as they were."""
from __future__ import annotations

from typing import Any, Callable

import numpy
import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, jvp, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

import frameloom

pytestmark = pytest.mark.torch


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 2)

    def forward(self, x: torch.Tensor, factor: float = 1) -> torch.Tensor:
        if factor == 0:
            raise ValueError("factor")
        return self.last(self.norm(self.first(x))) * factor


def doubled(net: Net, x: torch.Tensor) -> Any:
    return functional_call(net, {name: p * 2 for name, p in net.named_parameters()}, (x,), {"factor": 3})


def buffers(net: Net, x: torch.Tensor) -> Any:
    mean = torch.zeros(3)
    return functional_call(net, ({"first.weight": x[:3] * net.first.weight}, {"norm.running_mean": mean}), x), net(x), mean


def raises(net: Net, x: torch.Tensor) -> Any:
    try:
        return functional_call(net, {"last.bias": x[0, :2]}, (x, 0))
    except ValueError as error:
        return net(x), str(error)


def unknown(net: Net, x: torch.Tensor) -> Any:
    try:
        return functional_call(net, {"no.such": x}, (x,))
    except (KeyError, AttributeError) as error:
        return x, str(error)


def outcome(function: Callable, wrap: Callable) -> list:
    torch.manual_seed(0)
    net = Net()
    before = [*net.parameters(), *net.buffers()]
    x = torch.randn(4, 3)
    result = wrap(function)(net, x)
    assert all(one is other for one, other in zip([*net.parameters(), *net.buffers()], before, strict=True))
    given = result if isinstance(result, tuple) else (result,)
    graded = [t for t in given if isinstance(t, torch.Tensor) and t.requires_grad]
    if graded:
        sum(t.sum() for t in graded).backward()
    return [*given, *[p.grad for p in net.parameters()], *net.buffers()]


def assert_same(found: list, expected: list) -> None:
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [doubled, buffers, raises])
def test_whole(function: Callable, backend: str) -> None:
    compiled = frameloom.compile(function, backend=backend, fullgraph=True)
    for _ in range(2):
        assert_same(outcome(function, lambda f: compiled), outcome(function, lambda f: f))


def test_a_name_that_is_none() -> None:
    assert_same(outcome(unknown, frameloom.compile(backend="eager")), outcome(unknown, lambda f: f))


LAYER = nn.Linear(3, 2)


def each_gradient(x: torch.Tensor) -> Any:
    given = {name: p.detach() for name, p in LAYER.named_parameters()}
    return vmap(grad(lambda p, row: functional_call(LAYER, p, (row,)).sum()), (None, 0))(given, x)["weight"]


def forward_mode(x: torch.Tensor) -> Any:
    return jvp(torch.sin, (x + 1,), (x,))


def kernel(x: torch.Tensor) -> Any:
    with sdpa_kernel(SDPBackend.MATH):
        return nn.functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])


def numpy_random(x: torch.Tensor) -> Any:
    return x * float(numpy.random.rand()), numpy.random.randint(5)


def seeds(x: torch.Tensor) -> Any:
    torch.manual_seed(3)
    first = torch.rand(2) + x[0, :2]
    with torch.random.fork_rng():
        second = torch.rand(2)
    return first, second, torch.rand(2, generator=torch.Generator().manual_seed(1)), torch.rand(1)


def saved(x: torch.Tensor) -> Any:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        return (x * LAYER.weight[0]).sin()


class Labelled(torch.Tensor):
    pass


def subclass(x: torch.Tensor) -> Any:
    y = x.as_subclass(Labelled) + 1
    return y, type(y) is Labelled


def twice_derived(x: torch.Tensor) -> Any:
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return first, torch.autograd.grad(first.sum(), x)[0]


@pytest.mark.parametrize("function", [each_gradient, forward_mode, kernel, numpy_random, seeds, saved, subclass, twice_derived])
def test_what_is_left_to_eager_is_eagers(function: Callable) -> None:
    def run(wrap: Callable) -> list:
        torch.manual_seed(0)
        numpy.random.seed(0)
        result = wrap(torch.arange(6.0).view(2, 3))
        result = list(result) if isinstance(result, tuple) else [result]
        if function is saved:
            LAYER.weight.grad = None
            result[0].sum().backward()
            result.append(LAYER.weight.grad)
        return [*result, torch.get_rng_state(), float(numpy.random.rand())]

    backend = "eager" if function is twice_derived else "aot_eager"  # AOTAutograd's graphs have no second derivative
    compiled = frameloom.compile(function, backend=backend)
    for _ in range(2):
        assert_same(run(compiled), run(function))
    assert not {"FL901"} & set(frameloom.stats().eager)
