"""Classes and modules: objects known by identity whose attributes live in a dictionary of their own."""

from __future__ import annotations

import types
from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.values import Obj


@register(type)
class ClassLayout(Layout):
    """A class; its attributes are read along its MRO by the observer."""

    def look(self, obj: Obj, session: Any) -> None:
        return None


@register(types.ModuleType)
class ModuleLayout(Layout):
    """A module; its attributes are its dictionary's entries, shared with the functions that have it as globals."""

    def look(self, obj: Obj, session: Any) -> None:
        space = NAMESPACE.__get__(obj.real.object)
        obj.attributes = DictBody(True) if space is None else globals_object(session, space).body
        return None


NAMESPACE = types.ModuleType.__dict__["__dict__"]


def globals_object(session: Any, real: dict) -> Obj:
    """The dictionary of a module's globals as a heap object; one per real dictionary."""
    observe = session.observe
    known = observe.seen.get(id(real))
    if known is None:
        known = Obj(dict, session.observe.real(real, session.sources.const(real)))
        known.body = DictBody(False, known.real, "global" if real is session.root_globals else "dict_item")
        known.body.owner = known
        session.journal.set_item(observe.seen, id(real), known)
    return known


@register(types.SimpleNamespace)
class SimpleNamespaceLayout(Layout):
    """types.SimpleNamespace: attributes and nothing else."""

    def create(self, obj: Obj, build: Any) -> None:
        build.call_constant(types.SimpleNamespace.__new__, build.constant(obj.cls))
