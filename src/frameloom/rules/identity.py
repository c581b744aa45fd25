"""`id()`, identity hashes and the running thread's number: integers that only running code knows."""

from __future__ import annotations

import _thread
from typing import Any

from frameloom.interpreter.machine import Machine
from frameloom.rules.define import function, methods
from frameloom.symbolic.layouts.payload import RunTimeBody
from frameloom.symbolic.values import Const, Obj, Value

UNCERTAIN = (int, float, complex, str, bytes)
"""Classes of atoms of which two equal ones may be one object or two."""


def number_of(m: Machine, function_: Any, value: Value) -> Obj:
    """The int that `function_(value)` gives at run time; the same one for the same object."""
    key = _key_of(function_, value)
    known = None if key is None else m.memory.get(key)
    if known is None:
        known = m.session.alloc(int, RunTimeBody(function_, (value,)))
        if key is not None:
            m.remember(key, known)
    return known


def _key_of(function_: Any, value: Value) -> Any:
    """What two values of one object share; None for an atom whose identity is uncertain."""
    if type(value) is not Const:
        return (function_, value)
    atom = value.value
    if type(atom) in UNCERTAIN and not (type(atom) is int and -5 <= atom <= 256):
        return None
    return (function_, type(atom), atom if type(atom) is int else id(atom))


@function(id)
def id_(m: Machine, value: Value, /) -> Value:
    return number_of(m, id, value)


@methods(object, "__hash__")
def identity_hash(m: Machine, value: Value, /) -> Value:
    return number_of(m, object.__hash__, value)


@function(_thread.get_ident)
def get_ident(m: Machine) -> Value:
    known = m.memory.get(_thread.get_ident)
    if known is None:
        known = m.remember(_thread.get_ident, m.session.alloc(int, RunTimeBody(_thread.get_ident)))
    return known
