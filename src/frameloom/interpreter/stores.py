"""Storage-level writes to dictionaries and sets, by key value: what displays, updates and rules share."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from typing import Any, Iterator

from frameloom.interpreter.addresses import tell_apart, tell_node_apart
from frameloom.interpreter.iteration import QUICK, iterate, next_item, unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import equal, is_graph, is_number
from frameloom.symbolic.keys import Hashed, answers, class_hashable, handle_of
from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.layouts import dict_, set_, tuple_
from frameloom.symbolic.layouts.base import storage_base
from frameloom.symbolic.layouts.method import MethodBody
from frameloom.symbolic.layouts.payload import PayloadBody, RunTimeBody
from frameloom.symbolic.layouts.reference import ReferenceBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Node, Obj, Value


def key_handle(m: Machine, holder: Any, key: Value) -> Any:
    """The handle of `key` in a dictionary or set body; TypeError for an unhashable key.

    A key whose class hashes in Python goes through the traced protocol: an equal key already there gives its handle.
    """
    if type(key) is Const:
        handle = key.value
        if key.cls not in ATOMS:
            m.fold(hash, handle)
        return handle if not m.session.hashed else _met(m, holder, key, m.fold(hash, handle).value, handle)
    if type(key) is Obj and type(key.body) is ReferenceBody:
        if not class_hashable(key.body.target.cls):
            raise GraphBreak("FL507", f"a weak reference to a {key.body.target.cls.__name__} as a key")
        return dict_.stored_reference(holder.body, weakref.ref(m.observe.known(key.body.target)))
    if is_number(key):
        return key_handle(m, holder, Const(m.need_constant(key, "FL207", "a key known at run time only")))
    handle = _plain_handle(m, key)
    if handle is not None:
        if type(handle) is tuple and handle and handle[0] is MethodBody and not holder.body.full:
            raise GraphBreak("FL507", "a bound method as a key of a container that exists already")
        tell_apart(m, holder, handle)
        if is_graph(handle):
            tell_node_apart(m, holder, handle)
        return handle
    asked: list[tuple[Value, int]] = []
    hashed = hash_value(m, key, asked)
    made = Hashed(key, hashed, tuple(asked))
    m.session.note_hashed()
    return _met(m, holder, key, hashed, made)


def stored_handle(m: Machine, holder: Any, handle: Any, key: Value) -> Any:
    """The handle, in another container, of a key that is stored already: its hash is not asked for again."""
    if not m.session.hashed or isinstance(handle, Value):
        return handle
    return _met(m, holder, key, hash(handle), handle)


def _with_known_numbers(m: Machine, key: Obj) -> Obj:
    """A key that is a tuple, with the numbers in it that running code knows guarded by their values; the very key where there are none."""
    items = tuple_.items(m.session, key.body)
    known = [_with_known_number(m, item) for item in items]
    return key if all(one is other for one, other in zip(known, items)) else m.session.alloc(key.cls, TupleBody(known))


def _with_known_number(m: Machine, item: Value) -> Value:
    if is_number(item):
        return Const(m.need_constant(item, "FL207", "a key known at run time only"))
    return _with_known_numbers(m, item) if type(item) is Obj and isinstance(item.body, TupleBody) else item


def _plain_handle(m: Machine, key: Value) -> Any:
    """The handle of a key that needs no `__hash__` or `__eq__` written in Python, or None."""
    if type(key) is Obj and isinstance(key.body, TupleBody):
        key = _with_known_numbers(m, key)
    if type(key) is Obj and key.cls is frozenset:
        set_.materialise(m.session, key.body)
        plain = not any(isinstance(handle, Hashed) for handle in key.body.known)
        return frozenset(key.body.known) if plain else None
    if type(key) is Obj and type(key.body) is RunTimeBody:
        return key
    if type(key) is Obj and isinstance(key.body, PayloadBody):
        return key.body.value.value if _keyed_as_base(m, key) else handle_of(m.session, key)
    if type(key) is Obj and isinstance(key.body, TupleBody) and key.cls is not tuple:
        return handle_of(m.session, m.tuple(key.body.items)) if _keyed_as_base(m, key) else None
    if type(key) is Obj and isinstance(key.body, MethodBody):
        return (MethodBody, key.body.self, key.body.function)
    return handle_of(m.session, key)


def _keyed_as_base(m: Machine, key: Obj) -> bool:
    """Whether an instance of a subclass hashes and compares as the class of C that it stands on."""
    base = storage_base(key.cls)
    return all(m.observe.peek_type(key.cls, name) is getattr(base, name) for name in ("__hash__", "__eq__"))


def _met(m: Machine, holder: Any, key: Value, hashed: int, new: Any) -> Any:
    """The handle of an equal key that is there already, else `new`."""
    body = holder.body
    materialise(m, holder)
    if not isinstance(new, Hashed) and new in body.known:
        return new
    near = [other for other in body.known if _hash_of(other, new) == hashed]
    if len(near) > 1 and (body.removals or body.real is not None):
        raise GraphBreak("FL507", f"{len(near)} keys with one hash, asked in an order that follows from what was removed before")
    for other in near:
        value = other.value if isinstance(other, Hashed) else _key_value(body, other)
        if value is key or equal(m, value, key):
            return other
    if near and issubclass(holder.cls, OrderedDict):
        raise GraphBreak("FL507", "a key that an OrderedDict asks again for the place of another one")
    return new


def _hash_of(handle: Any, new: Any) -> Any:
    """The hash of a key that may have to be compared by a method written in Python, else None."""
    if isinstance(handle, Hashed):
        return handle.hash
    if not isinstance(new, Hashed) or isinstance(handle, Value):
        return None
    return hash(handle)


def _key_value(body: Any, handle: Any) -> Value:
    entry = body.known[handle]
    return entry[0] if isinstance(entry, tuple) else entry


def materialise(m: Machine, holder: Obj) -> None:
    """Look at all keys of a dictionary or set."""
    (set_ if isinstance(holder.body, set_.SetBody) else dict_).materialise(m.session, holder.body)


def hash_value(m: Machine, key: Value, asked: list | None = None) -> int:
    """`hash(key)` by the traced protocol; `asked` gets what `Hashed.asked` says."""
    asked = [] if asked is None else asked
    if type(key) is Const:
        return m.fold(hash, key.value).value
    if type(key) is Node:
        return hash_value(m, Const(m.need_constant(key, "FL207", "hash of a value known at run time only")))
    slot = m.observe.type_lookup(key.cls, "__hash__")
    if type(slot) is Const:
        return _c_hash(m, key, slot.value, asked)
    made = m.invoke(slot, [key], {})
    plain = m.need_constant(made, "FL207", "hash known at run time only")
    if not isinstance(plain, int):
        raise m.error(TypeError, "__hash__ method should return an integer")
    in_a_word = -(2**63) <= plain < 2**63
    found = -2 if plain == -1 else int(plain) if in_a_word else hash(plain)
    asked.append((key, found))
    return found


def _c_hash(m: Machine, key: Value, slot: Any, asked: list) -> int:
    """The hash by a method in C: known for what has the storage of an atom or a frozenset."""
    if slot is None:
        raise m.error(TypeError, f"unhashable type: '{type_name(key.cls)}'")
    if type(key) is Obj and isinstance(key.body, TupleBody) and slot is tuple.__hash__:
        return hash(tuple(_Hash(hash_value(m, item, asked)) for item in tuple_.items(m.session, key.body)))
    if type(key) is Obj and isinstance(key.body, PayloadBody):
        if key.body.value.value != key.body.value.value:
            raise GraphBreak("FL501", "hash of a NaN, which hashes by its address")
        return m.fold(slot, key.body.value.value).value
    if key.cls is frozenset:
        set_.materialise(m.session, key.body)
        return hash(frozenset(_Hash(_member_hash(m, *member, asked)) for member in key.body.known.items()))
    raise GraphBreak("FL507", f"hash of {key.cls.__name__}")


def _member_hash(m: Machine, handle: Any, value: Value, asked: list) -> int:
    """The hash of a member of a frozenset, which keeps it."""
    if type(handle) is not Hashed:
        return hash_value(m, value, asked)
    asked.extend(handle.asked)
    return handle.hash


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
    dict_put(m, target, key_handle(m, target, key), key, value)


def dict_put(m: Machine, target: Obj, handle: Any, key: Value, value: Value) -> None:
    """Store under a key that has the handle."""
    body = target.body
    dict_.set_(m.session, body, handle, key, value)
    told = answers(body.known, handle) if m.session.hashed else ()
    if told:
        m.session.operation("told", body.owner or target, told, "dict.set", body.known[handle][0], value)
    else:
        dict_.log_set(m.session, target, body, key, value)


def dict_delete(m: Machine, target: Obj, key: Value) -> bool:
    """`dict.__delitem__`: whether the key was there."""
    handle = key_handle(m, target, key)
    if dict_.get(m.session, target.body, handle, key) is ABSENT:
        return False
    dict_remove(m, target, handle, key)
    return True


def dict_remove(m: Machine, target: Obj, handle: Any, key: Value) -> None:
    """Remove the entry of a handle that is there."""
    body = target.body
    told = answers(body.known, handle) if m.session.hashed else ()
    if told:
        m.session.operation("told", body.owner or target, told, "dict.delete", body.known[handle][0])
    dict_.delete(m.session, body, handle, key)
    if not told:
        dict_.log_delete(m.session, target, body, key)


def dict_update(m: Machine, target: Obj, other: Value, unique: bool = False, mapping_only: bool = False) -> None:
    """`dict.update`; where `unique`, for the keywords of a call: a KeyError of a key that is there, an AttributeError where there are
    no keys, and so where `mapping_only`."""
    if not unique and type(other) is Obj and isinstance(other.body, dict_.DictBody) and _plain_mapping(m, other):
        _merge(m, target, other)
        return
    for key, value in pairs(m, other, unique or mapping_only):
        if unique and dict_get(m, target, key) is not ABSENT:
            raise m.error_of(KeyError, key)
        dict_set(m, target, key, value)


def _merge(m: Machine, target: Obj, other: Obj) -> None:
    """Take over the entries of a dictionary; an empty one takes the table as it is, and compares nothing."""
    cloned = target.body.full and not target.body.known and other.body.removals == 0
    for handle, key, value in stored_entries(m, other):
        dict_put(m, target, handle if cloned else stored_handle(m, target, handle, key), key, value)


def stored_entries(m: Machine, holder: Obj) -> Iterator[tuple[Any, Value, Value]]:
    """(handle, key, value) of the entries of a dictionary in order, each read when it is asked for.  What CPython does where code
    that runs between two of them changes the dictionary depends on its table: that breaks."""
    body = holder.body
    handles = dict_.handles(m.session, body)
    removals = body.removals
    for handle in handles:
        key = body.known[handle][0]
        yield handle, key, dict_.get(m.session, body, handle, key)
        if body.removals != removals or len(body.known) != len(handles):
            raise GraphBreak("FL102", "a dictionary that is changed while it is gone through")


def pairs(m: Machine, other: Value, mapping_only: bool = False) -> Iterator[tuple[Value, Value]]:
    """The (key, value) pairs that `dict.update(other)` takes, each read when it is asked for."""
    if type(other) is Obj and isinstance(other.body, dict_.DictBody) and _plain_mapping(m, other):
        for _, key, value in stored_entries(m, other):
            yield key, value
        return
    if m.observe.type_lookup(other.cls, "keys") is not ABSENT:
        from frameloom.interpreter.attributes import get_attribute
        from frameloom.interpreter.operators import get_item

        iterator = iterate(m, m.invoke(get_attribute(m, other, "keys"), [], {}))
        while (key := next_item(m, iterator)) is not None:
            yield key, get_item(m, other, key)
        return
    if mapping_only:
        raise m.error(AttributeError, f"{type_name(other.cls)!r} object has no attribute 'keys'")
    iterator = iterate(m, other)
    for at in itertools.count():
        item = next_item(m, iterator)
        if item is None:
            return
        yield _pair(m, item, at)


def _pair(m: Machine, item: Value, at: int) -> tuple[Value, Value]:
    """The key and value in an element of an iterable of pairs."""
    if item.cls not in QUICK and m.observe.type_lookup(item.cls, "__iter__") is ABSENT:
        if m.observe.type_lookup(item.cls, "__getitem__") is ABSENT:
            raise m.error(TypeError, f"cannot convert dictionary update sequence element #{at} to a sequence")
    pair = unpack(m, item)
    if len(pair) != 2:
        raise m.error(ValueError, f"dictionary update sequence element #{at} has length {len(pair)}; 2 is required")
    return pair[0], pair[1]


def _plain_mapping(m: Machine, other: Obj) -> bool:
    """Whether CPython reads the storage itself: an exact dict, or a subclass that does not override `__iter__`."""
    if other.cls is dict:
        return True
    return m.observe.peek_type(other.cls, "__iter__") is dict.__dict__["__iter__"]


def set_add(m: Machine, target: Obj, item: Value) -> None:
    """`set.add`."""
    set_put(m, target, key_handle(m, target, item), item)


def set_put(m: Machine, target: Obj, handle: Any, item: Value) -> None:
    """Add a member that has the handle."""
    set_.add(m.session, target.body, handle, item)
    log_member(m, target, "set.add", handle, item)


def log_member(m: Machine, target: Obj, kind: str, handle: Any, item: Value) -> None:
    """Log the adding or removal of a member."""
    told = answers(target.body.known, handle) if m.session.hashed else ()
    if told:
        item = handle.value if type(handle) is Hashed else target.body.known.get(handle, item)
        m.session.operation("told", target, told, kind, item)
    else:
        m.session.operation(kind, target, item)
