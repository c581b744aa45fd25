"""An operation is run on fakes once for all calls that agree in the facts of their arguments (`record.outcome_of`)."""

from __future__ import annotations

import torch

import frameloom as fl
from frameloom.pytorch.record import COUNTS, MEMORY


class Layer(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


def _measured(layers: int) -> tuple[int, int]:
    """How many operations of a stack were run on fakes, and how many outcomes were remembered ones."""
    model = torch.nn.Sequential(*(Layer(24) for _ in range(layers))).eval()
    given = torch.randn(5, 24)
    MEMORY.clear()
    measured, remembered = COUNTS.measured, COUNTS.remembered
    with torch.no_grad():
        found = fl.compile(model, backend="eager", fullgraph=True)(given)
        assert torch.equal(found, model(given))
    return COUNTS.measured - measured, COUNTS.remembered - remembered


def test_a_stack_of_equal_layers_is_measured_once():
    (one, _), (twelve, remembered) = _measured(1), _measured(12)
    assert 0 < one == twelve
    assert remembered >= 11 * one
