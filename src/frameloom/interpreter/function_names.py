"""What CPython calls the callee of a call in its messages."""

from __future__ import annotations

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.formatting import convert
from frameloom.interpreter.machine import Machine
from frameloom.symbolic.signals import SymbolicRaise
from frameloom.symbolic.values import NULL, Const, Value


def callee_text(m: Machine, fn: Value, receiver: Value) -> str:
    """`module.qualname()` of the callee that two entries of the value stack are; the text of an object that has no qualified name."""
    callee = receiver if fn is NULL else fn
    qualname = _attribute(m, callee, "__qualname__")
    if qualname is None:
        return _text(m, callee)
    module = _attribute(m, callee, "__module__")
    if module is None or type(module) is Const and module.value in (None, "builtins"):
        return f"{_text(m, qualname)}()"
    return f"{_text(m, module)}.{_text(m, qualname)}()"


def _attribute(m: Machine, callee: Value, name: str) -> Value | None:
    try:
        return get_attribute(m, callee, name)
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        return None


def _text(m: Machine, value: Value) -> str:
    return m.need_constant(convert(m, "str", value), "FL205", "the name of a function")
