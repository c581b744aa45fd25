"""Ranges: constants with constant bounds; the methods of `range` by the host."""

from __future__ import annotations

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import equal, is_graph
from frameloom.rules.atoms import folded
from frameloom.rules.define import function, methods
from frameloom.rules.indexing import has_index, index_of, is_slice, slice_of
from frameloom.rules.known import plain
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import FALSE, NOT_IMPLEMENTED, TRUE, Const, Value


@function(range)
def make(m: Machine, start: Value, stop: Value | None = None, step: Value | None = None, /) -> Value:
    given = [bound for bound in (start, stop, step) if bound is not None]
    if any(is_graph(bound) and bound.cls is not int for bound in given):
        raise GraphBreak("FL208", "a bound of this range is a tensor")
    bounds = [index_of(m, bound) for bound in given]
    return m.fold(range, *bounds)


@function(range.__dict__["__new__"])
def new(m: Machine, cls: Value, start: Value, stop: Value | None = None, step: Value | None = None, /) -> Value:
    return make(m, start, stop, step)


@methods(range, "__getitem__")
def get_item(m: Machine, self: Value, key: Value, /) -> Value:
    if is_slice(key):
        return m.fold(range.__getitem__, self.value, slice_of(m, key))
    if not has_index(m, key):
        raise m.error(TypeError, f"range indices must be integers or slices, not {type_name(key.cls)}")
    return m.fold(range.__getitem__, self.value, index_of(m, key))


@methods(range, "__contains__")
def contains(m: Machine, self: Value, item: Value, /) -> Value:
    item = m.settle(item)
    if type(item) is Const:
        return m.fold(range.__contains__, self.value, item.value)
    found = self.value
    return TRUE if any(equal(m, Const(number), item) for number in found) else FALSE


@methods(range, "index")
def index(m: Machine, self: Value, item: Value, /) -> Value:
    item = m.settle(item)
    if type(item) is Const:
        return m.fold(range.index, self.value, item.value)
    for at, number in enumerate(self.value):
        if equal(m, Const(number), item):
            return Const(at)
    raise m.error(ValueError, "sequence.index(x): x not in sequence")


@methods(range, "count")
def count(m: Machine, self: Value, item: Value, /) -> Value:
    item = m.settle(item)
    if type(item) is Const:
        return m.fold(range.count, self.value, item.value)
    return Const(sum(equal(m, Const(number), item) for number in self.value))


@methods(range, "__len__")
def size(m: Machine, self: Value, /) -> Value:
    return m.fold(len, self.value)


@methods(range, "__bool__")
def nonempty(m: Machine, self: Value, /) -> Value:
    return m.fold(bool, self.value)


@methods(range, "__eq__")
def equals(m: Machine, self: Value, other: Value, /) -> Value:
    return compared(m, range.__eq__, self, other)


@methods(range, "__ne__")
def differs(m: Machine, self: Value, other: Value, /) -> Value:
    return compared(m, range.__ne__, self, other)


def compared(m: Machine, comparison: object, self: Value, other: Value) -> Value:
    """Comparison with a constant by the host; nothing else equals a range."""
    found = plain(m, other)
    return NOT_IMPLEMENTED if found is MISSING else m.fold(comparison, self.value, found)


@methods(range, "__hash__")
def hashed(m: Machine, self: Value, /) -> Value:
    return folded(m, range.__hash__, self)


@methods(range, "__repr__")
def represented(m: Machine, self: Value, /) -> Value:
    return folded(m, range.__repr__, self)
