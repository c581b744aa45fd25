"""Ints that only running code knows (`id(...)`): when two are equal is decided by the objects they are about."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import identical
from frameloom.symbolic.layouts import dict_, set_
from frameloom.symbolic.layouts.payload import RunTimeBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Node, Obj, Value


def tell_apart(m: Machine, holder: Any, handle: Any) -> None:
    """A key made of such numbers: that none of the keys already there is equal is guarded by the identity of the objects."""
    own = run_time_numbers(handle)
    if not own:
        return
    (set_ if isinstance(holder.body, set_.SetBody) else dict_).materialise(m.session, holder.body)
    for other in holder.body.known:
        if other == handle:
            continue
        if type(other) in (int, bool, float, complex) and type(handle) is Obj:
            raise GraphBreak("FL501", "id() as a key beside numbers")
        if type(other) is tuple and type(handle) is tuple and len(run_time_numbers(other)) != len(own):
            raise GraphBreak("FL501", "id() as a part of a key beside others")
        for one, another in zip(own, run_time_numbers(other)):
            if one.body.operands and another.body.operands:
                _tell_apart(m, one.body.operands[0], another.body.operands[0])


def _tell_apart(m: Machine, a: Value, b: Value) -> None:
    """Two objects with different keys: guarded to be two; atoms of one value may be one object or two."""
    if type(a) is Const and type(b) is Const and a is not b and type(a.value) is type(b.value) and a.value == b.value:
        raise GraphBreak("FL501", f"identity of a {a.cls.__name__}")
    identical(m, a, b)


def run_time_numbers(handle: Any) -> list[Obj]:
    """Those in a handle, which may be a tuple of handles."""
    if type(handle) is tuple:
        return [found for part in handle for found in run_time_numbers(part)]
    return [handle] if type(handle) is Obj and type(handle.body) is RunTimeBody else []


def tell_node_apart(m: Machine, holder: Any, node: Node) -> None:
    """An object of the domain as a key is found by identity.  In a container that exists, that is the identity of the very
    object; among keys of a fresh one, that none of them is the same."""
    if node.real is None:
        return
    if holder.body.real is not None:
        m.observe.identify(node)
        (set_ if isinstance(holder.body, set_.SetBody) else dict_).materialise(m.session, holder.body)
        return
    for other in holder.body.known:
        if type(other) is Node and other is not node and other.real is not None:
            identical(m, other, node)
