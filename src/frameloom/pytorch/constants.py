"""Classes whose instances are immutable constants, known by identity."""

from __future__ import annotations

import torch

CONSTANT_CLASSES: set[type] = {
    torch.dtype, torch.device, torch.layout, torch.memory_format, torch.finfo, torch.iinfo, torch.qscheme,
}
