"""Universal functions whose results torch gives bit for bit, and when NumPy would warn.

A row says what computes the result of one loop.  What is not here rounds in another way, or is not the same for some values:
there the trace breaks.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy
import torch

from frameloom.interpreter.machine import Machine
from frameloom.pytorch.arrays.scalars import ScalarBody, host_of, name_of
from frameloom.pytorch.arrays.spec import DTYPES, Spec, allocated_spec
from frameloom.pytorch.arrays.storage import TO, alarm, call, elements_of, is_array, need_array, new_array, write
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node, Obj, Value


class Row(NamedTuple):
    """function: of torch.  kinds: the kinds of dtypes (as in `dtype.kind`) of the loops that it computes.  unusual: the alarm for
    loops of floats: unusual(m, result, *operands) -> node of bools, or None where NumPy never warns."""

    function: Callable
    kinds: str
    unusual: Callable | None = None


def _new_nan(m: Machine, result: Node, *operands: Node) -> Node:
    """NaN where no operand was NaN: an invalid operation."""
    found = call(m, torch.isnan, result)
    for operand in operands:
        found = call(m, torch.logical_and, found, call(m, torch.logical_not, call(m, torch.isnan, operand)))
    return found


def _new_infinity(m: Machine, result: Node, *operands: Node) -> Node:
    """Infinity where every operand was finite: an overflow, or a division by zero."""
    found = call(m, torch.isinf, result)
    for operand in operands:
        found = call(m, torch.logical_and, found, call(m, torch.isfinite, operand))
    return found


def _arithmetic(m: Machine, result: Node, *operands: Node) -> Node:
    return call(m, torch.logical_or, _new_nan(m, result, *operands), _new_infinity(m, result, *operands))


ROWS: dict[Any, Row] = {
    numpy.add: Row(torch.add, "iuf", _arithmetic),
    numpy.subtract: Row(torch.sub, "iuf", _arithmetic),
    numpy.multiply: Row(torch.mul, "biuf", _arithmetic),
    numpy.true_divide: Row(torch.true_divide, "f", _arithmetic),
    numpy.negative: Row(torch.neg, "iuf"),
    numpy.positive: Row(torch.clone, "iuf"),
    numpy.absolute: Row(torch.abs, "if"),
    numpy.square: Row(torch.square, "iuf", _new_infinity),
    numpy.floor: Row(torch.floor, "f"),
    numpy.ceil: Row(torch.ceil, "f"),
    numpy.trunc: Row(torch.trunc, "f"),
    numpy.rint: Row(torch.round, "f"),
    numpy.isnan: Row(torch.isnan, "iuf"),
    numpy.isinf: Row(torch.isinf, "iuf"),
    numpy.isfinite: Row(torch.isfinite, "iuf"),
    numpy.signbit: Row(torch.signbit, "iuf"),
    numpy.maximum: Row(torch.maximum, "biu"),
    numpy.minimum: Row(torch.minimum, "biu"),
    numpy.bitwise_and: Row(torch.bitwise_and, "biu"),
    numpy.bitwise_or: Row(torch.bitwise_or, "biu"),
    numpy.bitwise_xor: Row(torch.bitwise_xor, "biu"),
    numpy.invert: Row(torch.bitwise_not, "biu"),
    numpy.logical_and: Row(torch.logical_and, "biuf"),
    numpy.logical_or: Row(torch.logical_or, "biuf"),
    numpy.logical_xor: Row(torch.logical_xor, "biuf"),
    numpy.logical_not: Row(torch.logical_not, "biuf"),
    numpy.less: Row(torch.lt, "biuf"),
    numpy.less_equal: Row(torch.le, "biuf"),
    numpy.greater: Row(torch.gt, "biuf"),
    numpy.greater_equal: Row(torch.ge, "biuf"),
    numpy.equal: Row(torch.eq, "biuf"),
    numpy.not_equal: Row(torch.ne, "biuf"),
}


class Operand(NamedTuple):
    """kind: what NumPy's promotion is told (a dtype, or the class of a Python number).  spec: dtype, shape and strides.  value: the
    array or the host number."""

    kind: Any
    spec: Spec
    value: Any


def operand(m: Machine, value: Value) -> Operand:
    """An operand that is an array, a scalar or a number; a break at anything else."""
    if is_array(value):
        return Operand(value.body.spec.dtype, value.body.spec, value)
    found = host_of(m, value)
    if type(found) in (int, float):
        return Operand(type(found), Spec(numpy.dtype(type(found)), (), ()), found)
    if type(found) is bool or type(value) is Obj and type(value.body) is ScalarBody:
        dtype = numpy.dtype(type(found))
        return Operand(dtype, Spec(dtype, (), ()), found)
    if type(value) is Obj and issubclass(value.cls, numpy.ndarray):
        need_array(value)
    raise GraphBreak("FL304", f"an array meets an object of class {value.cls.__name__}")


def is_constant(given: Operand) -> bool:
    """Whether an operand is a known number."""
    return type(given.value) is not Obj


def constant(m: Machine, number: Any, dtype: numpy.dtype) -> Node:
    """A tensor without dimensions for a number as an element of this dtype; a break where NumPy would raise or warn."""
    return call(m, torch.full, (), number_as(number, dtype), dtype=DTYPES[dtype])


def number_as(number: Any, dtype: numpy.dtype) -> Any:
    """The number that assigning to an element of this dtype leaves there."""
    made = numpy.empty((), dtype)
    try:
        with numpy.errstate(all="raise"):
            made[()] = number
    except (ArithmeticError, TypeError, ValueError) as error:
        raise GraphBreak("FL304", f"{error}") from None
    return made.item()


def elements_as(m: Machine, given: Operand, dtype: numpy.dtype) -> Node:
    """The elements of an operand, in a dtype that promotion gave."""
    if is_constant(given):
        return constant(m, given.value, dtype)
    found = elements_of(m, given.value)
    return found if given.spec.dtype is dtype else call(m, TO, found, DTYPES[dtype])


def compute(m: Machine, ufunc: numpy.ufunc, values: list[Value]) -> tuple[Spec, Node]:
    """The result of a universal function of one result: the spec that NumPy gives it, and its elements."""
    row = ROWS.get(ufunc)
    if row is None or len(values) != ufunc.nin:
        raise GraphBreak("FL304", f"{name_of(ufunc)} of an array")
    given = [operand(m, value) for value in values]
    *loop, dtype = loop_of(ufunc, given)
    if any(found.kind not in row.kinds or found not in DTYPES for found in loop):
        raise GraphBreak("FL304", f"{name_of(ufunc)} of an array of dtype {loop[0]}")
    elements = [elements_as(m, found, wanted) for found, wanted in zip(given, loop)]
    result = call(m, row.function, *elements)
    if row.unusual is not None and loop[0].kind == "f" and not any(is_constant(found) and found.value != found.value for found in given):
        varying = [node for found, node in zip(given, elements) if not is_constant(found) or not numpy.isfinite(found.value)]
        alarm(m, row.unusual(m, result, *varying))
    return allocated_spec([found.spec for found in given], dtype), result


def loop_of(ufunc: numpy.ufunc, given: list[Operand]) -> tuple:
    """The dtypes in which a universal function computes, those of the operands and that of the result."""
    try:
        found = ufunc.resolve_dtypes((*(operand.kind for operand in given), None))
        numpy.broadcast_shapes(*(operand.spec.shape for operand in given))
    except (TypeError, ValueError) as error:
        raise GraphBreak("FL304", f"{name_of(ufunc)}: {error}") from None
    if found[-1] not in DTYPES:
        raise GraphBreak("FL304", f"{name_of(ufunc)} gives the dtype {found[-1]}")
    return found


def apply(m: Machine, ufunc: numpy.ufunc, values: list[Value]) -> Value:
    """A universal function with an array among its operands."""
    spec, result = compute(m, ufunc, values)
    if not spec.shape:
        raise GraphBreak("FL304", f"{name_of(ufunc)} gives a scalar that is known at run time only")
    return new_array(m, spec, result)


def apply_to(m: Machine, ufunc: numpy.ufunc, values: list[Value], out: Obj) -> Value:
    """The same, with the result written to an array."""
    wanted = need_array(out).body.spec
    spec, result = compute(m, ufunc, values)
    if spec.dtype is not wanted.dtype or numpy.broadcast_shapes(spec.shape, wanted.shape) != wanted.shape:
        raise GraphBreak("FL304", f"{name_of(ufunc)}: {spec} into {wanted}")
    write(m, out, result)
    return out


def is_number(found: Any) -> bool:
    """Whether a host object is a number that may be an element."""
    return found is not MISSING and (type(found) in (bool, int, float) or isinstance(found, numpy.generic))
