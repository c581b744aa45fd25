"""Tuples, their subclasses, and what names their items: named tuples and structure sequences."""

from __future__ import annotations

import collections
import types
from typing import Any

from frameloom.interpreter.attributes import BINDERS
from frameloom.interpreter.calls import class_made_by, fresh_instance
from frameloom.interpreter.frame import Link
from frameloom.interpreter.iteration import QUICK, iterate, next_item
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import COMPARE, equal
from frameloom.rules.define import function, methods
from frameloom.rules.hints import ask
from frameloom.rules.indexing import clamp, is_a, is_slice, position, repetitions, slice_of
from frameloom.rules.list_ import compare_sequences
from frameloom.symbolic.layouts import list_, tuple_
from frameloom.symbolic.layouts.iterator import TUPLE_ITERATOR, SequenceIterator
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.values import NOT_IMPLEMENTED, Const, Obj, Value, boolean


def method(*names: str) -> Any:
    return methods(tuple, *names, storage=TupleBody)


# -- making ----------------------------------------------------------------------------------------------------------


@function(tuple)
def make(m: Machine, iterable: Value | None = None, /) -> Value:
    if iterable is not None and iterable.cls is tuple:
        return iterable
    return m.tuple([] if iterable is None else items_of(m, iterable))


def items_of(m: Machine, iterable: Value) -> list[Value]:
    """The items that a sequence made of `iterable` has; those of a list or tuple may be not looked at yet."""
    if type(iterable) is Obj and iterable.cls in QUICK:
        part = iterable.body
        return list(part.items) if isinstance(part, TupleBody) else list(list_.materialise(m.session, part))
    found = []
    iterator = iterate(m, iterable)
    ask(m, iterable)
    while (item := next_item(m, iterator)) is not None:
        found.append(item)
    return found


@function(tuple.__dict__["__new__"])
def new(m: Machine, cls: Value, iterable: Value | None = None, /) -> Value:
    known = class_made_by(m, tuple, cls)
    if known is tuple:
        return make(m, *(() if iterable is None else (iterable,)))
    return fresh_instance(m, known, TupleBody([] if iterable is None else items_of(m, iterable)))


# -- looking ---------------------------------------------------------------------------------------------------------


@method("__len__")
def length(m: Machine, self: Obj, /) -> Value:
    return Const(len(self.body.items))


def _find(m: Machine, self: Obj, value: Value, start: int, stop: int) -> int | None:
    for at in range(start, stop):
        if equal(m, tuple_.item(m.session, self.body, at), value):
            return at
    return None


@method("index")
def index(m: Machine, self: Obj, value: Value, start: Value | None = None, stop: Value | None = None, /) -> Value:
    count = len(self.body.items)
    at = _find(m, self, value, clamp(m, start, count, 0), clamp(m, stop, count, count))
    if at is None:
        raise m.error(ValueError, "tuple.index(x): x not in tuple")
    return Const(at)


@method("count")
def count(m: Machine, self: Obj, value: Value, /) -> Value:
    return Const(sum(equal(m, item, value) for item in tuple_.items(m.session, self.body)))


@method("__contains__")
def contains(m: Machine, self: Obj, value: Value, /) -> Value:
    return boolean(_find(m, self, value, 0, len(self.body.items)) is not None)


@method("__iter__")
def iterator(m: Machine, self: Obj, /) -> Value:
    return m.session.alloc(TUPLE_ITERATOR, SequenceIterator(self, 0))


@method("__getnewargs__")
def new_arguments(m: Machine, self: Obj, /) -> Value:
    return m.tuple([m.tuple(list(self.body.items))])


@method("__getitem__")
def get_item(m: Machine, self: Obj, key: Value, /) -> Value:
    if not is_slice(key):
        return tuple_.item(m.session, self.body, position(m, key, len(self.body.items), "tuple"))
    bounds = slice_of(m, key)
    found = self.body.items[bounds]
    if self.cls is tuple and bounds.step in (None, 1) and len(found) == len(self.body.items):
        return self
    return m.tuple(found)


# -- operators -------------------------------------------------------------------------------------------------------


@method("__add__")
def add(m: Machine, self: Obj, other: Value, /) -> Value:
    if not is_a(other, tuple):
        raise m.error(TypeError, f'can only concatenate tuple (not "{type_name(other.cls)}") to tuple')
    if not self.body.items and other.cls is tuple:
        return other
    if not other.body.items and self.cls is tuple:
        return self
    return m.tuple(self.body.items + other.body.items)


@method("__mul__", "__rmul__")
def multiply(m: Machine, self: Obj, times: Value, /) -> Value:
    many = repetitions(m, len(self.body.items), times)
    if self.cls is tuple and (many == 1 or not self.body.items):
        return self
    return m.tuple(self.body.items * many)


def _comparison(symbol: str) -> None:
    @method(COMPARE[symbol][1])
    def compared(m: Machine, self: Obj, other: Value, /) -> Value:
        if not (type(other) is Obj and isinstance(other.body, TupleBody)):
            return NOT_IMPLEMENTED
        return compare_sequences(m, symbol, self, other, tuple_)


for _symbol in COMPARE:
    _comparison(_symbol)


# -- items by name ---------------------------------------------------------------------------------------------------

FIELD = type(collections.namedtuple("Probe", "field").__dict__["field"])
"""The class of descriptors that collections.namedtuple makes."""


def _bind_field(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None) -> Value:
    """A field of a named tuple: the item at the descriptor's position."""
    if obj is None:
        return found
    at = m.observe.known(found).__reduce__()[1][0]
    if not (type(obj) is Obj and isinstance(obj.body, TupleBody)):
        raise m.error(
            TypeError, f"descriptor for index '{at}' for tuple subclasses doesn't apply to '{type_name(obj.cls)}' object"
        )
    if at >= len(obj.body.items):
        raise m.error(IndexError, "tuple index out of range")
    return tuple_.item(m.session, obj.body, at)


BINDERS[FIELD] = _bind_field


def _position_of(descriptor: Any) -> int | None:
    """The position of the item that a member of a structure sequence's class shows; None for any other member."""
    owner = descriptor.__objclass__
    count = owner.__dict__.get("n_sequence_fields")
    if count is None or not issubclass(owner, tuple):
        return None
    if not owner.__dict__["n_unnamed_fields"]:  # then the names stand in order; some of these classes make no instances
        names = owner.__dict__["__match_args__"]
        return names.index(descriptor.__name__) if descriptor.__name__ in names else None
    found = descriptor.__get__(owner(range(count)))
    return found if type(found) is int else None


def _bind_member(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None) -> Value:
    if type(obj) is Obj and isinstance(obj.body, TupleBody) and type(found) is Const:
        at = _position_of(found.value)
        if at is not None:
            return tuple_.item(m.session, obj.body, at)
    return _plain_member(m, found, obj, owner, link)


_plain_member = BINDERS[types.MemberDescriptorType]
BINDERS[types.MemberDescriptorType] = _bind_member
