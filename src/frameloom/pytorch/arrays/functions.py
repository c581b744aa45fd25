"""Functions of several arrays, and sorting."""

from __future__ import annotations

from typing import Any

import numpy
import torch

from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import RULES, method
from frameloom.pytorch.arrays.spec import DTYPES, Spec, allocated_spec, fresh_spec, is_contiguous
from frameloom.pytorch.arrays.storage import alarm, call, elements_of, need_array, new_array, write
from frameloom.pytorch.arrays.ufuncs import Operand, elements_as, operand
from frameloom.pytorch.arrays.views import asked, constants, converts
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Node, Obj, Value

ARRAY = numpy.ndarray


# -- sorting ----------------------------------------------------------------------------------------------------------


def sorted_elements(m: Machine, array: Value, axis: Value) -> Node:
    """The elements in order along an axis.  Zeros of both signs are equal, and which comes first is NumPy's own business."""
    (found,) = constants(m, [axis], "sort")
    spec = need_array(array).body.spec
    if type(found) is not int or not -len(spec.shape) <= found < len(spec.shape):
        raise GraphBreak("FL304", f"sort along axis {found!r}")
    elements = elements_of(m, array)
    if spec.dtype.kind == "f":
        zero = call(m, torch.eq, elements, 0)
        alarm(m, call(m, torch.logical_and, zero, call(m, torch.signbit, elements)))
    return unpack(m, call(m, torch.sort, elements, found))[0]


@method(ARRAY, "sort")
def _sort(m: Machine, self: Value, axis: Value = Const(-1)) -> Value:
    write(m, need_array(self), sorted_elements(m, self, axis))
    return NONE


def _sorted_copy(m: Machine, array: Value, axis: Value = Const(-1)) -> Value:
    spec = need_array(array).body.spec
    return new_array(m, fresh_spec(spec, spec.dtype), sorted_elements(m, array, axis))


RULES[numpy.sort] = _sorted_copy


# -- several arrays ---------------------------------------------------------------------------------------------------


def promoted(given: list[Operand]) -> numpy.dtype:
    """The dtype that all of some operands are converted to; a break where torch does not convert as NumPy does."""
    hints = [found.kind(0) if type(found.kind) is type else found.kind for found in given]
    dtype = asked(numpy.result_type, *hints)
    if dtype not in DTYPES or not all(converts(found.spec.dtype, dtype) for found in given if type(found.value) is Obj):
        raise GraphBreak("FL304", f"arrays that meet in dtype {dtype}")
    return dtype


def _where(m: Machine, condition: Value, *choices: Value) -> Value:
    spec = need_array(condition).body.spec
    if len(choices) != 2 or spec.dtype != numpy.bool_:
        raise GraphBreak("FL304", "numpy.where of other than a condition and two choices")
    given = [operand(m, value) for value in choices]
    dtype = promoted(given)
    asked(numpy.broadcast_shapes, spec.shape, *(found.spec.shape for found in given))
    elements = call(m, torch.where, elements_of(m, condition), *(elements_as(m, found, dtype) for found in given))
    specs = [spec, *(Spec(dtype, found.spec.shape, found.spec.strides) for found in given)]
    made = allocated_spec(specs, dtype)
    if not is_contiguous(made) or not all(is_contiguous(found) or not found.shape for found in specs):
        raise GraphBreak("FL304", "numpy.where of arrays that are not in the order of C")
    return new_array(m, made, elements)


RULES[numpy.where] = _where


def _joined(function: Any, of_torch: Any) -> None:
    def rule(m: Machine, arrays: Value, axis: Value = Const(0)) -> Value:
        given = [operand(m, need_array(value)) for value in unpack(m, arrays)]
        (place,) = constants(m, [axis], function.__name__)
        if type(place) is not int or not given or not all(is_contiguous(found.spec) for found in given):
            raise GraphBreak("FL304", f"numpy.{function.__name__} of arrays that are not in the order of C, or of none")
        dtype = promoted(given)
        empty = asked(function, [numpy.broadcast_to(numpy.empty((), "?"), found.spec.shape) for found in given], place)
        elements = [elements_as(m, found, dtype) for found in given]
        made = fresh_spec(Spec(dtype, empty.shape, (0,) * empty.ndim), dtype, "C")
        return new_array(m, made, call(m, of_torch, m.list(elements), place))

    RULES[function] = rule


_joined(numpy.concatenate, torch.cat)
_joined(numpy.stack, torch.stack)
