"""Ints that only running code knows (`id(...)`): when two are equal is decided by the objects they are about."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import identical
from frameloom.symbolic.layouts.payload import RunTimeBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Obj


def tell_apart(m: Machine, holder: Any, handle: Any) -> None:
    """A key made of such numbers: that none of the keys already there is equal is guarded by the identity of the objects."""
    own = run_time_numbers(handle)
    if not own:
        return
    if not holder.body.full:
        raise GraphBreak("FL501", "id() as a key of a container that the trace did not make")
    for other in holder.body.known:
        if other == handle:
            continue
        if type(other) in (int, bool, float, complex) and type(handle) is Obj:
            raise GraphBreak("FL501", "id() as a key beside numbers")
        for one, another in zip(own, run_time_numbers(other)):
            if one.body.operands and another.body.operands:
                identical(m, one.body.operands[0], another.body.operands[0])


def run_time_numbers(handle: Any) -> list[Obj]:
    """Those in a handle, which may be a tuple of handles."""
    if type(handle) is tuple:
        return [found for part in handle for found in run_time_numbers(part)]
    return [handle] if type(handle) is Obj and type(handle.body) is RunTimeBody else []
