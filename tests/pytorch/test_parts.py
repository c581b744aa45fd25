"""Results on networks that are apart have backwards that are apart, under backends with a backward graph of their own too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn

import frameloom
from frameloom.diagnostics import events
from tests.models.reference import reference

pytestmark = pytest.mark.torch
WIDTH = 4


def layers(*kinds: Callable[[], nn.Module]) -> nn.Sequential:
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), *(kind() for kind in kinds), nn.Linear(WIDTH, WIDTH))


class Networks(nn.Module):
    """Two networks, and a third that both may stand on."""

    def __init__(self) -> None:
        super().__init__()
        self.a = layers(nn.ReLU, lambda: nn.BatchNorm1d(WIDTH))
        self.b = layers(nn.Tanh, lambda: nn.Dropout(0.5))
        self.trunk = layers(nn.GELU)
        self.optimizers = [torch.optim.Adam(net.parameters(), 0.01, weight_decay=0.1) for net in (self.a, self.b)]


def adversaries(nets: Networks, x: Any) -> Any:
    """The generator's step goes through what was made before the discriminator's."""
    made = nets.a(torch.randn(x.shape))
    lost = nets.b(x).square().mean() - nets.b(made.detach()).square().mean()
    nets.optimizers[1].zero_grad()
    lost.backward()
    nets.optimizers[1].step()
    fooled = nets.b(made).square().mean()
    nets.optimizers[0].zero_grad()
    fooled.backward()
    nets.optimizers[0].step()
    return lost.detach(), fooled.detach()


def two_losses(nets: Networks, x: Any) -> Any:
    first, second = nets.a(x).square().mean(), nets.b(x).abs().mean()
    for loss, optimizer in zip((first, second), nets.optimizers):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return first.detach() + second.detach()


def one_of_two(nets: Networks, x: Any) -> Any:
    """The other's gradients stay None, and its optimizer does nothing."""
    nets.zero_grad()
    first, second = nets.a(x).square().mean(), nets.b(x).abs().mean()
    second.backward()
    for optimizer in nets.optimizers:
        optimizer.step()
    return first.detach()


def in_turns(nets: Networks, x: Any) -> Any:
    a = b = x
    for first, second in zip(nets.a, nets.b):
        a, b = first(a), second(b)
    nets.zero_grad()
    b.sum().backward()
    a.sum().backward()
    return a.detach(), b.detach()


def with_a_target(nets: Networks, x: Any) -> Any:
    """What is computed without gradients joins nothing."""
    with torch.no_grad():
        target = nets.b(x) + nets.a(x)
    first = (nets.a(x) - target).square().mean()
    with torch.no_grad():
        for p, q in zip(nets.trunk.parameters(), nets.a.parameters()):
            p.lerp_(q, 0.1)
    second = (nets.b(x) - target).abs().mean()
    nets.zero_grad()
    first.backward()
    second.backward()
    return first.detach(), second.detach()


def on_one_trunk(nets: Networks, x: Any) -> Any:
    held = nets.trunk(x)
    first, second = nets.a(held).mean(), nets.b(held).mean()
    nets.zero_grad()
    first.backward(retain_graph=True)
    second.backward()
    return first.detach() + second.detach()


def twice(nets: Networks, x: Any) -> Any:
    """A graph is freed by its own backward alone."""
    first, second = nets.a(x).square().mean(), nets.b(x).abs().mean()
    nets.zero_grad()
    first.backward()
    try:
        first.backward()
    except RuntimeError:
        second.backward()
    return second.detach()


PROGRAMS = {adversaries: 2, two_losses: 2, one_of_two: 2, in_turns: 8, with_a_target: 2, on_one_trunk: 1, twice: 2}
"""program -> the parts of its first graph"""


def outcome(call: Callable, sizes: tuple[int, ...]) -> list:
    torch.manual_seed(0)
    nets = Networks()
    found: list = []
    for rows in sizes:
        torch.manual_seed(rows)
        found += [call(nets, torch.randn(rows, WIDTH)), torch.rand(1)]
        found.append([None if p.grad is None else p.grad.clone() for p in nets.parameters()])
        found.append([value.clone() for value in nets.state_dict().values()])
    return found


def same(expected: Any, found: Any) -> bool:
    if isinstance(expected, list | tuple):
        return len(expected) == len(found) and all(map(same, expected, found))
    return found is None if expected is None else torch.equal(expected, found)


@pytest.mark.parametrize("sizes", [(3, 3, 3), (3, 5, 6)], ids=["static", "varying"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_equal(program: Callable, sizes: tuple[int, ...]) -> None:
    with reference():
        expected = outcome(program, sizes)
    assert same(expected, outcome(frameloom.compile(program, backend="aot_eager"), sizes))


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_close_with_inductor(program: Callable) -> None:
    with reference():
        expected = outcome(program, (3, 5))
    found = outcome(frameloom.compile(program, backend="inductor"), (3, 5))
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_parts(program: Callable) -> None:
    """No more parts than there are changes from one network to the other; one where a trunk is shared."""
    happened: list = []

    def backend(module: Any, inputs: Any) -> Any:
        happened.append("part")
        return module.forward

    backend.makes_backward = True
    torch.manual_seed(0)
    with events.listen(lambda kind, data: happened.append(kind)):
        frameloom.compile(program, backend=backend)(Networks(), torch.randn(3, WIDTH))
    assert happened[: happened.index("graph")].count("part") == PROGRAMS[program]
