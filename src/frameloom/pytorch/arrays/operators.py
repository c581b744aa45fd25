"""Python's operators on arrays, and universal functions called by name."""

from __future__ import annotations

import types
from typing import Any, Callable

import numpy

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import RULES
from frameloom.pytorch.arrays.scalars import UFUNCS, folding, is_scalar, name_of
from frameloom.pytorch.arrays.storage import is_array, need_array
from frameloom.pytorch.arrays.ufuncs import apply, apply_to
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NOT_IMPLEMENTED, Const, Node, Obj, Value

BINARY = {
    "add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "truediv": numpy.true_divide, "and": numpy.bitwise_and,
    "or": numpy.bitwise_or, "xor": numpy.bitwise_xor,
}
COMPARISONS = {
    "lt": numpy.less, "le": numpy.less_equal, "gt": numpy.greater, "ge": numpy.greater_equal, "eq": numpy.equal,
    "ne": numpy.not_equal,
}
UNARY = {"neg": numpy.negative, "pos": numpy.positive, "abs": numpy.absolute, "invert": numpy.invert}


def _is_operand(value: Value) -> bool:
    """Whether a value is one that an operator of an array takes, and does not ask for its own method first."""
    return is_array(value) or is_scalar(value) or type(value) in (Const, Node) and value.cls in (bool, int, float)


def _binary(ufunc: numpy.ufunc, turned: bool) -> Callable:
    def rule(m: Machine, self: Value, other: Value) -> Value:
        if not _is_operand(other):
            raise GraphBreak("FL304", f"an array meets an object of class {other.cls.__name__}")
        return apply(m, ufunc, [other, need_array(self)] if turned else [need_array(self), other])

    return rule


def _in_place(ufunc: numpy.ufunc) -> Callable:
    def rule(m: Machine, self: Value, other: Value) -> Value:
        if not _is_operand(other):
            raise GraphBreak("FL304", f"an array meets an object of class {other.cls.__name__}")
        return apply_to(m, ufunc, [need_array(self), other], self)

    return rule


def _unary(ufunc: numpy.ufunc) -> Callable:
    return lambda m, self: apply(m, ufunc, [need_array(self)])


SLOTS = vars(numpy.ndarray)
for _name, _ufunc in BINARY.items():
    RULES[SLOTS[f"__{_name}__"]] = _binary(_ufunc, False)
    RULES[SLOTS[f"__r{_name}__"]] = _binary(_ufunc, True)
    RULES[SLOTS[f"__i{_name}__"]] = _in_place(_ufunc)
for _name, _ufunc in COMPARISONS.items():
    RULES[SLOTS[f"__{_name}__"]] = _binary(_ufunc, False)
for _name, _ufunc in UNARY.items():
    RULES[SLOTS[f"__{_name}__"]] = _unary(_ufunc)


# -- universal functions by name --------------------------------------------------------------------------------------


def _called(ufunc: numpy.ufunc) -> Callable:
    fold = folding(ufunc)

    def rule(m: Machine, *args: Value, **kwargs: Value) -> Value:
        if not any(type(value) is Obj and issubclass(value.cls, numpy.ndarray) for value in (*args, *kwargs.values())):
            return fold(m, *args, **kwargs)
        if kwargs.keys() - {"out"} or len(args) != ufunc.nin or ufunc.nout != 1:
            raise GraphBreak("FL304", f"{name_of(ufunc)} of an array, with further arguments")
        out = kwargs.get("out")
        return apply(m, ufunc, list(args)) if out is None else apply_to(m, ufunc, list(args), need_array(out))

    return rule


for _ufunc in UFUNCS:
    RULES[_ufunc] = _called(_ufunc)


# -- scalars that meet arrays -----------------------------------------------------------------------------------------


def _leave_to_array(rule: Callable) -> Callable:
    """The rule of a scalar's operator: an array's reflected one does the same."""

    def leaving(m: Machine, self: Value, *args: Value, **kwargs: Value) -> Any:
        return NOT_IMPLEMENTED if args and is_array(args[0]) else rule(m, self, *args, **kwargs)

    return leaving


OPERATORS = frozenset(f"__{name}__" for name in (*BINARY, *COMPARISONS))
for _slot in [slot for slot in RULES if type(slot) is types.WrapperDescriptorType and issubclass(slot.__objclass__, numpy.generic)]:
    if _slot.__name__ in OPERATORS:
        RULES[_slot] = _leave_to_array(RULES[_slot])
