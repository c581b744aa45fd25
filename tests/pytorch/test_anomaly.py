"""Anomaly mode of autograd, asked and set by captured code."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _off() -> Iterator[None]:
    yield
    torch.set_anomaly_enabled(False)


def around(x):
    with torch.autograd.set_detect_anomaly(True):
        return x.sin(), torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


def derived_inside(x):
    t = x.detach().requires_grad_()
    with torch.autograd.set_detect_anomaly(True):
        return torch.autograd.grad(((t - 1).sqrt() * 0).sum(), t)[0]


def derived_without_looking(x):
    t = x.detach().requires_grad_()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        return torch.autograd.grad(((t - 1).sqrt() * 0).sum(), t)[0].isnan()


def left_on(x):
    torch.set_anomaly_enabled(True, False)
    return x * 2


def asked(x):
    return x * (2 if torch.is_anomaly_enabled() else 3)


def shown(called: Callable) -> list:
    found: list[Any] = []
    for before in (False, True, False):
        torch.set_anomaly_enabled(before)
        x = torch.ones(3, requires_grad=True)
        try:
            result = called(x)
        except RuntimeError as error:
            result = [str(error).partition("\n")[0]]
        parts = [result] if isinstance(result, torch.Tensor) else [*result]
        found += [part.tolist() if isinstance(part, torch.Tensor) else part for part in parts]
        found += [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]
    return found


@pytest.mark.parametrize(
    ("function", "backend"),
    [
        *[(function, "eager") for function in (around, derived_inside, derived_without_looking, left_on, asked)],
        *[(function, "aot_eager") for function in (around, derived_without_looking, left_on, asked)],  # its functions have other names
    ],
)
def test_equal(function: Callable, backend: str) -> None:
    assert shown(frameloom.compile(function, backend=backend)) == shown(function)
    if backend == "eager":
        assert not frameloom.stats().breaks
        assert set(frameloom.stats().eager) == ({"FL912"} if function is derived_inside else set())  # the graph raises, as eager does
