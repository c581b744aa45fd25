"""Generic aliases of classes (PEP 585), abstract base classes, and `types.SimpleNamespace`."""

from __future__ import annotations

import _abc
import abc
import types
from typing import Any

from frameloom.interpreter import calls, classes
from frameloom.interpreter.attributes import ALGORITHMS, attributes_of, generic_get, get_attribute
from frameloom.interpreter.calls import CALLERS
from frameloom.interpreter.frame import Link
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import compare, truth
from frameloom.interpreter.registry import RULES, refuse
from frameloom.interpreter.stores import dict_update
from frameloom.rules.define import function, methods
from frameloom.rules.generic import static_classes
from frameloom.rules.known import whole
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.keys import host_hashable
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.observe import namespace_of
from frameloom.symbolic.reading import Reading
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, NOT_IMPLEMENTED, Obj, Value, boolean

# -- generic aliases -------------------------------------------------------------------------------------------------


def class_getitem(m: Machine, cls: Value, key: Value, /) -> Value:
    """`list[int]` and its like."""
    parameters = _known(m, key)
    origin = m.observe.known(cls)
    if parameters is MISSING or origin is MISSING:
        return NotImplemented
    return m.observe.constant(types.GenericAlias(origin, parameters))


def _known(m: Machine, value: Value) -> Any:
    """The object of a parameter: a class, a constant, or a tuple of such."""
    if value.cls is tuple and type(value) is Obj:
        parts = [_known(m, item) for item in tuple_.items(m.session, value.body)]
        return MISSING if any(part is MISSING for part in parts) else tuple(parts)
    if value.cls is list:
        return whole(m, value)
    return m.observe.known(value)


for _cls in static_classes():
    _found = namespace_of(_cls).get("__class_getitem__")
    if type(_found) is types.ClassMethodDescriptorType:
        RULES[_found] = class_getitem

OWN = frozenset(
    {
        "__class__",
        "__origin__",
        "__args__",
        "__parameters__",
        "__mro_entries__",
        "__unpacked__",
        "__typing_unpacked_tuple_args__",
        "__reduce_ex__",
        "__reduce__",
        "__copy__",
        "__deepcopy__",
        "__instancecheck__",
        "__subclasscheck__",
    }
)
"""What an alias answers itself; all else is asked of its class."""


def alias_get(m: Machine, alias: Value, name: str) -> Value:
    """`types.GenericAlias.__getattribute__`."""
    if name in OWN:
        return generic_get(m, alias, name)
    return get_attribute(m, _origin(m, alias), name)


def _origin(m: Machine, alias: Value) -> Value:
    return get_attribute(m, alias, "__origin__")


ALGORITHMS[types.GenericAlias.__dict__["__getattribute__"]] = alias_get


@methods(types.GenericAlias, "__eq__")
def alias_eq(m: Machine, alias: Value, other: Value, /) -> Value:
    """Equal where class and parameters are, which are classes and constants."""
    if not issubclass(other.cls, types.GenericAlias):
        return NOT_IMPLEMENTED
    pair = [m.observe.known(each) for each in (alias, other)]
    if any(part is MISSING or not host_hashable(part.__args__) for part in pair):
        return NotImplemented
    return boolean(types.GenericAlias.__eq__(*pair))


def union_get(m: Machine, union: Value, name: str) -> Value:
    """`types.UnionType.__getattribute__`."""
    return get_attribute(m, m.observe.constant(types.UnionType), name) if name == "__module__" else generic_get(m, union, name)


ALGORITHMS[types.UnionType.__dict__["__getattribute__"]] = union_get


def call_alias(m: Machine, alias: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """`list[int]()`: the class is called; instances that take attributes learn the alias."""
    made = m.invoke(_origin(m, alias), args, kwargs)
    if attributes_of(m, made) is not None:
        raise GraphBreak("FL101", f"an instance of {made.cls.__qualname__} made through an alias")
    return made


CALLERS[types.GenericAlias] = call_alias

# -- abstract base classes -------------------------------------------------------------------------------------------


@function(_abc._abc_instancecheck)
def abc_instancecheck(m: Machine, cls: Value, obj: Value, /) -> Value:
    return boolean(classes.abstract_instance(m, obj, cls))


@function(_abc._abc_subclasscheck)
def abc_subclasscheck(m: Machine, cls: Value, sub: Value, /) -> Value:
    if not issubclass(sub.cls, type):
        raise m.error(TypeError, "issubclass() arg 1 must be a class")
    return boolean(classes._abstract(m, m.observe.known(sub), m.observe.known(cls)))


CACHE_TOKEN = Reading(lambda module: module.get_cache_token(), "get_cache_token()")


@function(abc.get_cache_token)
def get_cache_token(m: Machine) -> Value:
    return m.observe.read(m.observe.constant(abc), "descriptor", CACHE_TOKEN)


refuse("FL004", "a class is registered", _abc._abc_register, _abc._abc_init, _abc._reset_caches, _abc._reset_registry)

# -- types.SimpleNamespace -------------------------------------------------------------------------------------------

NAMESPACE = types.SimpleNamespace


@function(NAMESPACE.__new__)
def new_namespace(m: Machine, cls: Value, /, *args: Value, **kwargs: Value) -> Value:
    return calls.fresh_instance(m, m.observe.known(cls), None)


@methods(NAMESPACE, "__init__")
def init_namespace(m: Machine, obj: Value, mapping: Value = ABSENT, /, **kwargs: Value) -> Value:
    if mapping is not ABSENT and not TAKES_MAPPING:
        raise m.error(TypeError, "no positional arguments expected")
    space = get_attribute(m, obj, "__dict__")
    if mapping is not ABSENT:
        dict_update(m, space, mapping)
    dict_update(m, space, m.dict(kwargs))
    return NONE


def _takes_mapping() -> bool:
    try:
        NAMESPACE({})
    except TypeError:
        return False
    return True


TAKES_MAPPING = _takes_mapping()


@methods(NAMESPACE, "__eq__")
def namespace_eq(m: Machine, obj: Value, other: Value, /) -> Value:
    if not issubclass(other.cls, NAMESPACE):
        return NOT_IMPLEMENTED
    return truth(m, compare(m, "==", get_attribute(m, obj, "__dict__"), get_attribute(m, other, "__dict__")))


@methods(NAMESPACE, "__ne__")
def namespace_ne(m: Machine, obj: Value, other: Value, /) -> Value:
    same = namespace_eq(m, obj, other)
    return same if same is NOT_IMPLEMENTED else boolean(not same.value)
