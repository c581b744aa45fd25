"""Slices."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.attributes import reads
from frameloom.interpreter.machine import Machine
from frameloom.rules.define import function, methods
from frameloom.rules.indexing import index_of, slice_of, slice_parts
from frameloom.symbolic.values import NONE, NOT_IMPLEMENTED, Value

NAMES = ("start", "stop", "step")


@function(slice)
def make(m: Machine, start: Value, stop: Value | None = None, step: Value = NONE, /) -> Value:
    return m.slice(NONE, start) if stop is None else m.slice(start, stop, step)


def _part(position: int) -> None:
    @reads(slice.__dict__[NAMES[position]])
    def read(m: Machine, obj: Value) -> Value:
        return slice_parts(obj)[position]


for _position in range(len(NAMES)):
    _part(_position)


@methods(slice, "indices")
def indices(m: Machine, self: Value, length: Value, /) -> Value:
    count = index_of(m, length)
    if count < 0:
        raise m.error(ValueError, "length should not be negative")
    return m.fold(slice_of(m, self).indices, count)


def parts(m: Machine, value: Value) -> Value:
    """start, stop and step as a tuple."""
    return m.tuple(list(slice_parts(value)))


def _comparison(name: str) -> None:
    @methods(slice, name)
    def compared(m: Machine, self: Value, other: Value, /) -> Any:
        if other.cls is not slice:
            return NOT_IMPLEMENTED
        return m.invoke(m.observe.constant(tuple.__dict__[name]), [parts(m, self), parts(m, other)], {})


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    _comparison(_name)


@methods(slice, "__repr__")
def represented(m: Machine, self: Value, /) -> Value:
    inner = m.invoke(m.observe.constant(tuple.__dict__["__repr__"]), [parts(m, self)], {})
    return m.fold(lambda text: f"slice{text}", m.need_constant(inner, "FL205", "text known at run time only"))
