"""Dictionaries: the methods of `dict` on storage that is known in part."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from typing import Any

from frameloom.interpreter.attributes import bind_descriptor
from frameloom.interpreter.calls import class_made_by, fresh_instance
from frameloom.interpreter.iteration import iterate, next_item
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import COMPARE, NONEMPTY, equal, set_item
from frameloom.interpreter.stores import dict_delete, dict_get, dict_put, dict_remove, dict_set, dict_update, key_handle, stored_entries, stored_handle
from frameloom.rules.define import function, methods
from frameloom.symbolic.layouts import dict_, set_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.iterator import ITEMS, KEY_ITERATOR, KEYS, VALUES, ItemsIterator, ViewBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, NOT_IMPLEMENTED, Const, Obj, Value, boolean


def method(*names: str) -> Any:
    return methods(dict, *names, storage=DictBody)


def ordered_apart(*names: str) -> Any:
    """As `method`, for what reads or changes the order of a dictionary: an OrderedDict has one of its own, which a method of
    `dict` leaves as it is or does not see."""

    def add(made: Any) -> Any:
        signature = inspect.signature(made)

        @functools.wraps(made)
        def checked(m: Machine, self: Obj, /, *args: Value, **kwargs: Value) -> Value:
            if issubclass(self.cls, OrderedDict):
                raise GraphBreak("FL102", f"dict.{names[0]} with {self.cls.__name__}")
            return made(m, self, *args, **kwargs)

        checked.__signature__ = signature
        method(*names)(checked)
        return made

    return add


def is_dict(value: Value) -> bool:
    return type(value) is Obj and isinstance(value.body, DictBody) and issubclass(value.cls, dict)


# -- making ----------------------------------------------------------------------------------------------------------


def fresh(m: Machine, cls: type = dict) -> Obj:
    """A new empty dictionary of a class that has the storage of one."""
    body = DictBody(True)
    return m.session.alloc(dict, body) if cls is dict else fresh_instance(m, cls, body)


@function(dict)
def make(m: Machine, other: Value | None = None, /, **named: Value) -> Value:
    made = fresh(m)
    _fill(m, made, other, named)
    return made


@function(dict.__dict__["__new__"])
def new(m: Machine, cls: Value, /, *args: Value, **named: Value) -> Value:
    return fresh(m, class_made_by(m, dict, cls))


@ordered_apart("__init__", "update")
def update(m: Machine, self: Obj, other: Value | None = None, /, **named: Value) -> Value:
    _fill(m, self, other, named)
    return NONE


def _fill(m: Machine, self: Obj, other: Value | None, named: dict[str, Value]) -> None:
    if other is not None and other is not self:
        dict_update(m, self, other)
    for name, value in named.items():
        dict_set(m, self, Const(name), value)


@methods(dict, "fromkeys")
def from_keys(m: Machine, cls: Value, iterable: Value, value: Value = NONE, /) -> Value:
    known = m.observe.known_class(cls)
    made = fresh(m) if known is dict else m.invoke(cls, [], {})
    if made.cls is dict and iterable.cls in (dict, set, frozenset):
        for handle, key in _stored_keys(m, iterable):
            dict_put(m, made, stored_handle(m, made, handle, key), key, value)
        return made
    iterator = iterate(m, iterable)
    while (key := next_item(m, iterator)) is not None:
        if made.cls is dict:
            dict_set(m, made, key, value)
        else:
            set_item(m, made, key, value)
    return made


def _stored_keys(m: Machine, container: Obj) -> list[tuple[Any, Value]]:
    """The handles and keys of a dictionary or set, in order."""
    body = container.body
    if isinstance(body, DictBody):
        return [(handle, body.known[handle][0]) for handle in dict_.handles(m.session, body)]
    return [(handle, body.known[handle]) for handle in set_.order(m.session, body)]


@ordered_apart("copy")
def copy(m: Machine, self: Obj, /) -> Value:
    made = fresh(m)
    copy_entries(m, self, made)
    return made


def copy_entries(m: Machine, source: Obj, target: Obj) -> None:
    """Give a fresh empty dictionary the entries of another; values not looked at stay so."""
    dict_.materialise(m.session, source.body)
    target.body.known.update(source.body.known)


# -- items -----------------------------------------------------------------------------------------------------------


@method("__getitem__")
def get_item(m: Machine, self: Obj, key: Value, /) -> Value:
    value = dict_get(m, self, key)
    if value is not ABSENT:
        return value
    if self.cls is not dict:
        missing = m.observe.type_lookup(self.cls, "__missing__")
        if missing is not ABSENT:
            return m.invoke(bind_descriptor(m, missing, self, self.cls), [key], {})
    raise m.error_of(KeyError, key)


@ordered_apart("__setitem__")
def store(m: Machine, self: Obj, key: Value, value: Value, /) -> Value:
    dict_set(m, self, key, value)
    return NONE


@ordered_apart("__delitem__")
def delete_item(m: Machine, self: Obj, key: Value, /) -> Value:
    if not dict_delete(m, self, key):
        raise m.error_of(KeyError, key)
    return NONE


@method("__contains__")
def contains(m: Machine, self: Obj, key: Value, /) -> Value:
    return boolean(dict_get(m, self, key) is not ABSENT)


@method("get")
def get(m: Machine, self: Obj, key: Value, default: Value = NONE, /) -> Value:
    value = dict_get(m, self, key)
    return default if value is ABSENT else value


@ordered_apart("setdefault")
def set_default(m: Machine, self: Obj, key: Value, default: Value = NONE, /) -> Value:
    handle = key_handle(m, self, key)
    value = dict_.get(m.session, self.body, handle, key)
    if value is ABSENT:
        dict_put(m, self, handle, key, default)
        return default
    return value


@ordered_apart("pop")
def pop(m: Machine, self: Obj, key: Value, default: Value | None = None, /) -> Value:
    asks = type(key) is Const or dict_.is_nonempty(m.session, self.body)  # an empty dictionary does not ask the key for its hash
    handle = key_handle(m, self, key) if asks else None
    value = dict_.get(m.session, self.body, handle, key) if asks else ABSENT
    if value is not ABSENT:
        dict_remove(m, self, handle, key)
        return value
    if default is None:
        raise m.error_of(KeyError, key)
    return default


@ordered_apart("popitem")
def pop_item(m: Machine, self: Obj, /) -> Value:
    handle, key, value = entry_at_end(m, self, True, "popitem(): dictionary is empty")
    owner = self.body.owner or self
    if owner.body is self.body:
        # Not as the removal of a key: that leaves a hole in the table, by which an iterator tells that keys were replaced.
        dict_.delete(m.session, self.body, handle, key)
        m.session.operation("dict.popitem", owner)
    else:
        dict_remove(m, self, handle, key)
    return m.tuple([key, value])


def entry_at_end(m: Machine, self: Obj, last: bool, empty: str) -> tuple[Any, Value, Value]:
    """(handle, key, value) of the last or the first entry; KeyError with the text `empty` where there is none."""
    handles = dict_.handles(m.session, self.body)
    if not handles:
        raise m.error(KeyError, empty)
    handle = handles[-1 if last else 0]
    key = self.body.known[handle][0]
    return handle, key, dict_.get(m.session, self.body, handle, key)


@ordered_apart("clear")
def clear(m: Machine, self: Obj, /) -> Value:
    if self.body.owner is not None and self.body.owner.body is not self.body:
        for handle in dict_.handles(m.session, self.body):
            dict_remove(m, self, handle, self.body.known[handle][0])
        return NONE
    dict_.clear(m.session, self.body)
    m.session.operation("dict.clear", self.body.owner or self)
    return NONE


@method("__len__")
def length(m: Machine, self: Obj, /) -> Value:
    return Const(dict_.length(m.session, self.body))


NONEMPTY[dict.__len__] = lambda m, self: dict_.is_nonempty(m.session, self.body)


# -- iteration -------------------------------------------------------------------------------------------------------


def iterator_over(m: Machine, self: Obj, cls: type, backwards: bool = False) -> Obj:
    """A new iterator of class `cls` over a dictionary."""
    handles = dict_.handles(m.session, self.body)
    if backwards:
        handles.reverse()
    return m.session.alloc_bound(cls, ItemsIterator(handles, self, self.body.removals))


@ordered_apart("__iter__")
def iterator(m: Machine, self: Obj, /) -> Value:
    return iterator_over(m, self, KEY_ITERATOR)


@ordered_apart("__reversed__")
def backwards(m: Machine, self: Obj, /) -> Value:
    return iterator_over(m, self, type(reversed({})), True)


def view(m: Machine, self: Obj, cls: type) -> Obj:
    """A view of a dictionary."""
    return m.session.alloc(cls, ViewBody(self))


@ordered_apart("keys")
def keys(m: Machine, self: Obj, /) -> Value:
    return view(m, self, KEYS)


@ordered_apart("values")
def values(m: Machine, self: Obj, /) -> Value:
    return view(m, self, VALUES)


@ordered_apart("items")
def items(m: Machine, self: Obj, /) -> Value:
    return view(m, self, ITEMS)


# -- operators -------------------------------------------------------------------------------------------------------


def same_entries(m: Machine, a: Obj, b: Obj) -> bool:
    """Whether two dictionaries have equal values under equal keys, in whatever order."""
    if dict_.length(m.session, a.body) != dict_.length(m.session, b.body):
        return False
    removals = b.body.removals
    for handle, key, value in stored_entries(m, a):
        other = dict_.get(m.session, b.body, stored_handle(m, b, handle, key), key)
        if other is ABSENT or not equal(m, value, other):
            return False
        if b.body.removals != removals:
            raise GraphBreak("FL102", "a dictionary that is changed while it is compared")
    return True


@method("__eq__")
def equals(m: Machine, self: Obj, other: Value, /) -> Value:
    return boolean(same_entries(m, self, other)) if is_dict(other) else NOT_IMPLEMENTED


@method("__ne__")
def differs(m: Machine, self: Obj, other: Value, /) -> Value:
    return boolean(not same_entries(m, self, other)) if is_dict(other) else NOT_IMPLEMENTED


@method(*(COMPARE[symbol][1] for symbol in ("<", "<=", ">", ">=")))
def not_ordered(m: Machine, self: Obj, other: Value, /) -> Value:
    return NOT_IMPLEMENTED


@ordered_apart("__or__")
def union(m: Machine, self: Obj, other: Value, /) -> Value:
    if not is_dict(other):
        return NOT_IMPLEMENTED
    made = copy(m, self)
    dict_update(m, made, other)
    return made


@ordered_apart("__ror__")
def reflected_union(m: Machine, self: Obj, other: Value, /) -> Value:
    return union(m, other, self) if is_dict(other) else NOT_IMPLEMENTED


@ordered_apart("__ior__")
def inplace_union(m: Machine, self: Obj, other: Value, /) -> Value:
    update(m, self, other)
    return self


