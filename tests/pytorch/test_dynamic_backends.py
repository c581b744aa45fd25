"""Backends that compile get graphs of symbolic sizes: forward and backward equal eager for sizes that no capture has seen."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F
from torch import nn

import frameloom

SEEN = ((2, 8), (3, 11))
NEVER_SEEN = ((4, 5), (7, 17), (16, 9), (5, 64))
WIDTH = 8


class Attention(nn.Module):
    """Causal, with a mask made of the length."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 2, 3 * width // 2).transpose(1, 2).chunk(3, -1)
        scores = q @ k.transpose(-1, -2) / (width // 2) ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))


class Positions(nn.Module):
    """Embeddings of tokens and places, and a tied output."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(32, WIDTH), nn.Embedding(128, WIDTH)

    def forward(self, x):
        ids = (x.detach().abs().sum(-1) * 7).long() % 32
        hidden = self.tokens(ids) + self.places(torch.arange(ids.shape[1], device=x.device))
        return F.linear(hidden, self.tokens.weight) * x.mean(-1, keepdim=True)


class Windows(nn.Module):
    """Convolution over the length, pooled by half of it."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv1d(WIDTH, 4, 3, padding=1), nn.Conv1d(4, 4, 3, stride=2)

    def forward(self, x):
        y = self.second(self.first(x.transpose(1, 2)).relu())
        return F.adaptive_avg_pool1d(y, 1).flatten(1) * (y.shape[-1] / x.shape[1])


class Halves(nn.Module):
    """Slices, concatenation and padding by sizes that are computed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.linspace(-1, 1, WIDTH))

    def forward(self, x):
        half = x.shape[1] // 2
        first, second = x[:, :half], x[:, half:]
        padded = F.pad(first, (0, 0, 0, second.shape[1] - half))
        joined = torch.cat([padded * self.gate, second], dim=1)
        return joined.flatten(1).sum(1) / max(x.shape[0], half) if x.shape[1] % 2 else joined.cumsum(1)


class Normed(nn.Module):
    """Batch statistics over varying sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.recurrent = nn.BatchNorm1d(WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        y = self.norm(x.transpose(1, 2).contiguous()).transpose(1, 2)
        return torch.tanh(self.recurrent(y)).amax(1) + y.var(1)


class Pyramid(nn.Module):
    """Pooled, and brought to the size of what the next layer gives: computes with quotients of sizes, in backward too."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Conv1d(WIDTH, 4, 3, padding=1), nn.ConvTranspose1d(8, 4, 2, 2)

    def forward(self, x):
        fine = self.down(x.transpose(1, 2)).relu()
        coarse = F.avg_pool1d(fine, 2)
        joined = torch.cat([coarse, F.interpolate(fine, size=coarse.shape[-1:], mode="linear")], 1)
        return F.interpolate(self.up(joined), scale_factor=1.5, mode="nearest").sum(-1)


class Case(NamedTuple):
    make: Callable[[], nn.Module]
    graphs: int  # one for the first sizes, one for the others, more where the program or torch asks a size something


CASES = {
    "attention": Case(Attention, 2), "embeddings": Case(Positions, 2), "convolutions": Case(Windows, 3), "slices": Case(Halves, 4), "batch norm": Case(Normed, 2), "pyramid": Case(Pyramid, 3),
    "several": Case(lambda: nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), Attention(), nn.LayerNorm(WIDTH)), 2),
}  # fmt: skip


def inputs(batch: int, length: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(100 * batch + length)
    return torch.randn(batch, length, WIDTH, generator=generator).requires_grad_()


def step(model: Callable, module: nn.Module, x: torch.Tensor) -> dict[str, Any]:
    """What a call and its backward give: the result and every gradient, and the buffers behind it."""
    module.zero_grad()
    result = model(x)
    (result * torch.linspace(0.5, 1.5, result.numel()).view(result.shape)).sum().backward()
    grads = {name: parameter.grad.clone() for name, parameter in module.named_parameters()}
    return {"result": result.detach(), "x": x.grad, **grads, **{name: buffer.clone() for name, buffer in module.named_buffers()}}


def compare(name: str, backend: str) -> None:
    torch.manual_seed(0)
    case = CASES[name]
    module = case.make()
    twin = copy.deepcopy(module)
    compiled = frameloom.compile(twin, backend=backend)
    for sizes in (*SEEN, *NEVER_SEEN, *SEEN):
        expected, found = step(module, module, inputs(*sizes)), step(compiled, twin, inputs(*sizes))
        for key, value in expected.items():
            torch.testing.assert_close(found[key], value, rtol=2e-4, atol=2e-5, msg=lambda text: f"{key} of {sizes}: {text}")  # noqa: B023
            assert found[key].stride() == value.stride() or key != "result", (key, sizes)
    stats = frameloom.stats()
    assert not stats.breaks and not stats.eager, stats
    assert stats.graphs <= case.graphs or backend == "inductor", stats  # which asks sizes what it will, such as those of a convolution


@pytest.mark.parametrize("name", CASES)
def test_aot_eager(name: str) -> None:
    compare(name, "aot_eager")


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_inductor(name: str) -> None:
    compare(name, "inductor")


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_without_gradients(backend: str) -> None:
    """Graphs of inference alone: fewer sizes are saved, and results may be views of inputs."""

    def program(x, n):
        y = x[:, n:]
        return y.transpose(0, 1), y.sum((0, 1)) * x.shape[1], torch.arange(n, x.shape[1]), x.view(-1)[:: n + 1]

    compiled = frameloom.compile(program, backend=backend)
    with torch.no_grad():
        for sizes, n in ((SEEN[0], 1), (SEEN[1], 2), *((sizes, 3) for sizes in NEVER_SEEN), (NEVER_SEEN[1], 4)):
            x = inputs(*sizes).detach()
            for expected, found in zip(program(x, n), compiled(x, n)):
                torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
                assert found.stride() == expected.stride()
    assert frameloom.stats().graphs <= 3 and not frameloom.stats().eager


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("dimensions", [lambda n: n % 3 + 1, lambda n: 3], ids=["symbolic", "three"])
def test_writes_to_what_was_expanded_are_refused(dimensions, backend: str) -> None:
    """Several elements are one, whatever the other sizes are: eager refuses that, and nothing is written."""

    def program(x, n):
        expanded = x.unsqueeze(-1).expand(*x.shape, dimensions(n))
        expanded.add_(2.0)
        return expanded

    def outcome(function, x, n):
        try:
            return function(x, n).tolist(), x.tolist()
        except RuntimeError as error:
            return str(error), x.tolist()

    compiled = frameloom.compile(program, backend=backend)
    for rows, n in ((3, 1), (3, 2), (4, 1), (4, 3), (5, 4), (5, 5)):
        assert outcome(compiled, torch.ones(rows), n) == outcome(program, torch.ones(rows), n), (rows, n)


def test_an_operation_refuses_an_expanded_argument_with_history() -> None:
    """What it raises is found out on a tensor of the same facts, to which nothing can be written."""

    def program(x):
        expanded = (x * 2).unsqueeze(-1).expand(*x.shape, 3)
        frameloom.graph_break()
        return expanded.t()

    compiled = frameloom.compile(program, backend="eager")
    for sizes in ((2, 3), (3, 4), (5, 4)):
        x = torch.ones(sizes, requires_grad=True)
        with pytest.raises(RuntimeError) as expected:
            program(x)
        with pytest.raises(RuntimeError) as found:
            compiled(x)
        assert str(found.value) == str(expected.value)
    assert not frameloom.stats().eager
