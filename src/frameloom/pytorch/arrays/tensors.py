"""Where NumPy's objects meet functions of torch: scalars as arguments, arrays and tensors over one memory."""

from __future__ import annotations

from typing import Any

import numpy
import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import RULES
from frameloom.pytorch import record
from frameloom.pytorch.arguments import TAKERS, Arguments
from frameloom.pytorch.arrays.layouts import NUMPY, ArrayBody, ScalarBody
from frameloom.pytorch.arrays.scalars import is_scalar, number_in
from frameloom.pytorch.arrays.spec import DTYPES, Spec, is_contiguous
from frameloom.pytorch.arrays.storage import BASE, CLONE, call, elements_of, is_array, root_of
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.inputs import guard_requires_grad
from frameloom.symbolic.layouts import list_, tuple_
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import INPUT, Const, Node, Obj, Value

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
        if data is not None and is_array(data):
            return _of_array(m, function, data, args[1:] or kwargs)
        if data is None or not holds_scalar(m, data):
            return NotImplemented
        dtype = DTYPES.get(data.body.scalar.dtype) if is_scalar(data) else None
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


# -- arrays and tensors over one memory ----------------------------------------------------------------------------------


DETACH = vars(BASE)["detach"]


def from_numpy(m: Machine, array: Value) -> Value:
    """A tensor over the memory of an array.  What is written to either from here on is written in the graph."""
    if not is_array(array):
        return NotImplemented
    root, at = root_of(array), array
    while at.body.view is not None:
        if not at.body.view.aliases:
            raise GraphBreak("FL304", "a tensor over an array that runs backwards")
        at = at.body.view.parent
    if root.body.written:
        raise GraphBreak("FL304", "a tensor over an array that was written to")
    if not root.body.exposed and root.body.shares is None:
        m.journal.set_field(root.body, "exposed", True)
        m.session.binds = True
    return call(m, DETACH, as_it_lies(m, array))


def as_it_lies(m: Machine, array: Obj) -> Node:
    """The elements with the array's own strides: of a dimension of one element, where any stride does, torch may have another."""
    elements, spec = elements_of(m, array), array.body.spec
    strides = tuple(stride // spec.dtype.itemsize for stride in spec.strides)
    return elements if elements.fact.strides == strides else call(m, torch.as_strided, elements, spec.shape, strides)


RULES[torch.from_numpy] = from_numpy


def _of_array(m: Machine, function: Any, array: Value, further: Any) -> Value:
    """torch.tensor of an array is a copy; the others give a tensor over its memory."""
    if further:
        raise GraphBreak("FL304", f"torch.{function.__name__} of an array, with further arguments")
    if function is not torch.tensor:
        return from_numpy(m, array)
    if not is_contiguous(array.body.spec) or any(stride < 0 for stride in array.body.spec.strides):
        raise GraphBreak("FL304", "a copy of an array that is not in the order of C")
    return call(m, CLONE, as_it_lies(m, array))


def numpy_of(m: Machine, tensor: Value, **kwargs: Value) -> Any:
    """An array over the memory of a tensor."""
    if kwargs or type(tensor) is not Node or type(tensor.fact) is not TensorFact or tensor.cls is not torch.Tensor:
        return NotImplemented
    fact = tensor.fact
    dtype = FROM_TORCH.get(fact.dtype)
    if dtype is None or fact.requires_grad or fact.symbolic or fact.device.type != "cpu" or fact.conj or fact.neg or fact.inference:
        return NotImplemented
    if tensor.target is INPUT and not m.session.torch.entry_grad:
        guard_requires_grad(m.session, tensor)
    if any(size < 2 for size in fact.sizes):
        raise GraphBreak("FL304", "the strides of an array over a tensor with a dimension of one element")
    spec = Spec(dtype, fact.sizes, tuple(stride * dtype.itemsize for stride in fact.strides))
    return m.session.alloc(numpy.ndarray, ArrayBody(spec, tensor, None, tensor))


FROM_TORCH = {dtype: found for found, dtype in DTYPES.items()}
RULES[NUMPY] = numpy_of
