"""torch's tuples: `torch.Size` and the structure sequences of operations with named results."""

from __future__ import annotations

from typing import Any

import torch

from frameloom.interpreter.attributes import reads
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import index
from frameloom.interpreter.registry import method, rule
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.layouts.base import register
from frameloom.symbolic.layouts.tuple_ import TupleBody, TupleLayout
from frameloom.symbolic.values import Const, Obj, Value

RETURN_TYPES = tuple(found for found in vars(torch.return_types).values() if isinstance(found, type) and issubclass(found, tuple))


@register(torch.Size, *RETURN_TYPES)
class TorchTupleLayout(TupleLayout):
    """Tuples that are made by calling their class with a sequence."""

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(obj.cls, (build.tuple_of(obj.body.items),))


def _read_field(descriptor: Any, index: int) -> None:
    @reads(descriptor)
    def field(m: Machine, obj: Value) -> Value:
        return tuple_.item(m.session, obj.body, index)


for _cls in RETURN_TYPES:
    for _index, _name in enumerate(_cls.__match_args__):
        _read_field(vars(_cls)[_name], _index)


@rule(torch.Size)
def _make_size(m: Machine, items: Value | None = None) -> Value:
    from frameloom.interpreter.iteration import unpack

    return m.session.alloc(torch.Size, TupleBody([] if items is None else unpack(m, items)))


@method(torch.Size, "__getitem__")
def _size_item(m: Machine, size: Value, key: Value) -> Value:
    items = tuple_.items(m.session, size.body)
    place = m.need_constant(key, "FL204", "an index computed at run time")
    if type(place) is slice:
        return m.session.alloc(torch.Size, TupleBody(items[place]))
    return items[m.fold(range(len(items)).__getitem__, place).value] if _in_range(place, items) else _out_of_range(m)


def _in_range(place: Any, items: list) -> bool:
    return type(place) in (int, bool) and -len(items) <= place < len(items)


def _out_of_range(m: Machine) -> Value:
    raise m.error(IndexError, "tuple index out of range")


@method(torch.Size, "__add__")
def _size_add(m: Machine, size: Value, other: Value) -> Value:
    if not (type(other) is Obj and isinstance(other.body, TupleBody)):
        return Const(NotImplemented)
    return _joined(m, size, other)


@method(torch.Size, "__radd__")
def _size_radd(m: Machine, size: Value, other: Value) -> Value:
    if not (type(other) is Obj and isinstance(other.body, TupleBody)):
        return Const(NotImplemented)
    return _joined(m, other, size)


def _joined(m: Machine, first: Obj, second: Obj) -> Value:
    items = tuple_.items(m.session, first.body) + tuple_.items(m.session, second.body)
    return m.session.alloc(torch.Size, TupleBody(items))


@method(torch.Size, "__mul__", "__rmul__")
def _size_repeat(m: Machine, size: Value, count: Value) -> Value:
    times = m.need_constant(count, "FL207", "a count computed at run time")
    if type(times) not in (int, bool):
        return Const(NotImplemented)
    return m.session.alloc(torch.Size, TupleBody(tuple_.items(m.session, size.body) * times))


@method(torch.Size, "numel")
def _numel(m: Machine, size: Value) -> Value:
    from frameloom.interpreter.operators import binary

    product: Value = Const(1)
    for item in tuple_.items(m.session, size.body):
        product = binary(m, "*", product, item)
    return product


@method(torch.Size, "__repr__")
def _size_text(m: Machine, size: Value) -> Value:
    numbers = [index(m, item) for item in tuple_.items(m.session, size.body)]
    known = [m.need_constant(number, "FL205", "text of a size known at run time only") for number in numbers]
    return m.fold(repr, torch.Size(known))
