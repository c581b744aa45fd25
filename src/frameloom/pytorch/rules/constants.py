"""Immutable objects of torch that are made from constants: devices, and facts about dtypes."""

from __future__ import annotations

import torch

from frameloom.interpreter.attributes import ALGORITHMS
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse, rule
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Value


def _made_from_constants(cls: type) -> None:
    @rule(cls)
    def make(m: Machine, *args: Value, **kwargs: Value) -> Value:
        given = [m.need_constant(value, "FL202", f"a {cls.__name__} from a tensor") for value in args]
        named = {name: m.need_constant(value, "FL202", f"a {cls.__name__} from a tensor") for name, value in kwargs.items()}
        return m.fold(cls, *given, **named)


for _cls in (torch.device, torch.finfo, torch.iinfo):
    _made_from_constants(_cls)

refuse("FL319", "a device is made the default for a while", torch.device.__enter__, torch.device.__exit__)

METACLASS = type(torch._C._SDPBackend)
"""The metaclass of classes that C++ makes, enumerations among them."""
INSTANCE_METHOD = type(torch._C._SDPBackend.__dict__["__eq__"])


def _of_class(m: Machine, obj: Value, name: str) -> Value:
    """As `type.__getattribute__`, but for methods, which stay unbound here and bound there."""
    if m.observe.type_lookup(m.observe.known_class(obj), name).cls is INSTANCE_METHOD:
        raise GraphBreak("FL103", f"method {name!r} of a class made in C++")
    return ALGORITHMS[type.__getattribute__](m, obj, name)


ALGORITHMS[METACLASS.__dict__["__getattribute__"]] = _of_class
