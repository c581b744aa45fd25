"""Eager and compiled agree where shapes, ints and floats vary on every call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import frameloom
from tests.differential import varying
from tests.models.compare import differences

CALLS = 7
PROGRAMS = {"eager": 12, "aot_eager": 5}


def made(source: str) -> Callable:
    """The function of a program."""
    scope: dict[str, Any] = {"torch": torch, "math": math, "frameloom": frameloom}
    exec(compile(source, "<varying>", "exec"), scope)  # noqa: S102  text made here
    return scope["program"]


def dense(tensor: torch.Tensor) -> None:
    """Bring the gradient to strides that follow from its sizes: compilers choose that of a dimension of one element (docs/design/torch.md)."""
    if tensor.grad is not None and 1 in tensor.shape:
        tensor.grad = tensor.grad.clone(memory_format=torch.contiguous_format)


def outcome(function: Callable, given: tuple) -> tuple:
    """What a call gives or raises, the gradient that comes of it, and what it left its arguments like."""
    try:
        result = function(*given)
        if isinstance(result[0], torch.Tensor) and result[0].requires_grad:
            result[0].sum().backward()
            dense(given[0])
    except Exception as error:  # noqa: BLE001  the program's own, which is what is compared
        return type(error), str(error).splitlines()[:1], given
    return result, [type(value) for value in result], given


def compare(source: str, seed: int, **options: Any) -> None:
    """Call a program with varying arguments, eagerly and compiled; AssertionError tells the program and the call."""
    frameloom.reset()
    compiled, eager = frameloom.compile(made(source), **options), made(source)
    for number, (given, theirs) in enumerate(zip(varying.arguments(seed, CALLS), varying.arguments(seed, CALLS))):
        expected = outcome(eager, given)
        found = outcome(compiled, theirs)
        wrong = differences(expected, found)
        assert not wrong, "\n".join([source, f"call {number}: {vars(theirs[2])}, {[tuple(t.shape) for t in given[:2]]}", *wrong[:5]])
    stats = frameloom.stats()
    assert "FL901" not in stats.eager, source


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("backend", PROGRAMS)
def test_programs(backend: str, dynamic: bool | None) -> None:
    for seed in range(PROGRAMS[backend]):
        compare(varying.Program(seed).text(), seed, backend=backend, dynamic=dynamic)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("backend", PROGRAMS)
def test_many_programs(backend: str, part: int) -> None:
    for seed in range(1000 + 100 * part, 1100 + 100 * part):
        compare(varying.Program(seed).text(), seed, backend=backend, dynamic=(None, True)[seed % 3 == 2])
