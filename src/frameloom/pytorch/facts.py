"""What a trace knows about a tensor: an immutable fact, interned, so that equal facts are one object.

Sizes and strides are ints, or `shapes.Size` where a dimension is symbolic.  A storage offset is not part of a fact: no
operation's result has another shape for it, and what asks for it is refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

DENSE = torch.strided


def is_dense(tensor: torch.Tensor) -> bool:
    """Whether a tensor is of the layout that is modelled: sizes and strides over one storage."""
    return tensor.layout is DENSE and not tensor.is_quantized and not tensor.is_nested


class TensorFact:
    """dtype, device, sizes, strides, requires_grad, is_leaf, and the bits conj, neg and inference of the dispatch key set.

    Made by `fact` only.  `ungraded` is the same fact without what only autograd asks; facts that differ in `is_leaf` alone
    share `graded`.
    """

    __slots__ = (
        "dtype", "device", "sizes", "strides", "requires_grad", "is_leaf", "conj", "neg", "inference", "symbolic",
        "_ungraded", "_graded",
    )

    @property
    def ungraded(self) -> "TensorFact":
        found = self._ungraded
        if found is None:
            found = self._ungraded = self.replace(requires_grad=False, is_leaf=True)
        return found

    @property
    def graded(self) -> "TensorFact":
        found = self._graded
        if found is None:
            found = self._graded = self.replace(is_leaf=True)
        return found

    @property
    def ndim(self) -> int:
        return len(self.sizes)

    @property
    def parts(self) -> tuple:
        return (
            self.dtype, self.device, self.sizes, self.strides, self.requires_grad, self.is_leaf, self.conj, self.neg,
            self.inference,
        )

    def replace(self, **changes: Any) -> "TensorFact":
        """The fact with some parts changed."""
        parts = dict(zip(PARTS, self.parts))
        parts.update(changes)
        return fact(**parts)

    def __repr__(self) -> str:
        dtype = str(self.dtype).removeprefix("torch.")
        marks = [name for name in ("requires_grad", "conj", "neg", "inference") if getattr(self, name)]
        return f"{dtype}[{', '.join(map(str, self.sizes))}]" + "".join(f" {mark}" for mark in marks)


PARTS = ("dtype", "device", "sizes", "strides", "requires_grad", "is_leaf", "conj", "neg", "inference")
_FACTS: dict[tuple, TensorFact] = {}


def fact(
    dtype: torch.dtype,
    device: torch.device,
    sizes: tuple,
    strides: tuple,
    requires_grad: bool = False,
    is_leaf: bool = True,
    conj: bool = False,
    neg: bool = False,
    inference: bool = False,
) -> TensorFact:
    """The one fact with these parts."""
    key = (dtype, device, sizes, strides, requires_grad, is_leaf, conj, neg, inference)
    found = _FACTS.get(key)
    if found is None:
        symbol = next((n for n in sizes + strides if type(n) is not int), None)
        table = _FACTS if symbol is None else _facts_of(symbol.environment)
        found = table.get(key)
        if found is None:
            found = table[key] = TensorFact()
            for name, value in zip(PARTS, key):
                setattr(found, name, value)
            found.symbolic = symbol is not None
            found._ungraded = found._graded = None
    return found


def _facts_of(environment: Any) -> dict:
    """The facts about symbolic sizes live and die with the shape environment of their symbols."""
    return vars(environment).setdefault("_frameloom_facts", {})


class SizeFact:
    """What a trace knows about a whole number that follows from sizes: its expression, and torch's number for it."""

    __slots__ = ("size",)

    def __init__(self, size: Any) -> None:
        self.size = size

    def __repr__(self) -> str:
        return str(self.size)


class ConditionFact:
    """What a trace knows about a truth value that follows from data: torch's symbolic bool for it."""

    __slots__ = ("condition",)

    def __init__(self, condition: Any) -> None:
        self.condition = condition

    def __repr__(self) -> str:
        return str(self.condition)


class GeneratorFact(NamedTuple):
    """What a trace knows about a generator of random numbers: the device that it draws for."""

    device: torch.device


def forget() -> None:
    """Drop every fact that nobody holds."""
    _FACTS.clear()
