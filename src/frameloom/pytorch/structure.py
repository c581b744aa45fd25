"""The structure of arguments and results as torch's trees see it: plain containers, and leaves in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from torch.utils import _pytree

from frameloom.symbolic.layouts import dict_, list_, tuple_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Node, Obj, Value

from frameloom.pytorch.facts import TensorFact


class Shape(NamedTuple):
    """A container of class `cls` with parts; a dictionary has `keys`.  A leaf has no class."""

    cls: type | None = None
    parts: tuple = ()
    keys: tuple = ()


LEAF = Shape()


def flatten(session: Any, value: Value, leaves: list[Value], kind: str) -> Shape:
    """The structure of a value, its leaves added to `leaves`; a GraphBreak of this kind at a container that is not plain."""
    if type(value) is not Obj:
        return LEAF
    if value.cls is tuple:
        return Shape(tuple, _flatten_all(session, tuple_.items(session, value.body), leaves, kind))
    if value.cls is list:
        return Shape(list, _flatten_all(session, list_.items(session, value.body), leaves, kind))
    if value.cls is dict:
        found = [entry for entry in dict_.entries(session, value.body) if entry[1] is not ABSENT]
        if all(type(key) is Const for key, _ in found):
            return Shape(dict, _flatten_all(session, [item for _, item in found], leaves, kind), tuple([key.value for key, _ in found]))
    if value.cls in _pytree.SUPPORTED_NODES or issubclass(value.cls, tuple) and hasattr(value.cls, "_fields"):
        raise GraphBreak(kind, f"a structure of class {value.cls.__qualname__}")
    return LEAF


def _flatten_all(session: Any, items: list[Value], leaves: list[Value], kind: str) -> tuple:
    parts = []
    for item in map(session.observe.resolve, items):
        part = flatten(session, item, leaves, kind)
        if part is LEAF:
            leaves.append(item)
        parts.append(part)
    return tuple(parts)


def taken_apart(session: Any, value: Value, kind: str) -> tuple[list[Value], Shape]:
    """The leaves of a value, and its structure."""
    leaves: list[Value] = []
    value = session.observe.resolve(value)
    shape = flatten(session, value, leaves, kind)
    return ([value] if shape is LEAF else leaves), shape


def put_together(session: Any, shape: Shape, leaves: Iterator[Value]) -> Value:
    """A fresh value of this structure."""
    if shape.cls is None:
        return next(leaves)
    items = [put_together(session, part, leaves) for part in shape.parts]
    if shape.cls is tuple:
        return session.alloc(tuple, TupleBody(items))
    if shape.cls is list:
        return session.alloc(list, ListBody(items))
    body = DictBody(True)
    for key, item in zip(shape.keys, items):
        body.known[key] = (Const(key), item)
    return session.alloc(dict, body)


def count(shape: Shape) -> int:
    """How many leaves a structure has."""
    return 1 if shape.cls is None else sum(map(count, shape.parts))


def is_tensor(value: Value) -> bool:
    """Whether a leaf is a tensor of the trace."""
    return type(value) is Node and type(value.fact) is TensorFact
