"""Marks on tensors: which dimensions are symbolic at once, and which never."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from frameloom.pytorch.shapes import ADDRESS_MARK, DYNAMIC_MARK, STATIC_MARK, UNBACKED_MARK, Mark


def mark_dynamic(tensor: torch.Tensor, dimension: int | Iterable[int], least: int | None = None, most: int | None = None) -> None:
    """Make dimensions symbolic at the first capture, for sizes from `least` to `most`; that the program fixes one is an error there.

    Raises IndexError for a dimension that the tensor does not have, TypeError for what is no tensor or no whole number, ValueError
    for bounds between which the tensor's size does not lie.
    """
    for name, bound in (("min", least), ("max", most)):
        if bound is not None and type(bound) is not int:
            raise TypeError(f"{name} is a whole number or None, not {bound!r}")
    _mark(tensor, DYNAMIC_MARK, dimension, Mark(True, least, most))


def maybe_mark_dynamic(tensor: torch.Tensor, dimension: int | Iterable[int]) -> None:
    """Make dimensions symbolic at the first capture, as far as the program allows."""
    _mark(tensor, DYNAMIC_MARK, dimension, Mark(False))


def mark_static(tensor: torch.Tensor, dimension: int | Iterable[int] | None = None) -> None:
    """Keep dimensions (all of them by default) fixed, whatever else is asked."""
    _mark(tensor, STATIC_MARK, range(getattr(tensor, "ndim", 0)) if dimension is None else dimension, True)


def mark_unbacked(tensor: torch.Tensor, dimension: int | Iterable[int]) -> None:
    """Make dimensions symbols without a value at the first capture."""
    _mark(tensor, UNBACKED_MARK, dimension, True)


def mark_static_address(tensor: torch.Tensor, guard: bool = True) -> None:
    """Promise that the tensor stays where it is in memory, which is guarded or not."""
    _require_tensor(tensor)
    if type(guard) is not bool:
        raise TypeError(f"guard is True or False, not {guard!r}")
    setattr(tensor, ADDRESS_MARK, guard)


def _require_tensor(tensor: object) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"marks are put on a tensor, not on an object of class {type(tensor).__qualname__}")


def _mark(tensor: torch.Tensor, name: str, dimension: int | Iterable[int], mark: Mark | bool) -> None:
    _require_tensor(tensor)
    wanted = tuple(dimension) if isinstance(dimension, Iterable) else (dimension,)
    for each in wanted:
        if type(each) is not int:
            raise TypeError(f"a dimension is a whole number, not {each!r}")
        if not -tensor.dim() <= each < tensor.dim():
            raise IndexError(f"a tensor of {tensor.dim()} dimensions has no dimension {each}")
        if type(mark) is Mark and not mark.allows(tensor.size(each)):
            raise ValueError(f"size {tensor.size(each)} of dimension {each} does not lie between {mark.least} and {mark.most}")
    setattr(tensor, name, {**getattr(tensor, name, {}), **{each % tensor.dim(): mark for each in wanted}})
