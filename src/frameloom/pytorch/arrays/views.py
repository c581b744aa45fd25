"""Views of arrays: subscripts, and other shapes and orders of dimensions over the same memory."""

from __future__ import annotations

import operator
from typing import Any, Callable, NamedTuple

import numpy
import torch

from frameloom.interpreter.attributes import reads
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import RULES, method
from frameloom.pytorch import record
from frameloom.pytorch.arrays.layouts import View
from frameloom.pytorch.arrays.scalars import host_of
from frameloom.pytorch.arrays.spec import Spec, fresh_spec, reshaped_view, resolved_shape, shadow, spec_of
from frameloom.pytorch.arrays.storage import BASE, call, copied, need_array, new_array, view_of, write
from frameloom.pytorch.arrays.storage import elements_of
from frameloom.pytorch.arrays.ufuncs import is_number, number_as, operand
from frameloom.pytorch.arrays.spec import DTYPES
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Node, Value

ARRAY = numpy.ndarray
METHODS = vars(ARRAY)
VIEW, PERMUTE, FLIP, RESHAPE = (vars(BASE)[name] for name in ("view", "permute", "flip", "reshape"))


def asked(function: Callable, *args: Any) -> Any:
    """What NumPy says of a shadow; whatever it raises, eager raises."""
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001  the very question is what it raises
        raise GraphBreak("FL304", f"{type(error).__name__}: {error}") from None


def constants(m: Machine, values: list[Value], what: str) -> list:
    """The host objects of arguments that must be known."""
    found = [host_of(m, value) for value in values]
    if any(item is MISSING for item in found):
        raise GraphBreak("FL304", f"{what} with arguments that are not constants")
    return found


# -- subscripts -------------------------------------------------------------------------------------------------------


class Subscript(NamedTuple):
    """A basic subscript as torch has it: `parts` with steps forwards only, then the dimensions `flipped`."""

    parts: tuple
    flipped: tuple[int, ...]


def basic_key(m: Machine, key: Value) -> tuple:
    """The parts of a subscript that makes a view; a break at others."""
    (found,) = constants(m, [key], "a subscript of an array")
    parts = found if type(found) is tuple else (found,)
    plain = tuple([int(part) if isinstance(part, numpy.integer) else part for part in parts])
    if not all(type(part) in (int, slice, type(None), type(Ellipsis)) for part in plain):
        raise GraphBreak("FL304", "a subscript of an array that makes a copy")
    return plain


def forwards(parts: tuple, shape: tuple) -> Subscript:
    """The subscript for torch, which steps forwards only."""
    taken, flipped = [], []
    used = sum(type(part) in (int, slice) for part in parts)
    dimension = place = 0
    for part in parts:
        if part is Ellipsis:
            skipped = len(shape) - used
            taken.append(part)
            dimension, place = dimension + skipped, place + skipped
        elif part is None:
            taken.append(part)
            place += 1
        elif type(part) is int:
            taken.append(part)
            dimension += 1
        else:
            start, stop, step = part.indices(shape[dimension])
            if step < 0:
                count = len(range(start, stop, step))
                start, stop, step = (0, 0, 1) if count == 0 else (start + (count - 1) * step, start + 1, -step)
                flipped.append(place)
            taken.append(slice(start, stop, step))
            dimension, place = dimension + 1, place + 1
    return Subscript(tuple(taken), tuple(flipped))


def _lifted(m: Machine, part: Any) -> Value:
    return m.slice(*map(Const, (part.start, part.stop, part.step))) if type(part) is slice else Const(part)


def subscripted(m: Machine, array: Value, parts: tuple) -> Value:
    """The view that a basic subscript makes."""
    spec = need_array(array).body.spec
    found = asked(operator.getitem, shadow(spec), parts)
    if type(found) is not ARRAY:
        raise GraphBreak("FL304", "an element of an array, known at run time only")
    subscript = forwards(parts, spec.shape)

    def derive(m: Machine, tensor: Node) -> Node:
        key = m.tuple([_lifted(m, part) for part in subscript.parts])
        taken = record.apply(m.session.torch, operator.getitem, [tensor, key], {})
        return call(m, FLIP, taken, list(subscript.flipped)) if subscript.flipped else taken

    view = View(array, operator.getitem, (parts,), derive, not subscript.flipped)
    return view_of(m, array, spec_of(found), view)


@method(ARRAY, "__getitem__")
def _get_item(m: Machine, self: Value, key: Value) -> Value:
    return subscripted(m, need_array(self), basic_key(m, key))


