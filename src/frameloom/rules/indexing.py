"""Indices and slice bounds of sequences."""

from __future__ import annotations

import sys
from typing import Any

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import index, is_graph
from frameloom.symbolic.layouts.slice_ import SliceBody
from frameloom.symbolic.real import mro_of, type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Value


def has_index(m: Machine, value: Value) -> bool:
    """Whether `operator.index` has a method to call."""
    return value.cls is int or m.observe.type_lookup(value.cls, "__index__") is not ABSENT


def index_of(m: Machine, value: Value) -> int:
    """`operator.index(value)` as a number that is known now."""
    kind = ("FL204", "index") if is_graph(value) else ("FL207", "index computed at run time")
    return m.need_constant(index(m, value), *kind)


def size_of(m: Machine, value: Value) -> int:
    """An argument of C type Py_ssize_t: OverflowError where it does not fit."""
    found = index_of(m, value)
    if not -sys.maxsize - 1 <= found <= sys.maxsize:
        raise m.error(OverflowError, "Python int too large to convert to C ssize_t")
    return found


MOST_REPEATED = 10_000_000
"""Items of a repeated sequence that a trace still holds one by one."""


def repetitions(m: Machine, count: int, times: Value) -> int:
    """How often a sequence of `count` items is repeated: its multiplication by `times`."""
    if not has_index(m, times):
        raise m.error(TypeError, f"can't multiply sequence by non-int of type '{type_name(times.cls)}'")
    many = max(0, index_of(m, times))
    if many > sys.maxsize:
        raise m.error(OverflowError, "cannot fit 'int' into an index-sized integer")
    if count * many > MOST_REPEATED:
        raise GraphBreak("FL504", f"a sequence of {count * many:,} items")
    return many


def is_slice(value: Value) -> bool:
    return value.cls is slice


def slice_parts(value: Value) -> tuple[Value, Value, Value]:
    """start, stop and step of a slice as Values."""
    if type(value) is Const:
        return tuple(Const(part) if not isinstance(part, Value) else part for part in _parts(value.value))
    assert isinstance(value.body, SliceBody)
    return value.body.parts


def _parts(found: slice) -> tuple[Any, Any, Any]:
    return found.start, found.stop, found.step


def slice_of(m: Machine, value: Value) -> slice:
    """The slice with its bounds as numbers that are known now, or None."""
    bounds = [_bound(m, part) for part in slice_parts(value)]
    if bounds[2] == 0:
        raise m.error(ValueError, "slice step cannot be zero")
    return slice(*bounds)


def _bound(m: Machine, part: Value) -> int | None:
    if type(part) is Const and part.value is None:
        return None
    if not has_index(m, part):
        raise m.error(TypeError, "slice indices must be integers or None or have an __index__ method")
    return index_of(m, part)


def position(m: Machine, key: Value, length: int, what: str) -> int:
    """The position in a sequence that a subscript means; raises the IndexError or TypeError of the sequence `what`."""
    if not has_index(m, key):
        raise m.error(TypeError, f"{what} indices must be integers or slices, not {type_name(key.cls)}")
    at = index_of(m, key)
    if not -sys.maxsize - 1 <= at <= sys.maxsize:
        raise m.error(IndexError, f"cannot fit '{type_name(key.cls)}' into an index-sized integer")
    at += length if at < 0 else 0
    if not 0 <= at < length:
        raise m.error(IndexError, f"{what} index out of range")
    return at


def clamp(m: Machine, value: Value | None, length: int, default: int) -> int:
    """A bound as `list.index(x, start, stop)` takes it."""
    if value is None:
        return default
    if not has_index(m, value):
        raise m.error(TypeError, "slice indices must be integers or have an __index__ method")
    at = index_of(m, value)
    return max(0, at + length) if at < 0 else min(at, length)



def is_a(value: Value, cls: type) -> bool:
    """Whether the class of a value stands on `cls` (past any metaclass)."""
    return cls in mro_of(value.cls)


