"""In a process where torch.compile has run."""

from __future__ import annotations

import torch

import frameloom


class Sliced(torch.nn.Module):
    """Takes a slice of a module list, which makes a module."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))

    def forward(self, x):
        for layer in self.layers[:2]:
            x = layer(x)
        return x


def test_modules_made_in_a_trace_are_captured() -> None:
    torch.compile(lambda x: x + 1, backend="eager")(torch.zeros(1))
    model = Sliced()
    x = torch.ones(1, 2)
    assert torch.equal(frameloom.compile(model, fullgraph=True, backend="eager")(x), model(x))
