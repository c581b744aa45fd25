"""`autograd.Function.apply` without gradients is its forward; with them it runs eagerly."""
from __future__ import annotations

import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def clean():
    frameloom.reset()
    yield
    frameloom.reset()


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(context, x, factor=1):
        context.save_for_backward(x)
        context.factor = factor
        assert context.needs_input_grad[0] in (True, False)
        return x**3 * factor

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return gradient * 3 * x**2 * context.factor, None


class Apart(torch.autograd.Function):
    """Forward and context apart; two results."""

    @staticmethod
    def forward(x):
        return x * 2, x.view_as(x)

    @staticmethod
    def setup_context(context, inputs, output):
        context.save_for_backward(*inputs)

    @staticmethod
    def backward(context, first, second):
        return first * 2 + second


class Same(torch.autograd.Function):
    """Gives its argument back: autograd makes that a view."""

    @staticmethod
    def forward(context, x):
        return x + 1, x

    @staticmethod
    def backward(context, first, second):
        return first + second


def same(x):
    more, same = Same.apply(x)
    return more, same, same is x


def cube(x):
    return Cube.apply(x, 2) + 1


def apart(x):
    doubled, same = Apart.apply(x)
    return doubled, same, same is x


@pytest.mark.parametrize("function", [cube, apart, same])
def test_forward_is_inlined_without_gradients(function):
    compiled = frameloom.compile(function, backend="eager", fullgraph=True)
    for grad, x in ((False, torch.arange(3.0, requires_grad=True)), (True, torch.arange(3.0))):
        with torch.set_grad_enabled(grad):
            expected, actual = function(x), compiled(x)
        if function is cube:
            assert torch.equal(actual, expected) and actual.requires_grad == expected.requires_grad
        else:
            assert [torch.equal(a, e) for a, e in zip(actual[:2], expected[:2])] == [True, True]
            assert actual[2] is expected[2]
            assert [a.data_ptr() == x.data_ptr() for a in actual[:2]] == [e.data_ptr() == x.data_ptr() for e in expected[:2]]


@pytest.mark.parametrize("function", [cube, apart, same])
def test_gradients_are_eagers(function):
    compiled = frameloom.compile(function, backend="eager")
    gradients = []
    for run in (function, compiled):
        x = torch.arange(3.0, requires_grad=True)
        result = run(x)
        (result if function is cube else result[0] + result[1]).sum().backward()
        gradients.append(x.grad)
    assert torch.equal(*gradients)
    assert "FL301" in frameloom.stats().breaks


def test_tensors_reached_otherwise_get_no_gradient_either():
    """Only arguments count: what forward reaches by other ways is used without gradients."""
    weight = torch.ones(3, requires_grad=True)

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x * weight

        @staticmethod
        def backward(context, gradient):
            return gradient

    def scale(x):
        return Scale.apply(x), weight * x

    expected, actual = scale(torch.ones(3)), frameloom.compile(scale, backend="eager", fullgraph=True)(torch.ones(3))
    assert [t.requires_grad for t in actual] == [t.requires_grad for t in expected] == [False, True]
