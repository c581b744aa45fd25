"""The question for a length that `list(x)` and `tuple(x)` ask of what they take from (PEP 424)."""

from __future__ import annotations

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import NOT_IMPLEMENTED, _call_slot, length
from frameloom.symbolic.observe import is_static
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import SymbolicRaise
from frameloom.symbolic.values import ABSENT, Const, Value


def ask(m: Machine, iterable: Value) -> None:
    """Call the `__len__` or `__length_hint__` of a class of the program; the answer itself shows nowhere."""
    if is_static(iterable.cls):
        return
    if m.observe.type_lookup(iterable.cls, "__len__") is not ABSENT:
        try:
            length(m, iterable)
            return
        except SymbolicRaise as signal:
            if not issubclass(signal.value.cls, TypeError):
                raise
    _ask_hint(m, iterable)


def _ask_hint(m: Machine, iterable: Value) -> None:
    slot = m.observe.type_lookup(iterable.cls, "__length_hint__")
    if slot is ABSENT:
        return
    try:
        answer = _call_slot(m, slot, iterable, [])
    except SymbolicRaise as signal:
        if issubclass(signal.value.cls, TypeError):
            return
        raise
    if answer is NOT_IMPLEMENTED or type(answer) is Const and answer.value is NotImplemented:
        return
    if not issubclass(answer.cls, int):
        raise m.error(TypeError, f"__length_hint__ must be an integer, not {type_name(answer.cls)}")
    if type(answer) is Const and answer.value < 0:
        raise m.error(ValueError, "__length_hint__() should return >= 0")
