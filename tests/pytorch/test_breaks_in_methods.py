"""A break in a method that an operator, a branch, a loop or a text runs costs two graphs, as one in a function that is called."""

from __future__ import annotations

import pytest
import torch

import frameloom


class Held:
    """A tensor with methods that break."""

    def __init__(self, value) -> None:
        self.value = value

    def broken(self):
        doubled = self.value * 2
        frameloom.graph_break()
        self.value = doubled + 1
        return self.value

    def __add__(self, other):
        return self.broken() + other

    def __radd__(self, other):
        return other - self.broken()

    def __iadd__(self, other):
        self.broken()
        return self

    def __neg__(self):
        return -self.broken()

    def __bool__(self):
        return self.broken().dim() == 2

    def __len__(self):
        return self.broken().shape[0]

    def __eq__(self, other):
        return self.broken().dim() == other

    def __lt__(self, other):
        return self.broken().dim() < other

    def __contains__(self, item):
        return self.broken().dim() == item

    def __getitem__(self, key):
        return self.broken()[key]

    def __iter__(self):
        return iter([self.broken()])

    def __format__(self, spec):
        return f"held {self.broken().dim()}"

    def __str__(self):
        return f"text {self.broken().dim()}"


def added(held, x):
    held += x
    return held.value


USES = {
    "+": lambda held, x: held + x,
    "+ from the right": lambda held, x: 1.0 + held,
    "+=": added,
    "-": lambda held, x: -held,
    "truth": lambda held, x: x + 1 if held else x - 1,
    "not": lambda held, x: x + 1 if not held else x - 1,
    "bool": lambda held, x: x + bool(held),
    "len": lambda held, x: x * len(held),
    "==": lambda held, x: x + 1 if held == 2 else x - 1,
    "!=": lambda held, x: x + 1 if held != 2 else x - 1,
    "<": lambda held, x: x + 1 if held < 2 else x - 1,
    "> from the right": lambda held, x: x + 1 if 2 > held else x - 1,
    "in": lambda held, x: x + 1 if 2 in held else x - 1,
    "not in": lambda held, x: x + 1 if 2 not in held else x - 1,
    "subscript": lambda held, x: held[0],
    "format": lambda held, x: x * len(f"{held}"),
    "str": lambda held, x: x * len(str(held)),
    "iteration": lambda held, x: sum([y + x for y in held]),
}


@pytest.mark.parametrize("name", USES)
def test_two_graphs(name: str) -> None:
    use = USES[name]

    def function(x):
        held = Held(x + 1)
        found = use(held, x)
        return found * 3 + held.value

    x = torch.arange(6.0).reshape(2, 3)
    expected = function(x)
    frameloom.reset()
    compiled = frameloom.compile(function, backend="eager")
    for _ in range(2):
        assert torch.equal(compiled(x), expected)
    assert not frameloom.stats().eager
    assert dict(frameloom.stats().breaks) == {"FL401": 1}
    assert frameloom.stats().graphs == 2
