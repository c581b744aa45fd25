"""Bound methods, of Python functions and of C descriptors."""

from __future__ import annotations

import types
from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import Const, Obj, Value


class MethodBody:
    """`function` called with `self` first."""

    __slots__ = ("function", "self")

    def __init__(self, function: Value, self_: Value) -> None:
        self.function = function
        self.self = self_


@register(types.MethodType)
class MethodLayout(Layout):
    """types.MethodType."""

    def look(self, obj: Obj, session: Any) -> MethodBody:
        read = session.observe.read
        return MethodBody(read(obj, "method_function"), read(obj, "method_self"))

    def children(self, obj: Obj) -> list:
        return [obj.body.function, obj.body.self]

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.function, obj.body.self]

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(types.MethodType, (obj.body.function, obj.body.self))


def bound_name_is(found: Any, name: str) -> bool:
    """Whether a C function bound to an object is the one of this name."""
    return found.__name__ == name


@register(types.BuiltinFunctionType, types.MethodWrapperType)
class BoundBuiltinLayout(Layout):
    """A C method bound to an object: its descriptor and that object."""

    def look(self, obj: Obj, session: Any) -> MethodBody:
        found = obj.real.object
        self_ = session.observe.read(obj, "method_self")
        name = found.__name__
        session.guard("CALL", obj.real.source, (bound_name_is, name, f"{{}}.__name__ == {name!r}"))
        descriptor = session.observe.type_lookup(type(found.__self__), name)
        return MethodBody(descriptor, self_)

    def children(self, obj: Obj) -> list:
        return [obj.body.self]

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.function, obj.body.self]

    def create(self, obj: Obj, build: Any) -> None:
        descriptor = obj.body.function.value
        build.call_values(descriptor.__get__, (obj.body.self,))
