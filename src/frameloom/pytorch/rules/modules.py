"""`torch.nn.Module`: rules of the same meaning as its Python, for what every model runs thousands of times."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.modules.lazy import LazyModuleMixin

from frameloom.interpreter.attributes import own_attribute
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.symbolic.layouts import dict_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Obj, Value


@rule(LazyModuleMixin._infer_parameters)
def _infer_parameters(m: Machine, *args: Value, **kwargs: Value) -> Value:
    """Done once, by code that gives tensors and modules other classes: it runs as it is, all of it."""
    raise GraphBreak("FL310", "a lazy module makes its parameters at its first call")


PLACES = ("_parameters", "_buffers", "_modules")


@rule(torch.nn.Module.__getattr__)
def _getattr(m: Machine, module: Value, name: Value) -> Any:
    """Parameters, buffers and submodules, in this order, each from a dictionary of the instance."""
    if type(module) is not Obj or type(name) is not Const:
        return NotImplemented
    for place in PLACES:
        space = own_attribute(m, module, place)
        if space is ABSENT:
            continue
        if type(space) is not Obj or not isinstance(space.body, DictBody) or space.cls is not dict:
            return NotImplemented
        found = dict_.get(m.session, space.body, name.value, name)
        if found is not ABSENT:
            return found
    raise m.error(AttributeError, f"'{module.cls.__name__}' object has no attribute '{name.value}'")
