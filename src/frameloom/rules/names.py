"""Attribute names as arguments."""

from __future__ import annotations

from frameloom.interpreter.machine import Machine
from frameloom.symbolic.layouts.payload import PayloadBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Obj, Value


def attribute_name(m: Machine, name: Value, message: str = "attribute name must be string, not '{}'") -> str:
    """The plain string of an attribute's name; TypeError where it is no string."""
    if type(name) is Const and type(name.value) is str:
        return name.value
    if not issubclass(name.cls, str):
        raise m.error(TypeError, message.format(type_name(name.cls)))
    if type(name) is Obj and isinstance(name.body, PayloadBody):
        return name.body.value.value
    raise GraphBreak("FL205", "a name known at run time only")
