"""`torch.autograd.grad` in captured code, and results that become leaves: whole where the graph runs as it is, else eager's."""
from __future__ import annotations

from typing import Any, Callable

import pytest
import torch
from torch import nn
from torch.autograd import grad
from torch.autograd.functional import hessian, hvp, jacobian, jvp, vjp
from torch.nn import functional as F

import frameloom
from tests.pytorch.test_transforms import PARAMETER, WEIGHT, assert_same, outcome

pytestmark = pytest.mark.torch
MODEL = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def leaf(x):
    return x.detach().requires_grad_()


def penalty(x):
    t = leaf(x)
    y = (t ** 3 * PARAMETER).sum()
    (g,) = grad(y, t, create_graph=True)
    return y + g.square().sum()


def gradient_penalty_of_a_model(x):
    mixed = leaf(x * 0.3 + 0.7)
    (g,) = grad(MODEL(mixed).sum(), mixed, create_graph=True)
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


def three_times(x):
    t = leaf(x)
    first = grad((t ** 4).sum(), t, create_graph=True)[0]
    second = grad(first.sum(), t, create_graph=True)[0]
    return first, second, grad(second.sum(), [t], retain_graph=True)[0]


def by_an_intermediate(x):
    t = leaf(x)
    y = t.sin()
    z = (y * y).sum()
    return grad(z, (y, t), retain_graph=True), grad(z, t)


def expanded(x):
    t = leaf(x)
    (g,) = grad(t.sum(), t)
    return g, g.stride(), g.is_contiguous(), (g + 1).stride()


def the_very_weight(x):
    t, u = leaf(x), leaf(x)
    weight = torch.ones_like(x)
    a, b = grad(t + u, [t, u], weight)
    return a is b, a is weight, a


def views_of_one_gradient(x):
    t = leaf(x)
    v = t.view(-1)
    a, b = grad(v * 2, [t, v], torch.ones(6))
    a.mul_(3)
    return a, b


def weighted(x):
    t = leaf(x)
    return grad([t.sum(), t * 2], t, [None, x.detach()], retain_graph=True), grad((t.exp(),), (t,), grad_outputs=(x,))


def unused(x):
    t, u = leaf(x), leaf(x)
    found = grad(t.sum(), (t, u), allow_unused=True)
    zeros = grad((t * 2).sum(), (t, u), materialize_grads=True)
    return found[0], found[1] is None, zeros


def by_names(x):
    named = {"a": leaf(x), "b": leaf(x)}
    found = grad((named["a"] * named["b"]).sum(), named)
    return found


def batched(x):
    t = leaf(x[0])
    return grad(t ** 2, t, torch.eye(3), is_grads_batched=True)


def under_no_grad(x):
    t = leaf(x)
    y = (t ** 2).sum()
    with torch.no_grad():
        (g,) = grad(y, t)
        t -= 0.1 * g
    return t


def a_step_inside(x):
    weights = [leaf(WEIGHT), leaf(WEIGHT * 2)]
    for _ in range(3):
        loss = F.mse_loss((x.detach() * weights[0]).tanh() @ weights[1], x.detach().sum(1))
        gradients = grad(loss, weights)
        weights = [leaf(w - 0.1 * g) for w, g in zip(weights, gradients)]
    return weights


def dropped(x):
    t = leaf(x)
    y = F.dropout(t * 2, 0.5).sum()
    return grad(y, t)


def through_a_function(x):
    t = leaf(x)
    return grad(Doubled.apply(t).sum(), t)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[0]


def functional(x):
    return jacobian(lambda a, b: a * b.sum(), (x, x + 1)), vjp(torch.exp, x, x)


def functional_of_second_order(x):
    return hessian(lambda a: (a ** 3).sum(), x), hvp(lambda a: (a ** 3).sum(), x, x), jvp(torch.sin, x, x)


def asked_of_a_leaf(x):
    t = leaf(x)
    return t.is_leaf, t.requires_grad, (t * 2).is_leaf, t


