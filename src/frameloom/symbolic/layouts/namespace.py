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
    """A module; its attributes are its dictionary's entries."""

    def look(self, obj: Obj, session: Any) -> None:
        obj.attributes = DictBody(False, obj.real, "attribute")
        return None
