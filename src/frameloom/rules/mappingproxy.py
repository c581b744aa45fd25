"""Read-only views of mappings: `types.MappingProxyType`, and the namespaces of classes."""

from __future__ import annotations

import types
from typing import Any

from frameloom.interpreter.attributes import class_body, get_attribute
from frameloom.interpreter.containment import contains
from frameloom.interpreter.iteration import iterate
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import compare, get_item, length
from frameloom.rules.define import function, methods
from frameloom.rules.names import attribute_name
from frameloom.symbolic.layouts.proxy import ClassNamespace, ProxyBody, mapping_of
from frameloom.symbolic.observe import namespace_of
from frameloom.symbolic.reading import keyed
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, Obj, Value, boolean

PROXY = types.MappingProxyType


def _entry(cls: type, name: str) -> Any:
    try:
        return namespace_of(cls)[name]
    except KeyError:
        raise AttributeError(name) from None


NAMESPACE_ENTRY = keyed(_entry, "__dict__")


def _has_no_entry(cls: type, name: str) -> bool:
    return name not in namespace_of(cls)


def class_namespace(m: Machine, cls: Value) -> Obj:
    """`cls.__dict__`."""
    return m.session.alloc(PROXY, ClassNamespace(cls))


def class_entry(m: Machine, cls: Value, name: str) -> Value:
    """What a class's own namespace holds under a name, or ABSENT."""
    if class_body(cls) is not None:
        return cls.body.entry(name)
    known = m.observe.known(cls)
    written = m.observe.class_writes.get((known, name))
    if written is not None:
        return written
    found = m.observe.read(cls, "descriptor", NAMESPACE_ENTRY(name))
    if found is ABSENT:
        m.session.guard("CALL", cls.real.source, (_has_no_entry, name, f"{name!r} not in {{}}.__dict__"))
    return found


def _mapping(m: Machine, proxy: Obj, what: str) -> Value:
    if type(proxy.body) is not ProxyBody and class_body(proxy.body.cls) is not None:
        body = proxy.body.cls.body
        return m.dict({name: body.entry(name) for name in body.order})
    if type(proxy.body) is not ProxyBody:
        raise GraphBreak("FL102", f"mappingproxy.{what} of the namespace of a class")
    return mapping_of(m.session, proxy)


@function(PROXY)
def make(m: Machine, mapping: Value) -> Value:
    if mapping.cls in (list, tuple) or m.observe.type_lookup(mapping.cls, "__getitem__") is ABSENT:
        raise m.error(TypeError, f"mappingproxy() argument must be a mapping, not {type_name(mapping.cls)}")
    return m.session.alloc(PROXY, ProxyBody(mapping))


@methods(PROXY, "__getitem__")
def getitem(m: Machine, proxy: Value, key: Value, /) -> Value:
    if type(proxy.body) is ClassNamespace:
        found = class_entry(m, proxy.body.cls, attribute_name(m, key))
        if found is ABSENT:
            raise m.error_of(KeyError, key)
        return found
    return get_item(m, mapping_of(m.session, proxy), key)


@methods(PROXY, "get")
def get(m: Machine, proxy: Value, key: Value, default: Value = NONE, /) -> Value:
    if type(proxy.body) is ClassNamespace:
        found = class_entry(m, proxy.body.cls, attribute_name(m, key))
        return default if found is ABSENT else found
    return m.invoke(get_attribute(m, mapping_of(m.session, proxy), "get"), [key, default], {})


@methods(PROXY, "__contains__")
def contains_(m: Machine, proxy: Value, key: Value, /) -> Value:
    if type(proxy.body) is ClassNamespace:
        return boolean(class_entry(m, proxy.body.cls, attribute_name(m, key)) is not ABSENT)
    return contains(m, mapping_of(m.session, proxy), key)


@methods(PROXY, "__len__")
def len_(m: Machine, proxy: Value, /) -> Value:
    return length(m, _mapping(m, proxy, "__len__"))


@methods(PROXY, "__iter__")
def iter_(m: Machine, proxy: Value, /) -> Value:
    return iterate(m, _mapping(m, proxy, "__iter__"))


def _delegate(name: str) -> None:
    @methods(PROXY, name)
    def delegated(m: Machine, proxy: Value, /) -> Value:
        return m.invoke(get_attribute(m, _mapping(m, proxy, name), name), [], {})


for _name in ("keys", "values", "items", "copy", "__reversed__"):
    _delegate(_name)


@methods(PROXY, "__eq__")
def eq(m: Machine, proxy: Value, other: Value, /) -> Value:
    if type(other) is Obj and type(other.body) is ProxyBody:
        other = mapping_of(m.session, other)
    return compare(m, "==", _mapping(m, proxy, "__eq__"), other)
