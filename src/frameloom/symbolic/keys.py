"""Which objects the host may hash while tracing, and the handle under which a value is stored as a key.

Law: a user's `__hash__` or `__eq__` is never run by capture itself.
"""

from __future__ import annotations

import types
from typing import Any, Iterable, Iterator

from frameloom.symbolic.kinds import ATOMS, STANDARD_ENUM_HASHES, is_one_of
from frameloom.symbolic.values import Const, Node, Value

IDENTITY_HASH = object.__hash__


def host_hashable(key: Any) -> bool:
    """Whether hashing and comparing this real object runs no Python code."""
    cls = type(key)
    if cls in ATOMS:
        return True
    if cls is tuple or cls is frozenset:
        return all(host_hashable(item) for item in key)
    return class_hashable(cls)


def class_hashable(cls: type) -> bool:
    """Whether instances of a class hash and compare by identity, or by a rule of C code that needs no Python."""
    if cls.__hash__ is IDENTITY_HASH and cls.__eq__ is object.__eq__:
        return True
    if is_one_of(cls.__hash__, STANDARD_ENUM_HASHES) and is_one_of(cls.__eq__, (object.__eq__, int.__eq__, str.__eq__)):
        return True
    if cls in (types.FunctionType, types.BuiltinFunctionType, range):
        return True
    return cls.__hash__ is not None and not cls.__flags__ & (1 << 9)


class Hashed:
    """The handle of a key with a `__hash__` written in Python: found by its hash and the traced `__eq__`.

    asked: (value, hash) of each object whose `__hash__` in Python gave a part of the hash: the key itself, or what it holds;
    hash is None where it is not known.
    """

    __slots__ = ("value", "hash", "asked")

    def __init__(self, value: Value, hash_: int, asked: tuple) -> None:
        self.value = value
        self.hash = hash_
        self.asked = asked

    def __hash__(self) -> int:
        return self.hash


def answers(known: Iterable, handle: Any) -> tuple:
    """What the host must be told where it looks for `handle` among `known`, so that it asks no `__hash__` or `__eq__` of a
    user's: see `Hashed.asked`."""
    own = handle.asked if type(handle) is Hashed else ()
    return (*own, *_meeting(known, handle))


def all_answers(known: Iterable) -> tuple:
    """As `answers`, where all of these are stored."""
    return tuple(part for handle in known if type(handle) is Hashed for part in handle.asked)


def _meeting(known: Iterable, handle: Any) -> Iterator[tuple]:
    """What is said of the other keys that have the hash of this one."""
    for other in known:
        if type(other) is Hashed and other is not handle and other.hash == hash(handle):
            yield from other.asked


def handle_of(session: Any, value: Value) -> Any:
    """The handle of a key value, or None where only the traced protocol (`__hash__`, `__eq__`) can tell.

    Constants are their own handles, so that equal keys (1, True, 1.0) meet as Python makes them meet.  Tuples of such are
    plain tuples.  An object hashed by identity is its real object where it has one, and the symbolic object otherwise.
    """
    if type(value) is Const:
        return value.value
    if type(value) is Node:
        return value
    cls = value.cls
    if cls is tuple:
        from frameloom.symbolic.layouts import tuple_

        parts = tuple(handle_of(session, item) for item in tuple_.items(session, value.body))
        return None if any(p is None and not _is_none(i) for p, i in zip(parts, value.body.items)) else parts
    if cls is frozenset:
        return None
    if class_hashable(cls):
        if value.real is None:
            return value
        found = session.observe.known(value)
        return found if host_hashable(found) else value
    return None


def _is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None
