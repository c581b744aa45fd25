"""Operations whose forms for fakes ask what a symbolic number is though the facts of their results do not follow from it.

For each a function that gives a result of the same facts.  It is called where a number is symbolic; the graph holds the operation itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def _stepped(function: Callable) -> Callable:
    """linspace and its kin: one value a step."""

    def form(start: Any, end: Any, steps: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        one = function(start, end, 1, *args, **kwargs)
        return one.new_empty((steps,), requires_grad=one.requires_grad)

    return form


def _window(function: Callable) -> Callable:
    """Windows: one value a place, of which there may be none."""

    def form(window_length: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        one = function(1, *args, **kwargs)
        return one.new_empty((window_length,), requires_grad=one.requires_grad)

    return form


def _one_hot(tensor: torch.Tensor, num_classes: Any = -1) -> torch.Tensor:
    if tensor.dtype is not torch.long or not num_classes > 0:
        return torch.nn.functional.one_hot(tensor, num_classes)
    return tensor.new_empty((*tensor.shape, num_classes))


def _dropout(tensor: torch.Tensor, p: Any, train: bool) -> torch.Tensor:
    """Where nothing is dropped the result is the argument itself; the form that torch has in Python copies it."""
    return torch.dropout(tensor, p, train) if train and p != 0 else tensor


def _tensor(data: Any, **kwargs: Any) -> torch.Tensor:
    return torch.tensor(_plain(data), **kwargs)


def _plain(data: Any) -> Any:
    """The same with another whole number in the place of each symbolic one."""
    if isinstance(data, (list, tuple)):
        return [_plain(each) for each in data]
    return 1 if isinstance(data, torch.SymInt) else data


FORMS: dict[Any, Callable] = {
    **{function: _stepped(function) for function in (torch.linspace, torch.logspace)},
    **{
        function: _window(function)
        for function in (torch.hann_window, torch.hamming_window, torch.blackman_window, torch.bartlett_window, torch.kaiser_window)
    },
    torch.nn.functional.one_hot: _one_hot,
    torch.dropout: _dropout,
    torch.tensor: _tensor,
}
"""operation -> its form for symbolic numbers"""
