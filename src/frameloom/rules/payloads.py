"""Atoms as instances of the class that was asked for."""

from __future__ import annotations

from typing import Any, Callable

from frameloom.interpreter.calls import class_made_by, fresh_instance
from frameloom.interpreter.machine import Machine
from frameloom.rules.define import Signature, function
from frameloom.rules.known import plain
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.layouts.payload import PAYLOADS, PayloadBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Value


def in_class(m: Machine, cls: type, value: Value) -> Value:
    """An atom as an instance of `cls`: itself, or the payload of a new instance of a subclass."""
    if cls in PAYLOADS:
        return value
    found = plain(m, value)
    if found is MISSING:
        raise GraphBreak("FL207", f"{cls.__name__}() of a value known at run time only")
    return fresh_instance(m, cls, PayloadBody(Const(found)))


def constructs(cls: type, make: Callable) -> None:
    """Let `cls.__new__` mean what the rule of calling `cls` means, for subclasses too."""
    takes = Signature(make).takes

    @function(cls.__dict__["__new__"])
    def new(m: Machine, of: Value, /, *args: Value, **kwargs: Value) -> Any:
        known = class_made_by(m, cls, of)
        found = make(m, *args, **kwargs) if takes(args, kwargs) else NotImplemented
        return found if found is NotImplemented else in_class(m, known, found)
