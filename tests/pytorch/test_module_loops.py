"""Loops over modules with breaks below them: what such a loop costs is three graphs, however many modules there are."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import frameloom


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        x = self.linear(x)
        frameloom.graph_break()
        return torch.relu(x)


class Model(nn.Module):
    def __init__(self, loop, container) -> None:
        super().__init__()
        layers = [Layer() for _ in range(12)]
        self.layers = container(layers)
        self.loop = loop

    def forward(self, x):
        return self.loop(self.layers, x) * 2


def called(layers, x):
    return layers(x)


def each(layers, x):
    for layer in layers:
        x = layer(x) + 1
    return x


def part(layers, x):
    for layer in layers[2:]:
        x = layer(x) + 1
    return x


def values(layers, x):
    for layer in layers.values():
        x = layer(x) + 1
    return x


def items(layers, x):
    for _, layer in layers.items():
        x = layer(x) + 1
    return x


def numbered(layers, x):
    for _, layer in enumerate(layers):
        x = layer(x) + 1
    return x


def beside(layers, x):
    for layer, _ in zip(layers, range(99)):
        x = layer(x) + 1
    return x


def named(layers: list) -> nn.ModuleDict:
    return nn.ModuleDict({f"layer{number}": layer for number, layer in enumerate(layers)})


LOOPS = [
    (called, lambda layers: nn.Sequential(*layers)),
    *[(loop, nn.ModuleList) for loop in (each, part, numbered, beside)],
    *[(loop, named) for loop in (values, items)],
]


@pytest.mark.parametrize(("loop", "container"), LOOPS, ids=lambda value: value.__name__.strip("<>"))
def test_loops(loop, container) -> None:
    torch.manual_seed(0)
    model, x = Model(loop, container), torch.randn(2, 4)
    expected = model(x)
    frameloom.reset()
    compiled = frameloom.compile(model, backend="eager")
    for _ in range(2):
        assert torch.equal(compiled(x), expected)
    stats = frameloom.stats()
    assert stats.graphs == 3
    assert set(stats.breaks) == {"FL401"}
    assert not stats.eager
