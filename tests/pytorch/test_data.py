"""`.data` of tensors, read, written through and replaced: values, gradients, versions and errors are eager's."""
from __future__ import annotations

import pytest
import torch
from torch import nn

import frameloom

pytestmark = pytest.mark.torch


OTHER = nn.Parameter(torch.full((3,), 7.0))


def read(x, w):
    return (x * w).sum() + w.data.abs().max()


def written_through(x, w):
    w.data.mul_(2)
    return (x * w).sum()


def written_through_behind(x, w):
    """What autograd saved is the tensor, whatever its numbers."""
    y = (x * w).sum()
    w.data.mul_(2)
    return y


def written_through_a_plain_one(x, w):
    scale = torch.ones(3)
    y = (w * scale).sum()
    scale.data.mul_(3)
    return y


def written_without_gradients(x, w):
    y = (x * w).sum()
    with torch.no_grad():
        w.data.add_(1)
    return y


def written_in_place_and_refused(x, w):
    y = (w * w).sum()
    with torch.no_grad():
        w.add_(1)
    return y


def swapped(x, w):
    kept = w.data
    w.data = w.data.round() / 2
    y = (x * w).sum()
    w.data = kept
    return y


def swapped_and_left(x, w):
    w.data = w.data.round() / 2
    return (x * w).sum()


def swapped_for_an_input(x, w):
    w.data = x
    return (w * 3).sum()


def shared_from_then_on(x, w):
    other = torch.ones(3)
    w.data = other
    other.mul_(5)
    with torch.no_grad():
        w.add_(1)
    return (w * 2).sum() + other.sum()


def left_behind(x, w):
    old = w.data
    w.data = torch.zeros(3)
    old.add_(4)
    y = (w * x).sum() + old.sum()
    w.data = old
    return y + w.sum()


def of_another_size(x, w):
    w.data = w.data[:2]
    return (w * x[:2]).sum()


def of_another_dtype(x, w):
    w.data = w.data.double()
    return (w * x).sum()


def turned(x, w):
    w.data = torch.stack([x, x * 2]).T
    return (w.sum(0) * w.stride(0)).sum()


def exchanged(x, w):
    w.data, OTHER.data = OTHER.data, w.data
    return (w * x).sum() + OTHER.sum()


def to_itself(x, w):
    w.data = w.data
    w.data -= 0.5
    return (w * x).sum()


def with_views(x, w):
    head = w[:2]
    w.data = torch.zeros(3)
    return head.sum() + w.sum()


def of_a_result(x, w):
    y = w * 2
    y.data = torch.ones(3)
    return (y * x).sum()


def of_a_plain_result(x, w):
    y = x * 2
    z = y
    y.data = torch.ones(2)
    return z.sum() + w.sum(), z.shape[0]


def of_a_plain_result_with_alias(x, w):
    y = x * 2
    alias = y.data
    y.data = torch.ones(2)
    alias += 1
    return y.sum() + w.sum(), alias, y.shape


def of_wrong_class(x, w):
    try:
        w.data = None
    except TypeError as error:
        return w.sum(), type(error).__name__
    return w.sum()


def saved_before_the_swap(x, w):
    y = (w * w).sum()
    w.data = torch.full((3,), 3.0)
    return y


def without_gradients(x, w):
    with torch.no_grad():
        w.data = x.data + 1
        w.data.clamp_(max=2)
    return (w * w).sum()


def told(x, w):
    found = w.data
    return (w * 1).sum(), found.requires_grad, found.is_leaf, type(found).__name__, found is w, found._is_view() if False else None


def step(x, w):
    (w * x).sum()
    if w.grad is not None:
        w.data.add_(w.grad.data, alpha=-0.1)
    return (w * x).sum()


FUNCTIONS = (
    read, written_through, written_through_behind, written_through_a_plain_one, written_without_gradients, written_in_place_and_refused,
    swapped, swapped_and_left, swapped_for_an_input, shared_from_then_on, left_behind, of_another_size, of_another_dtype, turned, exchanged,
    to_itself, with_views, of_a_result, of_a_plain_result, of_a_plain_result_with_alias, of_wrong_class, saved_before_the_swap,
    without_gradients, told, step,
)
BROKEN = (of_another_dtype, with_views, of_a_result, of_wrong_class)


def shown(value):
    if isinstance(value, torch.Tensor):
        return value.detach().tolist(), value.dtype, value.requires_grad, value.stride()
    return value


def outcome(function):
    """What two calls give and leave behind, each with its backward."""
    seen = []
    w, x = nn.Parameter(torch.tensor([0.4, 1.6, -2.2])), torch.tensor([1.0, -2.0, 3.0])
    OTHER.data, OTHER.grad = torch.full((3,), 7.0), None
    apart = w.detach()  # has the memory that the parameter has at first
    for _ in range(2):
        try:
            result = function(x, w)
            results = result if isinstance(result, tuple) else (result,)
            results[0].backward()
            seen += map(shown, results)
        except (RuntimeError, TypeError) as error:
            seen.append((type(error).__name__, str(error).partition(";")[0].partition("\n")[0]))
        seen += [shown(w), w._version, None if w.grad is None else shown(w.grad), shown(x), shown(apart), shown(OTHER), w.data_ptr() == apart.data_ptr(), w.is_leaf]
    return seen


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_data(function):
    frameloom.reset()
    assert outcome(frameloom.compile(function, backend="eager")) == outcome(function)
    assert not frameloom.stats().eager
    assert bool(frameloom.stats().breaks) is (function in BROKEN)


REFUSED_BY_BACKEND = (written_in_place_and_refused, shared_from_then_on)
"""What AOTAutograd itself raises at: writes to what was saved, and inputs with one memory of which one is a leaf."""


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f not in REFUSED_BY_BACKEND], ids=lambda function: function.__name__)
def test_data_with_a_backend_that_traces(function):
    frameloom.reset()
    assert outcome(frameloom.compile(function, backend="aot_eager")) == outcome(function)
    assert not frameloom.stats().eager


@pytest.mark.parametrize("backend", ("eager", "aot_eager"))
def test_averages_are_whole(backend):
    """What training scripts do by way of `.data`, under every backend, with versions as eager counts them."""
    frameloom.reset()

    def update(average, model):
        for kept, new in zip(average.parameters(), model.parameters()):
            kept.data.mul_(0.9).add_(new.data, alpha=0.1)
        model.weight.data.clamp_(-0.1, 0.1)

    def run(function):
        torch.manual_seed(0)
        average, model = nn.Linear(3, 2), nn.Linear(3, 2)
        loss = average(torch.ones(3)).square().sum() + model(torch.ones(3)).exp().sum()
        for _ in range(3):
            function(average, model)
        loss.backward()
        return [(p.tolist(), p.grad.tolist(), p._version) for p in (*average.parameters(), *model.parameters())]

    assert run(frameloom.compile(update, backend=backend, fullgraph=True)) == run(update)
