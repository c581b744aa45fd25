"""How a program is put on the page."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Wrap = Callable[[Callable], Callable]
ROWS: list[tuple[str, Callable[[Wrap], Any]]] = []
"""(group, program): `program(wrap)` runs it, what is to be captured given through `wrap`, and gives all that shows."""


def row(group: str) -> Callable:
    """Decorator: a program that does all by itself."""

    def add(program: Callable[[Wrap], Any]) -> Callable:
        ROWS.append((group, program))
        return program

    return add


def called(group: str, times: int = 2, grad: bool = False) -> Callable:
    """Decorator: a function of one tensor, called a few times with others; with `grad` its results are derived too."""

    def add(function: Callable) -> Callable:
        def program(wrap: Wrap) -> Any:
            wrapped, shown = wrap(function), []
            for number in range(times):
                x = (torch.arange(6.0).view(2, 3) * 0.3 - 0.5 + number).requires_grad_(grad)
                result = wrapped(x)
                shown.append(result)
                if grad:
                    derive(result)
                    shown.append(x.grad)
            return shown

        program.__name__ = function.__name__
        ROWS.append((group, program))
        return function

    return add


def derive(result: Any) -> None:
    """Backward from every result that has gradients."""
    found = [part for part in (result if isinstance(result, (tuple, list)) else [result]) if isinstance(part, torch.Tensor)]
    losses = [part.sum() for part in found if part.requires_grad]
    if losses:
        sum(losses).backward()


def trained(wrap: Wrap, model: nn.Module, loss: Callable | None = None, steps: int = 3, size: tuple = (4, 3)) -> list:
    """Losses, parameters, buffers and gradients of a few steps of SGD by hand, the model captured."""
    called, shown = wrap(model), []
    for _ in range(steps):
        model.zero_grad()
        x = torch.randn(*size, requires_grad=True)
        result = called(x)
        value = result.square().mean() if loss is None else loss(result)
        value.backward()
        shown += [value.detach(), x.grad]
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.grad is not None:
                    parameter -= 0.1 * parameter.grad
    return [*shown, *[p.detach().clone() for p in model.parameters()], *[p.grad for p in model.parameters()], *model.buffers()]
