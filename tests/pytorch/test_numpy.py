"""NumPy under capture gives what plain NumPy gives: values bit for bit, dtypes, shapes, strides, types, warnings, aliasing."""
from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch


def picture(value: Any, seen: dict[int, int] | None = None) -> Any:
    """Everything that can be told about a result: NaN is one class, an object met again is named by where it was first."""
    seen = {} if seen is None else seen
    if isinstance(value, (np.ndarray, torch.Tensor, list, dict)):
        if id(value) in seen:
            return ("again", seen[id(value)])
        seen[id(value)] = len(seen)
    if isinstance(value, np.ndarray):
        base = value.base if isinstance(value.base, np.ndarray) else type(value.base)
        flags = (value.flags.owndata, value.flags.writeable, value.flags.c_contiguous, value.flags.f_contiguous)
        return (type(value), value.dtype, value.shape, value.strides, flags, bits(value), picture(base, seen))
    if isinstance(value, np.generic):
        return (type(value), bits(np.asarray(value)))
    if isinstance(value, torch.Tensor):
        return (type(value), value.dtype, tuple(value.shape), value.stride(), value.requires_grad, bits(value.detach().numpy()))
    if isinstance(value, (list, tuple)):
        return (type(value), [picture(item, seen) for item in value])
    if isinstance(value, dict):
        return (dict, [(key, picture(item, seen)) for key, item in value.items()])
    return (type(value), repr(value))


def bits(array: np.ndarray) -> bytes:
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return np.ascontiguousarray(array).tobytes()


def outcome(function: Callable, arguments: tuple) -> tuple:
    """The picture of a result or an exception, of what became of the arguments, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*arguments)
        except Exception as error:  # noqa: BLE001  what it raises is the outcome
            found = (type(error), str(error))
    said = [(warning.category, str(warning.message)) for warning in caught if "frameloom" not in str(warning.category)]
    return picture((found, list(arguments))), said


def check(function: Callable, make: Callable[[], tuple], whole: bool = True, backend: str = "eager") -> None:
    """Compiled is what plain is, in two calls of one entry; `whole` asks for one graph."""
    compiled = frameloom.compile(function, backend=backend, fullgraph=whole)
    for _ in range(2):
        assert outcome(compiled, make()) == outcome(function, make())


@pytest.fixture(autouse=True)
def fresh_start():
    frameloom.reset()
    yield
    frameloom.reset()


def one() -> tuple:
    return (torch.arange(3.0) + 1,)


# -- scalars ----------------------------------------------------------------------------------------------------------

SCALARS: list[Callable] = [
    lambda x: x * np.sqrt(16),
    lambda x: (x * np.sqrt(x.shape[0]), np.sqrt(2.5)),
    lambda x: np.prod((2, 3, 4)) + x,
    lambda x: (np.float32(3) * x, x * np.int64(3), np.float64(2) < x, np.float64(2) - x),
    lambda x: x.to(torch.int64) + np.float64(2),
    lambda x: x + np.log(5) * 2,
    lambda x: x + float(np.log(5) * 2) + math.sqrt(np.float64(3)),
    lambda x: (x, 1 + np.int64(3), 2.0 * np.float64(3), np.float64(3) < 4, np.float32(0.1) + 1, -np.int8(3), abs(np.int8(-12))),
    lambda x: (x, isinstance(np.float64(1), float), int(np.int32(5)), bool(np.float64(0)), np.int64(7) // 2),
    lambda x: x if np.sqrt(4) > 1 else -x,
    lambda x: ({np.float64(3): 1}[3.0], x),
    lambda x: x + np.finfo(np.float32).min,
    lambda x: (x, np.dtype("float32") == np.float32, np.dtype("float32").name, np.dtype(np.int8).itemsize),
    lambda x: (x, torch.full((2,), np.float64(2)), torch.tensor(np.float64(2)), torch.tensor(np.int8(2))),
    lambda x: (torch.pow(x, np.float64(2)), x.clamp(np.float64(1.2), 2)),
]

BROKEN_SCALARS: list[Callable] = [
    lambda x: (x[: np.int64(2)], x[np.int64(1)]),
    lambda x: (abs(np.int8(-128)), x),
    lambda x: (np.float64(1) / 0, x),
    lambda x: (np.exp(1000), x),
    lambda x: (np.int8(100) + np.int8(100), x),
    lambda x: (np.sqrt(-1), x),
    lambda x: (torch.tensor([np.float64(2)]), x),
    lambda x: x * np.bool_(True),
    lambda x: (np.add("a", "b"), x),
    lambda x: (np.uint8(1) + 300, x),
    lambda x: (repr(np.float64(2)), str(np.float32(1)), x),
]


@pytest.mark.parametrize("program", SCALARS)
def test_scalars_are_constants(program: Callable) -> None:
    check(program, one)


@pytest.mark.parametrize("program", BROKEN_SCALARS)
def test_what_warns_or_is_no_number_is_left_to_numpy(program: Callable) -> None:
    check(program, one, whole=False)


@pytest.mark.parametrize("make", [np.float64, np.float32, np.int64, np.int8])
def test_scalar_argument_is_guarded_by_value(make: Callable) -> None:
    compiled = frameloom.compile(lambda x, s: (x * s, s * 2, s if s > 2 else 1), backend="eager", fullgraph=True)
    (x,) = one()
    for value in (3, 3, 3, 0, 0):
        scalar = make(value)
        assert picture(compiled(x, scalar)) == picture((x * scalar, scalar * 2, scalar if scalar > 2 else 1))
    assert frameloom.stats().graphs == 2
    negative = np.float64(-0.0)
    assert picture(compiled(x, negative)) == picture((x * negative, negative * 2, 1))