WHOLE = [
    penalty, gradient_penalty_of_a_model, three_times, by_an_intermediate, expanded, the_very_weight, views_of_one_gradient, weighted, unused,
    by_names, batched, under_no_grad, a_step_inside, dropped, through_a_function, functional, functional_of_second_order, asked_of_a_leaf,
]


def derived_again(x):
    t = leaf(x)
    y = (t ** 2).sum()
    grad(y, t)
    return grad(y, t)


def derived_by_a_constant(x):
    return grad(x.detach().sum(), x.detach())


def hooked_before(x):
    t = leaf(x)
    t.register_hook(lambda g: g * 2)
    return grad((t ** 2).sum(), t)


def unused_and_refused(x):
    t = leaf(x)
    return grad(t.sum(), (t, leaf(x)))


def viewed_before(x):
    y = x.detach()
    v = y[0]
    y.requires_grad_()
    return v.requires_grad, (y * 2).sum()


def not_a_leaf(x):
    y = x.detach().requires_grad_() * 2
    return y.requires_grad_(False)


OTHER = [derived_again, derived_by_a_constant, hooked_before, unused_and_refused, viewed_before, not_a_leaf]


def shown(function: Callable, called: Callable, graded: bool) -> list:
    torch.manual_seed(0)
    MODEL.zero_grad()
    return [*outcome(function, called, graded), *[p.grad for p in MODEL.parameters()], torch.rand(1)]


@pytest.mark.parametrize("graded", [False, True], ids=["plain", "graded"])
@pytest.mark.parametrize("function", WHOLE)
def test_whole(function: Callable, graded: bool) -> None:
    assert_same(shown(function, frameloom.compile(function, backend="eager", fullgraph=True), graded), shown(function, function, graded))


@pytest.mark.parametrize(
    ("function", "backend"),
    [*[(function, "eager") for function in OTHER], *[(function, "aot_eager") for function in [*WHOLE, *OTHER] if function is not viewed_before]],
)
def test_equal(function: Callable, backend: str) -> None:
    """Where AOTAutograd gives back a view, it is none to autograd: one function is left out."""
    assert_same(shown(function, frameloom.compile(function, backend=backend), True), shown(function, function, True))


@frameloom.compile(backend="eager")
def by_an_input(x: torch.Tensor, w: torch.Tensor) -> Any:
    (g,) = grad((x * w).exp().sum(), w, create_graph=True)
    return g, (g * x).sum()


def test_inputs_and_their_hooks() -> None:
    def run(function: Callable) -> list:
        x, w = torch.linspace(0, 1, 3, requires_grad=True), torch.linspace(1, 2, 3, requires_grad=True)
        seen: list = []
        first = function(x, w)
        first[1].backward()
        handle = w.register_hook(lambda g: seen.append(1) or g * 3)
        second = function(x, w)
        handle.remove()
        product = w * 2
        return [*first, *second, *function(x, product), x.grad, w.grad, len(seen)]

    assert_same(run(by_an_input), run(by_an_input.__wrapped__))


def test_sizes_vary() -> None:
    def f(x: torch.Tensor) -> Any:
        t = leaf(x)
        return grad((t ** 2).sum() * t.shape[0], t)[0]

    called = frameloom.compile(f, backend="eager", fullgraph=True)
    for size in (2, 3, 5, 7):
        x = torch.arange(float(size * 3)).view(size, 3)
        assert torch.equal(called(x), f(x))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_second_derivatives_whatever_the_backend(backend: str) -> None:
    def run(function: Callable) -> list:
        x, w = torch.linspace(0, 1, 3, requires_grad=True), torch.linspace(1, 2, 3, requires_grad=True)
        gradient, loss = function(x, w)
        loss.backward()
        return [gradient, loss, x.grad, w.grad]

    plain = by_an_input.__wrapped__
    assert_same(run(frameloom.compile(plain, backend=backend, fullgraph=True)), run(plain))
    assert "not compiled" in str(frameloom.explain(plain, backend=backend)(torch.ones(3), torch.ones(3, requires_grad=True)))
