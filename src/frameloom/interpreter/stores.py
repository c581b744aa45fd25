"""Storage-level writes to dictionaries and sets, by key value: what displays, updates and rules share."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.iteration import iterate, next_item, unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import equal
from frameloom.symbolic.keys import handle_of
from frameloom.symbolic.layouts import dict_, set_
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Node, Obj, Value


class Hashed:
    """The handle of a key with a `__hash__` written in Python: found by its hash and the traced `__eq__`."""

    __slots__ = ("value", "hash")

    def __init__(self, value: Value, hash_: int) -> None:
        self.value = value
        self.hash = hash_


def key_handle(m: Machine, holder: Any, key: Value) -> Any:
    """The handle of `key` in a dictionary or set body; TypeError for an unhashable key.

    A key whose class hashes in Python goes through the traced protocol: an equal key already there gives its handle.
    """
    handle = handle_of(m.session, key)
    if handle is not None or type(key) is Const:
        return handle
    hashed = hash_value(m, key)
    body = holder.body
    materialise(m, holder)
    for other in list(body.known):
        if type(other) is Hashed and other.hash == hashed and (other.value is key or equal(m, other.value, key)):
            return other
        if type(other) is not Hashed and _host_hash(other) == hashed and equal(m, _key_value(body, other), key):
            return other
    return Hashed(key, hashed)


def _host_hash(handle: Any) -> Any:
    return None if isinstance(handle, Value) else hash(handle)


def _key_value(body: Any, handle: Any) -> Value:
    entry = body.known[handle]
    return entry[0] if isinstance(entry, tuple) else entry


def materialise(m: Machine, holder: Obj) -> None:
    """Look at all keys of a dictionary or set."""
    (set_ if isinstance(holder.body, set_.SetBody) else dict_).materialise(m.session, holder.body)


def hash_value(m: Machine, key: Value) -> int:
    """`hash(key)` by the traced protocol."""
    if type(key) is Const:
        return m.fold(hash, key.value).value
    if type(key) is Node:
        raise GraphBreak("FL207", "hash of a value known at run time only")
    if key.cls is tuple:
        from frameloom.symbolic.layouts import tuple_

        return hash(tuple(_Hash(hash_value(m, item)) for item in tuple_.items(m.session, key.body)))
    slot = m.observe.type_lookup(key.cls, "__hash__")
    if type(slot) is Const and slot.value is None:
        raise m.error(TypeError, f"unhashable type: '{key.cls.__name__}'")
    if type(slot) is Const:
        raise GraphBreak("FL507", f"hash of {key.cls.__name__}")
    made = m.invoke(slot, [key], {})
    plain = m.need_constant(made, "FL207", "hash known at run time only")
    return hash(plain)


class _Hash:
    """Stands for an item of known hash while a tuple is hashed."""

    __slots__ = ("hash",)

    def __init__(self, hash_: int) -> None:
        self.hash = hash_

    def __hash__(self) -> int:
        return self.hash


def dict_get(m: Machine, target: Obj, key: Value) -> Value:
    """The value under a key, or ABSENT."""
    return dict_.get(m.session, target.body, key_handle(m, target, key), key)


def dict_set(m: Machine, target: Obj, key: Value, value: Value) -> None:
    """`dict.__setitem__`."""
    dict_.set_(m.session, target.body, key_handle(m, target, key), key, value)
    log_set(m, target, key, value)


def log_set(m: Machine, target: Obj, key: Value, value: Value) -> None:
    """Log the store; what stands behind an instance's `__dict__` is an attribute."""
    if target.body.step == "attribute":
        m.session.operation("dict.set", target, key, value)
    else:
        m.session.operation("dict.set", target, key, value)


def dict_delete(m: Machine, target: Obj, key: Value) -> bool:
    """`dict.__delitem__`: whether the key was there."""
    handle = key_handle(m, target, key)
    if dict_.get(m.session, target.body, handle, key) is ABSENT:
        return False
    dict_.delete(m.session, target.body, handle, key)
    m.session.operation("dict.delete", target, key)
    return True


def dict_update(m: Machine, target: Obj, other: Value, unique: bool = False) -> None:
    """`dict.update`, or the merge of keywords of a call where `unique`."""
    for key, value in pairs(m, other, unique):
        if unique and key.cls is not str:
            raise m.error(TypeError, "keywords must be strings")
        if unique and dict_get(m, target, key) is not ABSENT:
            raise m.error(TypeError, f"got multiple values for keyword argument {key.value!r}")
        dict_set(m, target, key, value)


def pairs(m: Machine, other: Value, mapping_only: bool = False) -> list[tuple[Value, Value]]:
    """The (key, value) pairs that `dict.update(other)` takes."""
    if type(other) is Obj and isinstance(other.body, dict_.DictBody) and _plain_mapping(m, other):
        found = []
        for handle in dict_.handles(m.session, other.body):
            key = other.body.known[handle][0]
            found.append((key, dict_.get(m.session, other.body, handle, key)))
        return found
    if m.observe.type_lookup(other.cls, "keys") is not ABSENT:
        from frameloom.interpreter.attributes import get_attribute
        from frameloom.interpreter.operators import get_item

        keys = unpack(m, m.invoke(get_attribute(m, other, "keys"), [], {}))
        return [(key, get_item(m, other, key)) for key in keys]
    if mapping_only:
        raise m.error(TypeError, f"argument after ** must be a mapping, not {other.cls.__name__}")
    found = []
    iterator = iterate(m, other)
    while (item := next_item(m, iterator)) is not None:
        pair = unpack(m, item)
        if len(pair) != 2:
            raise m.error(
                ValueError,
                f"dictionary update sequence element #{len(found)} has length {len(pair)}; 2 is required",
            )
        found.append((pair[0], pair[1]))
    return found


def _plain_mapping(m: Machine, other: Obj) -> bool:
    """Whether CPython reads the storage itself: an exact dict, or a subclass that does not override `__iter__`."""
    if other.cls is dict:
        return True
    return m.observe.peek_type(other.cls, "__iter__") is dict.__dict__["__iter__"]


def set_add(m: Machine, target: Obj, item: Value) -> None:
    """`set.add`."""
    handle = key_handle(m, target, item)
    set_.add(m.session, target.body, handle, item)
    m.session.operation("set.add", target, item)
