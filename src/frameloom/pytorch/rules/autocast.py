"""Autocast: `torch.autocast` is Python around these C functions, and is inlined."""

from __future__ import annotations

from typing import Any, Callable

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse, rule
from frameloom.pytorch import autocast
from frameloom.pytorch.casts import KINDS
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Value, boolean

COMPUTED = "an autocast setting is computed by the graph"


def _kind(m: Machine, given: Value) -> str:
    """A type of device that has an autocast of its own; about others torch has an error."""
    found = m.need_constant(given, "FL202", COMPUTED)
    if found not in KINDS:
        raise GraphBreak("FL302", f"autocast of a device of type {found!r}")
    return found


@rule(torch.is_autocast_enabled)
def _is_enabled(m: Machine, kind: Value = Const("cuda")) -> Value:
    return boolean(_kind(m, kind) in dict(m.session.torch.autocast.casts))


@rule(torch.get_autocast_dtype)
def _dtype(m: Machine, kind: Value) -> Value:
    return Const(autocast.dtype_of(m.session.torch, _kind(m, kind)))


@rule(torch.is_autocast_cache_enabled)
def _is_caching(m: Machine) -> Value:
    return boolean(autocast.caching(m.session.torch))


@rule(torch._C._is_any_autocast_enabled)
def _is_any_enabled(m: Machine) -> Value:
    return boolean(bool(m.session.torch.autocast.casts))


@rule(torch._C._is_autocast_available)
def _is_available(m: Machine, kind: Value) -> Value:
    return m.fold(torch._C._is_autocast_available, m.need_constant(kind, "FL202", COMPUTED))


@rule(torch.set_autocast_enabled)
def _set_enabled(m: Machine, *given: Value) -> Value:
    kind, wanted = given if len(given) == 2 else (Const("cuda"), *given)
    autocast.set_enabled(m.session.torch, _kind(m, kind), _flag(m, wanted))
    return NONE


@rule(torch.set_autocast_dtype)
def _set_dtype(m: Machine, kind: Value, dtype: Value) -> Value:
    wanted = m.need_constant(dtype, "FL202", COMPUTED)
    if type(wanted) is not torch.dtype:
        raise GraphBreak("FL302", "autocast is given what is no dtype")
    autocast.set_dtype(m.session.torch, _kind(m, kind), wanted)
    return NONE


@rule(torch.set_autocast_cache_enabled)
def _set_caching(m: Machine, wanted: Value) -> Value:
    autocast.set_caching(m.session.torch, _flag(m, wanted))
    return NONE


def _flag(m: Machine, given: Value) -> bool:
    found = m.need_constant(given, "FL201", COMPUTED)
    if type(found) is not bool:
        raise GraphBreak("FL302", "autocast is given what is no bool")
    return found


def _nests(function: Callable, step: int) -> None:
    @rule(function)
    def nested(m: Machine) -> Value:
        return Const(autocast.nest(m.session.torch, step))


_nests(torch.autocast_increment_nesting, 1)
_nests(torch.autocast_decrement_nesting, -1)


@rule(torch.clear_autocast_cache)
def _clear(m: Machine) -> Any:
    autocast.clear(m.session.torch)
    return NONE


refuse(
    "FL302", "an autocast setting is asked or set in a deprecated form",
    *(
        getattr(torch, name)
        for name in dir(torch)
        if "autocast" in name and name.startswith(("set_", "get_", "is_")) and name.split("autocast_", 1)[1].startswith(("cpu", "gpu", "ipu", "xla"))
    ),
)
