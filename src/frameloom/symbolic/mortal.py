"""Objects of the program's that an entry names and must not keep alive.

An entry lives as long as the code that it is for, and an object may die much earlier: what the program sees of that (a finaliser,
a weak reference) must happen when it would without the entry.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from enum import Enum
from typing import Any

from frameloom.symbolic.real import can_be_weak, stands_on
from frameloom.symbolic.signals import GraphBreak

OWNED_KEYS: set[type] = set()
"""Classes whose instances, as keys of dictionaries, an entry may keep alive: domains add theirs"""


def may_die(key: Any) -> bool:
    """Whether a key or member is, or holds, an object of the program's that must not live on for an entry's sake."""
    if type(key) is tuple:
        return any(map(may_die, key))
    if stands_on(key, type):
        return LOCAL in QUALNAME.__get__(key) and can_be_weak(key)
    return type(key) not in OWNED_KEYS and not stands_on(key, Enum) and can_be_weak(key)


LOCAL = "<locals>"
"""In the qualified name of a class that a function makes: one of a module lives as long as that."""
QUALNAME = type.__dict__["__qualname__"]


def require_weakly(keys: tuple) -> None:
    """Break where a container is looked through that holds tuples of objects that may die: the entry would need the very tuples."""
    if any(type(key) is tuple and may_die(key) for key in keys):
        raise GraphBreak("FL503", "a container is looked through that has tuples with objects in them as keys")


class MortalKeys:
    """A tuple of keys, of which those that may die are held weakly.  Calling it gives the keys, with an object that is no key for
    each that is gone."""

    __slots__ = ("_parts",)

    def __init__(self, keys: tuple) -> None:
        self._parts = tuple([_held(key) for key in keys])

    def __call__(self) -> tuple:
        return tuple([held if get is None else GONE if (found := get()) is None else found for get, held in self._parts])


def _held(key: Any) -> tuple:
    """(what gives the key, or None; the key itself where it may be kept)"""
    if not may_die(key):
        return (None, key)
    return (MortalKeys(key) if type(key) is tuple else weakref.ref(key), None)


class Gone:
    """Stands for an object that has died."""

    __slots__ = ()


GONE = Gone()


def weakly(value: Any) -> Callable[[], Any] | None:
    """What gives the object, or None once it is gone, without keeping it alive; None for what an entry may keep."""
    if type(value) is tuple:
        return MortalKeys(value) if may_die(value) else None
    return weakref.ref(value) if can_be_weak(value) else None


def still_there(held: Any) -> Any:
    """What `weakly` was given; None for an object that has died; anything else itself."""
    return held() if type(held) in (weakref.ref, MortalKeys) else held
