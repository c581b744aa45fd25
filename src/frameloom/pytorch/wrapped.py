"""Numbers known at run time only, for backends that compile: as tensors without dimensions.

Compilers take a Python number among the inputs for a constant.  Beside a tensor, in an operation that works element by element, a tensor
without dimensions is the same as the number, if its dtype is chosen so that it does not decide that of the result.
"""

from __future__ import annotations

import operator
from typing import Any

import torch

from frameloom.pytorch import operations
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.fakes import fact_of
from frameloom.pytorch.numbers import host_number
from frameloom.symbolic.graph import PURE
from frameloom.symbolic.values import Node, Value

NAMES = ("add", "sub", "mul", "div", "truediv")
ELEMENTWISE = frozenset(
    {
        *NAMES, *(f"{name}_" for name in NAMES), *(f"i{name}" for name in NAMES), *(f"__{name}__" for name in NAMES),
        *(f"__r{name}__" for name in NAMES), *(f"__i{name}__" for name in NAMES), "rsub", "multiply", "multiply_", "subtract", "subtract_",
        "true_divide", "true_divide_", "divide", "divide_", "lt", "le", "gt", "ge", "eq", "ne",
    }
)
"""Names of operations of two operands, either of which may be a number."""


def as_float64(number: float) -> torch.Tensor:
    return torch.scalar_tensor(number, dtype=torch.float64, device="cpu")


def as_float32(number: float) -> torch.Tensor:
    return torch.scalar_tensor(number, dtype=torch.float32, device="cpu")


def as_int64(number: int) -> torch.Tensor:
    return torch.scalar_tensor(number, dtype=torch.int64, device="cpu")


MAKERS = {torch.float64: as_float64, torch.float32: as_float32, torch.int64: as_int64}
PURE.update(MAKERS.values())


def as_tensors(state: Any, function: Any, args: list[Value]) -> list[Value]:
    """The operands, a number of the host beside a tensor made a tensor; as they are where that would be another operation."""
    if len(args) != 2 or operations.name_of(function) not in ELEMENTWISE:
        return args
    for place, (number, other) in enumerate(((args[0], args[1]), (args[1], args[0]))):
        if place == 0 and getattr(function, "__module__", None) != operator.add.__module__:
            continue  # a function of torch takes no number in the first place, and says so
        if _is_bare(state, number) and type(other) is Node and type(other.fact) is TensorFact:
            dtype = dtype_beside(other.fact, number.cls, state.default_dtype)
            if dtype is not None:
                made = _tensor(state, number, dtype)
                return [made, other] if place == 0 else [other, made]
    return args


def divides(state: Any, args: list[Value]) -> bool:
    """Whether a number of the host is divided by a tensor."""
    return len(args) == 2 and _is_bare(state, args[0]) and type(args[1]) is Node and type(args[1].fact) is TensorFact


def _is_bare(state: Any, value: Value) -> bool:
    """Whether a value is a number of the host that has no symbolic number."""
    return type(value) is Node and value.tape == "host" and value.fact is None and value.cls in (int, float) and (
        value.cls is float or host_number(state, value) is None
    )


def dtype_beside(fact: TensorFact, cls: type, default: torch.dtype) -> torch.dtype | None:
    """The dtype that a tensor in place of a number has beside another tensor, so that the result is what it would be; None where there
    is none."""
    if fact.dtype.is_complex:
        return None
    if fact.dtype.is_floating_point:
        if fact.sizes or cls is int:
            return torch.int64 if cls is int else torch.float64
        return fact.dtype if fact.dtype in MAKERS else None
    if cls is float:
        return default if default in MAKERS else None
    return torch.int64 if fact.sizes or fact.dtype is torch.bool else None


def _tensor(state: Any, number: Node, dtype: torch.dtype) -> Node:
    key = (number, dtype)
    known = state.wrapped.get(key)
    if known is None:
        make = MAKERS[dtype]
        known = state.session.record(make, (number,), {}, torch.Tensor, fact_of(make(1)), tape="host")
        state.session.journal.set_item(state.wrapped, key, known)
    return known
