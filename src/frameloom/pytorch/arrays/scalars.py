"""NumPy's scalars: immutable objects that are known exactly, and the functions that are computed from them at capture.

A scalar is an `Obj` with the object itself in its body.  Two of one class and the same bytes are one constant, so that a scalar
that is made anew for each call does not recompile.
"""

from __future__ import annotations

import types
from typing import Any, Callable

import numpy

from frameloom.interpreter import operators
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import RULES, rule
from frameloom.pytorch.arrays.layouts import SCALARS, ScalarBody
from frameloom.pytorch.operators import counts_as_number
from frameloom.rules.known import WHOLE, whole
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Node, Obj, Value

DTYPE_CLASSES = frozenset(type(numpy.dtype(cls)) for cls in SCALARS)
DISPATCHER = type(numpy.reshape)
"""The class of NumPy's functions that ask their arguments first whether one of them has its own version."""

CONSTANTS = frozenset({numpy.ufunc, *DTYPE_CLASSES, *({DISPATCHER} - {types.FunctionType})})
"""Classes of immutable objects that are known by identity."""


for _cls in SCALARS:
    WHOLE[_cls] = lambda m, value, depth: value.body.scalar


def is_scalar(value: Value) -> bool:
    """Whether a value is a scalar that is known."""
    return type(value) is Obj and type(value.body) is ScalarBody


def number_in(value: Value) -> Value:
    """The Python number that an operator of a tensor finds in a scalar; a truth value is none."""
    return Const(value.body.scalar.item()) if value.cls is not numpy.bool_ else value


@counts_as_number(ScalarBody)
def _number_for_operator(state: Any, value: Value) -> Value:
    return number_in(value)


def host_of(m: Machine, value: Value) -> Any:
    """The host object that a value stands for, its sizes guarded by value; MISSING for what is not known."""
    if type(value) is Node:
        value = m.settle(value)
    if type(value) is Obj and issubclass(value.cls, type):
        found = m.observe.known(value)
        return found if found in TYPES else MISSING
    return whole(m, value)


TYPES = SCALARS | {bool, int, float}
"""The classes that name a dtype and run no code of anybody's when NumPy looks at them."""


def fold(m: Machine, function: Callable, args: list, kwargs: dict[str, Any]) -> Value:
    """What a function of NumPy gives for host numbers.  A result that comes with a warning is for running code, since each
    call warns."""
    try:
        with numpy.errstate(all="raise"):
            found = function(*args, **kwargs)
    except RecursionError:
        raise  # of the capture's own stack, perhaps
    except Exception as error:  # noqa: BLE001  whatever it raises or warns of, eager does that again
        raise GraphBreak("FL304", f"{name_of(function)}: {error}") from None
    if isinstance(found, numpy.generic) and type(found) not in SCALARS or isinstance(found, numpy.ndarray):
        raise GraphBreak("FL304", f"{name_of(function)} gives a {type(found).__name__}")
    return m.lift(found)


def name_of(function: Any) -> str:
    """How a function of NumPy is written."""
    owner = getattr(function, "__objclass__", None)
    name = getattr(function, "__name__", type(function).__name__)
    return f"numpy.{name}" if owner is None else f"{owner.__name__}.{name}"


def folding(function: Callable) -> Callable:
    """A rule that computes at capture, for known arguments."""

    def compute(m: Machine, *args: Value, **kwargs: Value) -> Value:
        given = [host_of(m, value) for value in args]
        named = {name: host_of(m, value) for name, value in kwargs.items()}
        unknown = [value for value, found in zip((*args, *kwargs.values()), (*given, *named.values())) if found is MISSING]
        if unknown:
            raise GraphBreak("FL304", f"{name_of(function)} of an object of class {unknown[0].cls.__name__}")
        return fold(m, function, given, named)

    return compute


UFUNCS = tuple({found for found in vars(numpy).values() if type(found) is numpy.ufunc})
OF_NUMBERS = tuple(
    getattr(numpy, name) for name in "prod sum max min amax amin mean result_type can_cast promote_types isscalar".split()
)
"""Functions beside the universal ones that give a scalar for host numbers and tuples of them."""

for _target in (*UFUNCS, *OF_NUMBERS, numpy.dtype, numpy.finfo, numpy.iinfo, *SCALARS):
    rule(_target)(folding(_target))


# -- operators and methods of scalars ---------------------------------------------------------------------------------

SLOTS = frozenset(
    {name for _, *names in operators.BINARY.values() for name in names}
    | {name for _, *names in operators.COMPARE.values() for name in names}
    | {name for _, name in operators.UNARY.values()}
    | {"__bool__", "__int__", "__float__", "__index__", "item", "tolist", "astype", "__hash__", "__round__", "is_integer"}
)


def _slot_rule(slot: Any) -> Callable:
    apply = folding(slot)

    def operate(m: Machine, self: Value, *args: Value, **kwargs: Value) -> Value:
        if not is_scalar(self):
            raise GraphBreak("FL304", f"{name_of(slot)} of a {self.cls.__name__}")
        return apply(m, self, *args, **kwargs)

    return operate


for _cls in {base for cls in SCALARS for base in cls.__mro__ if issubclass(base, numpy.generic)}:
    for _name, _slot in vars(_cls).items():
        if _name in SLOTS and isinstance(_slot, (types.WrapperDescriptorType, types.MethodDescriptorType)):
            RULES[_slot] = _slot_rule(_slot)

for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "newbyteorder"):
    RULES[vars(numpy.dtype)[_name]] = folding(vars(numpy.dtype)[_name])
