"""Numbers beside tensors: two graphs, whatever values follow, as far as the program asks nothing of them; always what eager gives."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch
functional = torch.nn.functional


def graphs(function: Callable, calls: list[tuple], backend: str = "eager", **settings) -> int:
    """The number of graphs that the calls need, without a break; each result must be eager's, and each exception."""
    compiled = frameloom.compile(function, backend=backend, **settings)
    for arguments in calls:
        assert same(outcome(compiled, arguments), outcome(function, arguments)), arguments[1:]
    stats = frameloom.stats()
    assert not stats.breaks and not stats.eager
    return stats.graphs


def outcome(function: Callable, arguments: tuple):
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001  it is what is compared
        return type(error), str(error)


def same(one, other) -> bool:
    if isinstance(one, torch.Tensor):
        return type(other) is type(one) and one.dtype == other.dtype and one.shape == other.shape and one.allclose(other, 0, 0, True)
    if isinstance(one, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def with_numbers(*numbers) -> list[tuple]:
    return [(torch.arange(12.0).view(4, 3), number) for number in numbers]


ANY = (2, 3, 4, 0, 1, -1, 7)
FEW = (1, 2, 3, 4, 5)


@pytest.mark.parametrize("function, numbers, most", [
    (lambda x, n: x * n, (*ANY, 2**40), 2),
    (lambda x, n: x.long() + n, (*ANY, 2**62, 2**63, 2**70), 4),
    (lambda x, n: (x > n, x.clamp(max=n), torch.where(x > n, x, n), x**n), ANY, 2),
    (lambda x, n: torch.full((2,), n) + x.roll(n, 0).sum(), ANY, 3),
    (lambda x, n: x / math.sqrt(n) + math.log(n), FEW, 2),
    (lambda x, n: x * (1 / n), (2, 3, 4, 1, -1, 0), 3),
    (lambda x, n: x * (1 - 0.9**n), FEW, 2),
    (lambda x, n: functional.pad(x, (0, n)), (2, 3, 4, 5), 2),
    (lambda x, n: x[:n] * 2, (1, 2, 3, 4, 5, 0, -1), 6),
    (lambda x, n: torch.zeros(n) + torch.arange(n), (2, 3, 4, 7, 0, 1), 4),
    (lambda x, n: x.view(-1, n).sum(0), (2, 3, 4, 6, 12, 1, 5), 7),
    (lambda x, n: x * 2 if n < x.shape[0] else x * 3, (1, 2, 3, 4, 5, 6), 3),
    (lambda x, n: torch.zeros(x.shape[0] // n), FEW, 4),
    (lambda x, n: x.sum(n), (0, 1, -1, -2, 2), 5),
    (lambda x, n: x * len(str(n)), (1, 2, 30, 4), 4),
    (lambda x, n: [x := x + 1 for _ in range(n)][-1], FEW, 5),
    (lambda x, n: torch.tensor([n, 2]) + x[0, :2], (1, 2, 3), 3),
    (lambda x, n: x * n, (True, False, 1, 0, 2, True, 3), 4),
])
def test_whole_numbers(function, numbers, most) -> None:
    assert graphs(function, with_numbers(*numbers)) <= most


FRACTIONS = (0.5, 0.25, 1.0, -0.0, math.inf, 2.0)


@pytest.mark.parametrize("function, most", [
    (lambda x, f: x * f + f, 2),
    (lambda x, f: x.sum() * f, 2),
    (lambda x, f: x.long() * f, 2),
    (lambda x, f: functional.leaky_relu(x - 5, f), 2),
    (lambda x, f: torch.full((2,), f), 2),
    (lambda x, f: torch.arange(0, 2, f) if 0 < f < 9 else x, 6),
])
def test_floats(function, most) -> None:
    assert graphs(function, with_numbers(*FRACTIONS)) <= most


def sized(*counts) -> list[tuple]:
    return [(torch.arange(float(n * 3)).view(n, 3),) for n in counts]


@pytest.mark.parametrize("function, most", [
    (lambda x: x * (1 / x.shape[0]) + math.sqrt(x.shape[0]) + x.shape[0] / 2, 2),
    (lambda x: x.sum() + float(x.shape[0]) * ((x.shape[0] + 1) // 2 / 3), 2),
    (lambda x: (x.shape[0] / 2, x.shape[0] * 2, x * (1 / x.numel())), 2),
    (lambda x: x * 2 if x.shape[0] / 2 > 2.2 else x + 1, 3),
    (lambda x: (x := torch.cat([x, x]), x * (1 / x.shape[0]))[1], 2),
    (lambda x: x * len(f"{x.shape[0]}"), 6),
    (lambda x: torch.zeros(x.shape[0] ** 2), 6),
])
def test_sizes_as_numbers(function, most) -> None:
    assert graphs(function, sized(2, 3, 4, 5, 6, 7)) <= most


class Step(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = 0
        self.scale = {"width": 2}

    def forward(self, x):
        self.step += 1
        return x * self.step * (1 - 0.9**self.step) + self.scale["width"]


def test_a_step_counter() -> None:
    module, plain = Step(), Step()
    compiled = frameloom.compile(module, backend="eager")
    for number in range(8):
        module.scale["width"] = plain.scale["width"] = number
        assert compiled(torch.ones(2)).equal(plain(torch.ones(2)))
    assert frameloom.stats().graphs == 2 and module.step == plain.step


def test_dynamic_false_and_true() -> None:
    assert graphs(lambda x, n: x * n, with_numbers(2, 3, 4), dynamic=False) == 3
    frameloom.reset()
    assert graphs(lambda x, n, f: x * n + f, [(torch.ones(4), n, n / 2) for n in (2, 3, 0)], dynamic=True) == 1


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_compilers_do_not_take_numbers_for_constants(backend) -> None:
    """A float among the inputs is one: it is given as a tensor, or guarded by its value."""

    def function(x, n, f):
        return x * n + f, x.sum() * f, x.long() * f, x - f * n, x > f, torch.zeros(abs(n) + 2) + n

    calls = [(torch.arange(6.0).view(2, 3), n, f) for n, f in ((2, 0.5), (3, 0.25), (0, 1.0), (-4, 2.0), (1, -0.5))]
    assert graphs(function, calls, backend) <= 4
    frameloom.reset()
    assert graphs(lambda x, f: functional.leaky_relu(x - 5, f), with_numbers(0.5, 0.25, 0.75), backend) == 3


def test_any_backend_may_compile() -> None:
    """One that knows nothing of frameloom's numbers, as programs bring along."""
    from torch._functorch.aot_autograd import aot_module_simplified

    def mine(gm, examples):
        return aot_module_simplified(gm, examples, fw_compiler=lambda gm, _: gm.forward)

    assert graphs(lambda x, f: x * f, with_numbers(0.5, 0.25, 0.75, 2.0), mine) == 2


def _refused(function: Callable) -> Callable:
    def attempt(x: torch.Tensor, number: float) -> object:
        try:
            return function(number, x)
        except TypeError as error:
            return str(error).partition("\n")[0]

    return attempt


@pytest.mark.parametrize("function", [
    lambda x, n: n / x, lambda x, n: x / n, lambda x, n: n - x, lambda x, n: n * x + n, lambda x, n: (n < x, x >= n), lambda x, n: n / x.sum(),
    _refused(torch.mul), _refused(torch.div),
], ids=["divided", "divisor", "subtracted", "multiplied", "compared", "divided by a scalar", "torch.mul", "torch.div"])
def test_numbers_beside_tensors_have_the_bits_of_numbers(function) -> None:
    """A backend that takes no numbers is given tensors in their place."""
    compiled = frameloom.compile(function, backend="aot_eager")
    for number in (0.1, 0.3, 0.7, 1e-3, 3.3):
        x = torch.arange(1, 200, dtype=torch.float32) * 0.37
        assert same(outcome(compiled, (x, number)), outcome(function, (x, number)))
