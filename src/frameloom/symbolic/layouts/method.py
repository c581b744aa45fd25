"""Bound methods, of Python functions and of C descriptors."""

from __future__ import annotations

import types
from typing import Any

from frameloom.symbolic.kinds import DEFINED_METHOD
from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.real import stands_on
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Obj, Value


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


def is_bound(found: Any, descriptor: Any) -> bool:
    """Whether a C function bound to an object is what this descriptor gives for that object."""
    owner = found.__self__
    if not stands_on(owner, descriptor.__objclass__):
        return False
    return descriptor.__get__(owner, type(owner)) == found


def descriptor_of(found: Any) -> Any:
    """The descriptor that a bound C function comes from; a subclass may hide it behind a method of its own."""
    name = found.__name__
    for base in type.__dict__["__mro__"].__get__(type(found.__self__)):
        candidate = type.__dict__["__dict__"].__get__(base).get(name)
        if type(candidate) in (types.MethodDescriptorType, types.WrapperDescriptorType) and is_bound(found, candidate):
            return candidate
    raise GraphBreak("FL101", name)


@register(types.BuiltinFunctionType, DEFINED_METHOD, types.MethodWrapperType)
class BoundBuiltinLayout(Layout):
    """A C method bound to an object: its descriptor and that object."""

    def look(self, obj: Obj, session: Any) -> MethodBody:
        found = obj.real.object
        self_ = session.observe.read(obj, "method_self")
        descriptor = descriptor_of(found)
        session.guard("CALL", obj.real.source, (is_bound, descriptor, f"{{}} is a bound {descriptor.__qualname__}"))
        return MethodBody(Const(descriptor), self_)

    def children(self, obj: Obj) -> list:
        return [obj.body.self]

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.function, obj.body.self]

    def create(self, obj: Obj, build: Any) -> None:
        descriptor = obj.body.function.value
        of_class = type(descriptor) is types.ClassMethodDescriptorType
        # A method in C that is told its class crashes CPython where it is bound without one (3.12 and 3.13.0).
        arguments = (NONE, obj.body.self) if of_class else (obj.body.self, Const(descriptor.__objclass__))
        build.call_values(descriptor.__get__, arguments)
