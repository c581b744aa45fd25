"""Where NumPy's scalars meet functions of torch."""

from __future__ import annotations

from typing import Any

import numpy
import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import RULES
from frameloom.pytorch import record
from frameloom.pytorch.arguments import TAKERS, Arguments
from frameloom.pytorch.arrays.scalars import ScalarBody, is_scalar, number_in
from frameloom.symbolic.layouts import list_, tuple_
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Obj, Value

TORCH_DTYPES: dict[Any, torch.dtype] = {
    numpy.dtype(name): getattr(torch, torch_name)
    for name, torch_name in {
        "bool": "bool", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
        "float32": "float32", "float64": "float64",
    }.items()
}
"""The dtypes that arrays and tensors have in common and whose arithmetic is the same."""


def _take_scalar(arguments: Arguments, value: Obj) -> Any:
    """A float64 is a float; torch's functions do not agree on which of the other scalars they take."""
    if value.cls is not numpy.float64:
        raise GraphBreak("FL304", f"a torch function is given an object of class numpy.{value.cls.__name__}")
    return arguments.take(number_in(value))


TAKERS[ScalarBody] = _take_scalar


def _by_dtype(function: Any) -> None:
    """A function of torch that takes the dtype of its result from the data."""

    def rule(m: Machine, *args: Value, **kwargs: Value) -> Any:
        data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
        if data is None or not holds_scalar(m, data):
            return NotImplemented
        dtype = TORCH_DTYPES.get(data.body.scalar.dtype) if is_scalar(data) else None
        if dtype is None or not args:
            raise GraphBreak("FL304", f"torch.{function.__name__} of NumPy's scalars")
        return record.apply(m.session.torch, function, [number_in(data), *args[1:]], {"dtype": Const(dtype), **kwargs})

    RULES[function] = rule


def holds_scalar(m: Machine, value: Value) -> bool:
    """Whether a value is a scalar of NumPy's, or a list or tuple with one somewhere in it."""
    if type(value) is not Obj:
        return False
    if isinstance(value.body, ListBody):
        return any(holds_scalar(m, m.observe.resolve(item)) for item in list_.items(m.session, value.body))
    if isinstance(value.body, TupleBody):
        return any(holds_scalar(m, m.observe.resolve(item)) for item in tuple_.items(m.session, value.body))
    return is_scalar(value)


for _function in (torch.tensor, torch.as_tensor, torch.asarray):
    _by_dtype(_function)
