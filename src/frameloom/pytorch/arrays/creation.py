"""Arrays that are made from known numbers: NumPy computes them at capture, and the graph makes them anew at each call."""

from __future__ import annotations

from typing import Any, Callable

import numpy
import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import RULES, rule
from frameloom.pytorch.arrays.scalars import host_of, name_of
from frameloom.pytorch.arrays.spec import DTYPES, fresh_spec, shadow, spec_of
from frameloom.pytorch.arrays.storage import call, copied, is_array, new_array
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node, Obj, Value

MOST_WRITTEN_OUT = 4096
"""The most elements of an array without a pattern that a graph names one by one."""
LARGEST = 1 << 24
"""The most bytes of an array that is computed at capture."""


def elements(m: Machine, found: numpy.ndarray) -> Node:
    """A node that makes a tensor with the elements of an array."""
    dtype = DTYPES[found.dtype]
    flat = found.ravel()
    if flat.size == 0:
        return call(m, torch.zeros, found.shape, dtype=dtype)
    if flat.tobytes() == flat[:1].tobytes() * flat.size:
        return call(m, torch.full, found.shape, flat[0].item(), dtype=dtype)
    if found.dtype.kind in "iu" and found.ndim == 1 and _is_even(flat):
        first, step = int(flat[0]), int(flat[1]) - int(flat[0])
        return call(m, torch.arange, first, first + step * flat.size, step, dtype=dtype)
    if flat.size > MOST_WRITTEN_OUT:
        raise GraphBreak("FL304", f"an array of {flat.size} elements that are made at capture")
    listed = call(m, torch.tensor, flat.tolist(), dtype=dtype)
    return call(m, torch.Tensor.reshape, listed, found.shape)


def _is_even(flat: numpy.ndarray) -> bool:
    """Whether whole numbers follow each other by one step."""
    numbers = flat.astype(object)
    steps = set(numbers[1:] - numbers[:-1])
    return len(steps) == 1 and 0 not in steps


def made(m: Machine, found: numpy.ndarray) -> Obj:
    """A fresh array that is like one that was made at capture."""
    if type(found) is not numpy.ndarray or found.dtype not in DTYPES or found.nbytes > LARGEST or found.base is not None:
        raise GraphBreak("FL304", f"an array of dtype {found.dtype} and {found.nbytes} bytes is made")
    return new_array(m, spec_of(found), elements(m, found))


def _making(function: Callable) -> Callable:
    def make(m: Machine, *args: Value, **kwargs: Value) -> Value:
        given = [_asked_of(m, value) for value in args]
        named = {name: _asked_of(m, value) for name, value in kwargs.items()}
        if any(found is MISSING for found in (*given, *named.values())):
            raise GraphBreak("FL304", f"{name_of(function)} with arguments that are not constants")
        found = _result(function, given, named)
        return made(m, found)

    return make


def _result(function: Callable, given: list, named: dict) -> Any:
    try:
        with numpy.errstate(all="raise"):
            return function(*given, **named)
    except RecursionError:
        raise  # of the capture's own stack, perhaps
    except Exception as error:  # noqa: BLE001  whatever it raises or warns of, eager does that again
        raise GraphBreak("FL304", f"{name_of(function)}: {error}") from None


def _asked_of(m: Machine, value: Value) -> Any:
    """A host object; of an array what can be asked without its elements."""
    return shadow(value.body.spec) if is_array(value) else host_of(m, value)


for _function in (
    numpy.zeros, numpy.ones, numpy.full, numpy.arange, numpy.eye, numpy.identity, numpy.zeros_like, numpy.ones_like,
    numpy.full_like,
):
    rule(_function)(_making(_function))


def _from_object(function: Callable, copies: bool) -> None:
    """numpy.array and its kin, of an array or of numbers."""
    make = _making(function)

    def convert(m: Machine, given: Value, *args: Value, **kwargs: Value) -> Value:
        if not is_array(given):
            if type(given) is Obj and issubclass(given.cls, numpy.ndarray):
                raise GraphBreak("FL304", f"{name_of(function)} of an array")
            return make(m, given, *args, **kwargs)
        if args or kwargs:
            raise GraphBreak("FL304", f"{name_of(function)} of an array, with further arguments")
        return copied(m, fresh_spec(given.body.spec, given.body.spec.dtype), given) if copies else given

    RULES[function] = convert


_from_object(numpy.array, True)
_from_object(numpy.asarray, False)
