"""What optional rooms add to the domain: classes of constants, and questions asked when a trace has ended."""

from __future__ import annotations

from typing import Any, Callable

import torch

CONSTANT_CLASSES: set[type] = {
    torch.dtype, torch.device, torch.layout, torch.memory_format, torch.finfo, torch.iinfo, torch.qscheme,
    type(torch.nn.attention.SDPBackend.MATH),
}
"""Classes whose instances are immutable constants, known by identity."""

AT_THE_END: list[Callable[[Any], None]] = []
"""Functions of the state, called when the root frame has ended; they may raise RestartCapture."""
