"""Dual numbers of `torch.autograd.forward_ad` in captured code."""
from __future__ import annotations

from typing import Any, Callable

import pytest
import torch
from torch import nn
from torch.autograd import forward_ad
from torch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from torch.func import functional_call

import frameloom
from frameloom.pytorch.dual import is_entered
from tests.pytorch.test_transforms import LINEAR, PARAMETER, WEIGHT, assert_same, outcome

pytestmark = pytest.mark.torch


def pushed(x):
    with dual_level():
        dual = make_dual(x, torch.ones_like(x))
        result = unpack_dual((dual * PARAMETER).sin())
        return result.primal, result.tangent


def without_tangent(x):
    with dual_level():
        dual = make_dual(x, x)
        primal, tangent = unpack_dual(x * 2)
        return primal, tangent is None, unpack_dual(dual).tangent


def the_very_tangent(x):
    tangent = torch.ones_like(x)
    with dual_level():
        found = unpack_dual(make_dual(x, tangent)).tangent
    return found is tangent, found


def kept_behind_the_level(x):
    with dual_level():
        y = make_dual(x, x).exp()
    with dual_level():
        return unpack_dual(y).tangent is None, y


def by_calls(x):
    level = forward_ad.enter_dual_level()
    y = unpack_dual(make_dual(x, WEIGHT.expand(2, 3)).square().sum(0)).tangent
    forward_ad.exit_dual_level()
    return level, y, y.stride()


def of_parameters(x):
    with dual_level():
        parameters = {name: make_dual(p, torch.ones_like(p)) for name, p in LINEAR.named_parameters()}
        return unpack_dual(functional_call(LINEAR, parameters, (x,)).tanh()).tangent


def under_no_grad(x):
    with torch.no_grad(), dual_level():
        return unpack_dual(nn.functional.log_softmax(make_dual(x, x), 1)).tangent


def written_to(x):
    with dual_level():
        y = x * 1
        y += make_dual(x, x)
        y[0] = 0
        return unpack_dual(y)[1]


WHOLE = [pushed, without_tangent, the_very_tangent, kept_behind_the_level, by_calls, of_parameters, under_no_grad, written_to]


def broken_inside(x):
    with dual_level():
        y = make_dual(x, x).sin()
        frameloom.graph_break()
        return unpack_dual(y * 2).tangent


def of_another_size(x):
    with dual_level():
        return make_dual(x, torch.ones(7))


def without_a_derivative(x):
    with dual_level():
        return unpack_dual(torch.linalg.matrix_rank(make_dual(x, x)) + make_dual(x, x).igamma(x.abs())).tangent


def entered_twice(x):
    with dual_level():
        with dual_level():
            return x


def raised_inside(x):
    try:
        with dual_level():
            make_dual(x, x)
            raise ValueError("left")
    except ValueError as error:
        return x + 1, str(error)


OTHER = [broken_inside, of_another_size, without_a_derivative, entered_twice, raised_inside]


def shown(function: Callable, called: Callable, graded: bool) -> list:
    found: list[Any] = []
    try:
        found = outcome(function, called, graded)
    except NotImplementedError as error:
        found = [str(error).partition("\n")[0]]
    left = is_entered()
    while forward_ad._current_level >= 0:
        forward_ad.exit_dual_level()
    return [*found, left]


@pytest.mark.parametrize("graded", [False, True], ids=["plain", "graded"])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", WHOLE)
def test_whole(function: Callable, backend: str, graded: bool) -> None:
    assert_same(shown(function, frameloom.compile(function, backend=backend, fullgraph=True), graded), shown(function, function, graded))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", OTHER)
def test_equal(function: Callable, backend: str) -> None:
    assert_same(shown(function, frameloom.compile(function, backend=backend), False), shown(function, function, False))
