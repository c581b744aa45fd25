"""`id()`, identity hashes and the running thread's number: integers that only running code knows."""

from __future__ import annotations

import _thread
from typing import Any

from frameloom.interpreter.machine import Machine
from frameloom.rules.define import function, methods
from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.layouts.payload import RunTimeBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Obj, Value


def number_of(m: Machine, function_: Any, value: Value) -> Obj:
    """The int that `function_(value)` gives at run time; the same one for the same object."""
    if type(value) is Const and type(value.value) in ATOMS and not _is_singleton(value.value):
        raise GraphBreak("FL501", f"identity of a {value.cls.__name__}")
    key = (function_, id(value.value) if type(value) is Const else value)
    known = m.memory.get(key)
    if known is None:
        known = m.remember(key, m.session.alloc(int, RunTimeBody(function_, (value,))))
    return known


def _is_singleton(value: Any) -> bool:
    return value is None or value is True or value is False or value is Ellipsis or value is NotImplemented


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
