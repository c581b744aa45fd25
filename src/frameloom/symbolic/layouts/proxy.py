"""Read-only views of mappings, those of a class's namespace included."""

from __future__ import annotations

import gc
import types
from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.reading import Reading
from frameloom.symbolic.values import Obj, Value


class ProxyBody:
    """`mapping`: what is viewed; None for a real proxy that was not looked at."""

    __slots__ = ("mapping",)

    def __init__(self, mapping: Value | None) -> None:
        self.mapping = mapping


class ClassNamespace:
    """The namespace of a class (an Obj)."""

    __slots__ = ("cls",)

    def __init__(self, cls: Obj) -> None:
        self.cls = cls


def _viewed(proxy: types.MappingProxyType) -> Any:
    return gc.get_referents(proxy)[0]


VIEWED = Reading(_viewed, "<mapping>")
NAMESPACE = type.__dict__["__dict__"]


@register(types.MappingProxyType)
class ProxyLayout(Layout):
    """types.MappingProxyType."""

    def look(self, obj: Obj, session: Any) -> ProxyBody:
        return ProxyBody(None)

    def children(self, obj: Obj) -> list:
        return self.needs_first(obj)

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.mapping if type(obj.body) is ProxyBody else obj.body.cls]

    def create(self, obj: Obj, build: Any) -> None:
        if type(obj.body) is ProxyBody:
            build.call_values(types.MappingProxyType, (obj.body.mapping,))
        else:
            build.call_values(NAMESPACE.__get__, (obj.body.cls,))


def mapping_of(session: Any, proxy: Obj) -> Value:
    """The mapping behind a proxy."""
    body = proxy.body
    if body.mapping is None:
        session.journal.set_field(body, "mapping", session.observe.read(proxy, "descriptor", VIEWED))
    return body.mapping
