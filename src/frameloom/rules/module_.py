"""Modules as objects."""

from __future__ import annotations

import types

from frameloom.interpreter.attributes import module_get, reads
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse
from frameloom.rules.define import methods
from frameloom.rules.names import attribute_name
from frameloom.symbolic.layouts.namespace import NAMESPACE
from frameloom.symbolic.values import Value
from frameloom.symbolic.signals import GraphBreak


@reads(NAMESPACE)
def namespace(m: Machine, module: Value) -> Value:
    space = module.attributes.owner
    if space is None:
        raise GraphBreak("FL103", "attribute '__dict__' of a module without one")
    return space


@methods(types.ModuleType, "__getattribute__")
def getattribute(m: Machine, module: Value, name: Value, /) -> Value:
    return module_get(m, module, attribute_name(m, name))


refuse("FL101", "a module is made", types.ModuleType)
