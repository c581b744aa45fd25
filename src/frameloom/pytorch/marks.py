"""Marks on tensors: which dimensions are symbolic at once, and which never."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from frameloom.pytorch.shapes import DYNAMIC_MARK, STATIC_MARK


def mark_dynamic(tensor: torch.Tensor, dimension: int | Iterable[int]) -> None:
    """Make dimensions symbolic at the first capture.  Raises IndexError for one that the tensor does not have, and
    TypeError for what is no tensor."""
    _mark(tensor, DYNAMIC_MARK, dimension)


def mark_static(tensor: torch.Tensor, dimension: int | Iterable[int] | None = None) -> None:
    """Keep dimensions (all of them by default) fixed, whatever else is asked."""
    _mark(tensor, STATIC_MARK, range(getattr(tensor, "ndim", 0)) if dimension is None else dimension)


def _mark(tensor: torch.Tensor, name: str, dimension: int | Iterable[int]) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"dimensions are marked on a tensor, not on an object of class {type(tensor).__qualname__}")
    wanted = tuple(dimension) if isinstance(dimension, Iterable) else (dimension,)
    for each in wanted:
        if type(each) is not int:
            raise TypeError(f"a dimension is a whole number, not {each!r}")
        if not -tensor.dim() <= each < tensor.dim():
            raise IndexError(f"a tensor of {tensor.dim()} dimensions has no dimension {each}")
    known = getattr(tensor, name, frozenset())
    setattr(tensor, name, known | {each % tensor.dim() for each in wanted})