@method(ARRAY, "__setitem__")
def _set_item(m: Machine, self: Value, key: Value, value: Value) -> Value:
    parts = basic_key(m, key)
    if Ellipsis not in parts:
        parts = (*parts, Ellipsis)  # so that a single element is a view too
    target = subscripted(m, need_array(self), parts)
    assign(m, target, value)
    return NONE


@method(ARRAY, "fill")
def _fill(m: Machine, self: Value, value: Value) -> Value:
    if not is_number(host_of(m, value)):
        raise GraphBreak("FL304", "an array is filled with what is no known number")
    assign(m, need_array(self), value)
    return NONE


EXACT = {"b": "biuf", "i": "iuf", "u": "iuf", "f": "f"}
"""Kind of dtype -> the kinds that its elements are converted to as torch does it, whatever their values."""


def converts(source: numpy.dtype, to: numpy.dtype) -> bool:
    """Whether torch converts as NumPy does, and NumPy never warns."""
    if source.kind == "f" and to.kind == "f":
        return source.itemsize <= to.itemsize
    return to.kind in EXACT[source.kind] or to.kind == "b"


def assign(m: Machine, target: Value, value: Value) -> None:
    """Write a number or an array to all of an array, converted as assignments do."""
    spec = target.body.spec
    given = operand(m, value)
    if not isinstance(given.value, Value):
        write(m, target, call(m, torch.full, (), number_as(given.value, spec.dtype), dtype=DTYPES[spec.dtype]))
        return
    if not converts(given.spec.dtype, spec.dtype):
        raise GraphBreak("FL304", f"elements of dtype {given.spec.dtype} are assigned to {spec.dtype}")
    if asked(numpy.broadcast_shapes, given.spec.shape, spec.shape) != spec.shape:
        raise GraphBreak("FL304", f"{given.spec} is assigned to {spec}")
    if not _is_same_view(given.value, target):  # `a[1:] += b` assigns to a view what is there already
        write(m, target, elements_of(m, given.value))


def _is_same_view(first: Value, second: Value) -> bool:
    """Whether two arrays are one subscript of one array."""
    one, other = first.body.view, second.body.view
    if one is None or other is None or one.parent is not other.parent or one.function is not other.function:
        return False
    return one.function is operator.getitem and [*_parts(one), Ellipsis] == list(_parts(other))


def _parts(view: View) -> tuple:
    return view.args[0]


# -- shapes -----------------------------------------------------------------------------------------------------------


def reshaped(m: Machine, array: Value, shape: Any) -> Value:
    """`array.reshape(shape)`: a view where there is one, else a copy."""
    spec = need_array(array).body.spec
    new = asked(resolved_shape, spec.shape, shape)
    found = reshaped_view(spec, new)
    if found is None:  # NumPy gives a view of a copy
        return reshaped(m, copied(m, fresh_spec(spec, spec.dtype, "C"), array), new)
    view = View(array, METHODS["reshape"], (shape,), lambda m, tensor: call(m, VIEW, tensor, new), True)
    return view_of(m, array, found, view)


def permuted(m: Machine, array: Value, function: Callable, args: tuple) -> Value:
    """A view with the dimensions in another order, which `function(array, *args)` makes."""
    spec = need_array(array).body.spec
    found = asked(function, shadow(spec), *args)
    numbered = asked(function, numpy.broadcast_to(numpy.empty((), "?"), tuple(range(2, 2 + len(spec.shape)))), *args)
    order = tuple([size - 2 for size in numbered.shape])
    return view_of(m, array, spec_of(found), View(array, function, args, lambda m, tensor: call(m, PERMUTE, tensor, order), True))


def same_order(m: Machine, array: Value, function: Callable, args: tuple) -> Value:
    """A view with dimensions of one element left out or put in, which `function(array, *args)` makes."""
    found = asked(function, shadow(need_array(array).body.spec), *args)
    view = View(array, function, args, lambda m, tensor: call(m, VIEW, tensor, found.shape), True)
    return view_of(m, array, spec_of(found), view)


@method(ARRAY, "reshape")
def _reshape(m: Machine, self: Value, *sizes: Value, **kwargs: Value) -> Value:
    if kwargs or not sizes:
        raise GraphBreak("FL304", "ndarray.reshape with further arguments")
    found = constants(m, list(sizes), "ndarray.reshape")
    return reshaped(m, need_array(self), found[0] if len(found) == 1 else tuple(found))


@method(ARRAY, "transpose")
def _transpose(m: Machine, self: Value, *axes: Value) -> Value:
    return permuted(m, need_array(self), METHODS["transpose"], tuple(constants(m, list(axes), "ndarray.transpose")))


