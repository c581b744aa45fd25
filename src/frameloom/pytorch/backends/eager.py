"""The backend that runs the graph's operations as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


def eager(gm: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable:
    """The graph's own code."""
    return gm.forward


eager.takes_numbers = True  # type: ignore[attr-defined]
