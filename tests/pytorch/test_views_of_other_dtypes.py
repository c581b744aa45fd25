"""Tensors that are views of tensors with another dtype go from graph to graph, and into compilers that make fakes of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch


def rotated(x: torch.Tensor) -> torch.Tensor:
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    frameloom.graph_break()
    return torch.view_as_real(pairs * 2).flatten(-2)


def conjugated(x: torch.Tensor) -> torch.Tensor:
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)).conj()
    frameloom.graph_break()
    return pairs * torch.tensor(1 + 2j), pairs.imag.clone()


def bits(x: torch.Tensor) -> torch.Tensor:
    seen = x[:, 1:3].view(torch.int32)
    frameloom.graph_break()
    return seen & 0xFFFF, x + 1


def smaller(x: torch.Tensor) -> torch.Tensor:
    seen = x[1:].view(torch.int16)
    frameloom.graph_break()
    return seen + 1


def written(x: torch.Tensor) -> torch.Tensor:
    pairs = torch.view_as_complex(x.view(*x.shape[:-1], -1, 2))
    frameloom.graph_break()
    pairs.mul_(2j)
    return x + 1, pairs.real.clone()


def written_bits(x: torch.Tensor) -> torch.Tensor:
    seen = x.view(torch.int32)
    frameloom.graph_break()
    seen.add_(1)
    return x * 2


PROGRAMS = [rotated, conjugated, bits, smaller, written, written_bits]


WITH_GRADIENTS = [rotated, conjugated]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(("program", "requires_grad"), [(p, False) for p in PROGRAMS] + [(p, True) for p in WITH_GRADIENTS])
def test_equal(program: Callable, requires_grad: bool, backend: str) -> None:
    compiled = frameloom.compile(program, backend=backend)
    for rows in (3, 3, 5):
        given = [torch.linspace(-2, 2, rows * 8).view(rows, 8).requires_grad_(requires_grad) for _ in range(2)]
        results = [program(given[0]), compiled(given[1])]
        if requires_grad:
            for result in results:
                parts = result if isinstance(result, tuple) else (result,)
                sum(part.abs().sum() for part in parts).backward()
        assert_equal(*results)
        assert_equal(*given)
        assert_equal(given[0].grad, given[1].grad)


def assert_equal(expected: object, found: object) -> None:
    if isinstance(expected, tuple):
        for pair in zip(expected, found, strict=True):
            assert_equal(*pair)
    elif expected is None:
        assert found is None
    else:
        assert expected.dtype == found.dtype and torch.equal(expected, found)