@method(ARRAY, "swapaxes")
def _swapaxes(m: Machine, self: Value, first: Value, second: Value) -> Value:
    return permuted(m, need_array(self), METHODS["swapaxes"], tuple(constants(m, [first, second], "ndarray.swapaxes")))


@reads(METHODS["T"])
def _turned(m: Machine, self: Value) -> Value:
    return permuted(m, need_array(self), METHODS["transpose"], ())


@method(ARRAY, "squeeze")
def _squeeze(m: Machine, self: Value, *axis: Value) -> Value:
    return same_order(m, need_array(self), METHODS["squeeze"], tuple(constants(m, list(axis), "ndarray.squeeze")))


@method(ARRAY, "view")
def _view(m: Machine, self: Value, *args: Value, **kwargs: Value) -> Value:
    if args or kwargs:
        raise GraphBreak("FL304", "ndarray.view of another dtype or class")
    return same_order(m, need_array(self), METHODS["view"], ())


@method(ARRAY, "ravel")
def _ravel(m: Machine, self: Value) -> Value:
    spec = need_array(self).body.spec
    if not shadow(spec).flags.c_contiguous:
        return flat_copy(m, self)
    return same_order(m, self, METHODS["ravel"], ())


@method(ARRAY, "flatten")
def _flatten(m: Machine, self: Value) -> Value:
    return flat_copy(m, need_array(self))


def flat_copy(m: Machine, array: Value) -> Value:
    """A copy of one dimension, in the order of C."""
    spec = array.body.spec
    size = int(numpy.prod(spec.shape, dtype=object))
    elements = call(m, vars(BASE)["clone"], call(m, RESHAPE, elements_of(m, array), (size,)))
    return new_array(m, Spec(spec.dtype, (size,), (spec.dtype.itemsize,)), elements)


# -- copies -----------------------------------------------------------------------------------------------------------


@method(ARRAY, "copy")
def _copy(m: Machine, self: Value, *order: Value) -> Value:
    (found,) = constants(m, list(order) or [Const("C")], "ndarray.copy")
    return copied(m, asked(fresh_spec, need_array(self).body.spec, self.body.spec.dtype, found), self)


@method(ARRAY, "__copy__")
def _shallow(m: Machine, self: Value) -> Value:
    return copied(m, fresh_spec(need_array(self).body.spec, self.body.spec.dtype, "K"), self)


@method(ARRAY, "__deepcopy__")
def _deep(m: Machine, self: Value, memo: Value = NONE) -> Value:
    return copied(m, fresh_spec(need_array(self).body.spec, self.body.spec.dtype, "K"), self)


@method(ARRAY, "astype")
def _astype(m: Machine, self: Value, dtype: Value) -> Value:
    (given,) = constants(m, [dtype], "ndarray.astype")
    wanted = asked(numpy.dtype, given)
    if wanted not in DTYPES or not converts(need_array(self).body.spec.dtype, wanted):
        raise GraphBreak("FL304", f"elements of dtype {self.body.spec.dtype} are converted to {wanted}")
    return copied(m, fresh_spec(self.body.spec, wanted), self)


# -- attributes -------------------------------------------------------------------------------------------------------


def _told(name: str) -> None:
    @reads(METHODS[name])
    def attribute(m: Machine, self: Value) -> Value:
        return m.lift(getattr(shadow(need_array(self).body.spec), name))


for _name in ("shape", "strides", "ndim", "size", "itemsize", "nbytes", "dtype"):
    _told(_name)


@method(ARRAY, "__len__")
def _length(m: Machine, self: Value) -> Value:
    return m.lift(asked(len, shadow(need_array(self).body.spec)))


@method(ARRAY, "__iter__")
def _iterate(m: Machine, self: Value) -> Any:
    from frameloom.interpreter.iteration import iterate

    shape = need_array(self).body.spec.shape
    if len(shape) < 2:
        raise GraphBreak("FL304", "the elements of an array, known at run time only")
    return iterate(m, m.tuple([subscripted(m, self, (index,)) for index in range(shape[0])]))


# -- functions of the module ------------------------------------------------------------------------------------------


def _like(function: Callable, method_rule: Callable) -> None:
    """A function of the module that is the method of its first argument."""

    def rule(m: Machine, array: Value, *args: Value) -> Value:
        return method_rule(m, need_array(array), *args)

    RULES[function] = rule


for _function, _rule in {
    numpy.transpose: _transpose, numpy.swapaxes: _swapaxes, numpy.squeeze: _squeeze, numpy.ravel: _ravel, numpy.reshape: _reshape,
}.items():
    _like(_function, _rule)
_like(numpy.copy, _shallow)
