"""What is known of an array besides its elements, and what NumPy makes of it: asked of NumPy itself, on arrays without memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy
import torch
from numpy.lib.stride_tricks import as_strided

DTYPES: dict[Any, torch.dtype] = {
    numpy.dtype(name): getattr(torch, name)
    for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64")
}
"""The dtypes of arrays that are modelled: those of torch whose arithmetic is NumPy's, in the machine's order of bytes."""


class Spec(NamedTuple):
    """dtype (one of `DTYPES`), shape, and strides in bytes."""

    dtype: numpy.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def spec_of(array: numpy.ndarray) -> Spec:
    """The spec of an array."""
    return Spec(array.dtype, array.shape, array.strides)


def shadow(spec: Spec) -> numpy.ndarray:
    """An array of this spec to ask about dtypes, shapes and strides.  There is no memory behind it: its elements must not be
    read."""
    return as_strided(numpy.empty(1, spec.dtype), spec.shape, spec.strides)


def fresh_spec(like: Spec, dtype: numpy.dtype, order: str = "K") -> Spec:
    """The spec of a copy."""
    return spec_of(numpy.empty_like(shadow(like), dtype=dtype, order=order))


def allocated_spec(operands: list[Spec], dtype: numpy.dtype) -> Spec:
    """The spec of the array that an elementwise operation makes for its result."""
    flags = ["zerosize_ok", "refs_ok", "buffered", "delay_bufalloc"]
    reads = [["readonly"]] * len(operands)
    made = numpy.nditer(
        [*map(shadow, operands), None], flags, [*reads, ["writeonly", "allocate"]],
        op_dtypes=[*(spec.dtype for spec in operands), dtype], order="K", casting="unsafe",
    ).operands[-1]
    return spec_of(made)


def is_contiguous(spec: Spec) -> bool:
    """Whether the elements lie in the order of C without gaps."""
    return shadow(spec).flags.c_contiguous


def resolved_shape(old: tuple, new: Any) -> tuple:
    """The shape that a reshape gives, its one unknown size known.  Raises ValueError where the sizes do not fit."""
    return numpy.broadcast_to(numpy.empty((), "?"), old).reshape(new).shape


def reshaped_view(spec: Spec, shape: tuple) -> Spec | None:
    """The spec of a view of another shape that fits, or None where the elements would have to be copied."""
    try:
        return spec_of(numpy.reshape(shadow(spec), shape, copy=False))
    except ValueError:
        return None
