"""What every object can: the methods of `object`."""

from __future__ import annotations

import copyreg
from typing import Any

from frameloom.interpreter import calls
from frameloom.interpreter.attributes import (
    WRITERS,
    attributes_of,
    generic_get,
    generic_set,
    get_attribute,
    instance_dictionary,
    part_of,
    reads,
)
from frameloom.interpreter.formatting import convert
from frameloom.interpreter.iteration import iterate, unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import _call_slot, _is_not_implemented, identical, length, truth
from frameloom.interpreter.registry import refuse
from frameloom.rules.class_ import class_of
from frameloom.rules.define import function, methods
from frameloom.rules.indexing import index_of
from frameloom.rules.names import attribute_name
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.layouts import dict_
from frameloom.symbolic.layouts.attributes import c_slot
from frameloom.symbolic.layouts.base import storage_base
from frameloom.symbolic.made import class_made
from frameloom.symbolic.real import namespace_of, stands_on, type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, NOT_IMPLEMENTED, TRUE, Const, Node, Obj, Value, boolean

# -- making ----------------------------------------------------------------------------------------------------------


@function(object)
def object_(m: Machine) -> Value:
    return calls.fresh_instance(m, object, None)


@function(object.__new__)
def new(m: Machine, cls: Value, /, *args: Value, **kwargs: Value) -> Value:
    if not issubclass(cls.cls, type):
        raise m.error(TypeError, f"object.__new__(X): X is not a type object ({type_name(cls.cls)})")
    known = m.observe.known_class(cls)
    init = m.observe.type_lookup(known, "__init__")
    own = m.observe.type_lookup(known, "__new__")
    if (args or kwargs) and not (type(own) is Const and own.value is object.__new__):
        raise m.error(TypeError, "object.__new__() takes exactly one argument (the type to instantiate)")
    return calls.new_object(m, known, list(args), kwargs, init)


@methods(object, "__init__")
def init(m: Machine, obj: Value, /, *args: Value, **kwargs: Value) -> Value:
    if args or kwargs:
        own = m.observe.type_lookup(obj.cls, "__init__")
        if not (type(own) is Const and own.value is object.__init__):
            raise m.error(TypeError, "object.__init__() takes exactly one argument (the instance to initialize)")
        made = m.observe.type_lookup(obj.cls, "__new__")
        if type(made) is Const and made.value is object.__new__:
            raise m.error(TypeError, f"{type_name(obj.cls)}() takes no arguments")
    return NONE


@function(object.__init_subclass__, object.__subclasshook__)
def hook(m: Machine, *args: Value) -> Value:
    return NONE if not args else NOT_IMPLEMENTED


# -- attributes ------------------------------------------------------------------------------------------------------


@methods(object, "__getattribute__")
def getattribute(m: Machine, obj: Value, name: Value, /) -> Value:
    plain = attribute_name(m, name)
    if type(obj) is Node and obj.tape == "graph":
        found = m.domain.attribute(m.session, obj, plain)
        if found is not NOT_HANDLED:
            return found
    return generic_get(m, obj, plain)


@methods(object, "__setattr__")
def setattr_(m: Machine, obj: Value, name: Value, value: Value, /) -> Value:
    _write(m, obj, attribute_name(m, name), value, "__setattr__")
    return NONE


@methods(object, "__delattr__")
def delattr_(m: Machine, obj: Value, name: Value, /) -> Value:
    _write(m, obj, attribute_name(m, name), ABSENT, "__delattr__")
    return NONE


def _write(m: Machine, obj: Value, name: str, value: Value, slot: str) -> None:
    if type(obj) is Node and obj.tape == "graph":
        if m.domain.set_attribute(m.session, obj, name, value) is not NOT_HANDLED:
            return
    standard = c_slot(obj.cls, slot)
    if WRITERS.get(standard) is not generic_set:
        raise m.error(TypeError, f"can't apply this {slot} to {standard.__objclass__.__name__} object")
    generic_set(m, obj, name, value)


reads(object.__dict__["__class__"])(class_of)


# -- comparison and text ---------------------------------------------------------------------------------------------


@methods(object, "__eq__")
def eq(m: Machine, obj: Value, other: Value, /) -> Value:
    return TRUE if identical(m, obj, other) else NOT_IMPLEMENTED


@methods(object, "__ne__")
def ne(m: Machine, obj: Value, other: Value, /) -> Value:
    result = _call_slot(m, m.observe.type_lookup(obj.cls, "__eq__"), obj, [other])
    return NOT_IMPLEMENTED if _is_not_implemented(result) else boolean(not truth(m, result).value)


@methods(object, "__lt__", "__le__", "__gt__", "__ge__")
def order(m: Machine, obj: Value, other: Value, /) -> Value:
    return NOT_IMPLEMENTED


@methods(object, "__str__")
def str_(m: Machine, obj: Value, /) -> Value:
    return convert(m, "repr", obj)


@methods(object, "__repr__")
def repr_(m: Machine, obj: Value, /) -> Value:
    raise GraphBreak("FL501", f"text of a {obj.cls.__qualname__} with its address")


@methods(object, "__format__")
def format_(m: Machine, obj: Value, spec: Value, /) -> Value:
    if not issubclass(spec.cls, str):
        raise m.error(TypeError, f"__format__() argument must be str, not {type_name(spec.cls)}")
    plain = m.need_constant(spec, "FL205", "format specification known at run time only")
    if plain != "":
        raise m.error(TypeError, f"unsupported format string passed to {type_name(obj.cls)}.__format__")
    return convert(m, "str", obj)


refuse("FL102", "the names of an object are listed", object.__dict__["__dir__"])
refuse("FL102", "the size of an object is asked", object.__dict__["__sizeof__"])


# -- copying and pickling --------------------------------------------------------------------------------------------


@methods(object, "__reduce_ex__")
def reduce_ex(m: Machine, obj: Value, protocol: Value, /) -> Value:
    """PEP 307: an overriding `__reduce__` first, then the standard way."""
    own = m.observe.type_lookup(obj.cls, "__reduce__")
    if not (type(own) is Const and own.value is object.__reduce__):
        return m.invoke(get_attribute(m, obj, "__reduce__"), [], {})
    return _reduce(m, obj, index_of(m, protocol))


@methods(object, "__reduce__")
def reduce(m: Machine, obj: Value, /) -> Value:
    return _reduce(m, obj, 0)


def _reduce(m: Machine, obj: Value, protocol: int) -> Value:
    if protocol < 2:
        return m.invoke(m.observe.constant(copyreg._reduce_ex), [obj, Const(protocol)], {})
    args, kwargs = _new_arguments(m, obj)
    if kwargs is None or length(m, kwargs).value == 0:
        function_, arguments = copyreg.__newobj__, m.tuple([class_of(m, obj), *(args or [])])
    else:
        function_ = copyreg.__newobj_ex__
        arguments = m.tuple([class_of(m, obj), m.tuple(args), kwargs])
    contained = issubclass(obj.cls, (list, dict))
    state = _state(m, obj, required=args is None and not contained)
    return m.tuple([m.observe.constant(function_), arguments, state, *_contents(m, obj)])


def _new_arguments(m: Machine, obj: Value) -> tuple[list[Value] | None, Value | None]:
    """Arguments for `__new__`: (positional or None where there is no such method, keywords or None where there are none)."""
    if m.observe.type_lookup(obj.cls, "__getnewargs_ex__") is not ABSENT:
        pair = m.invoke(get_attribute(m, obj, "__getnewargs_ex__"), [], {})
        return _pair(m, pair)
    if m.observe.type_lookup(obj.cls, "__getnewargs__") is not ABSENT:
        args = m.invoke(get_attribute(m, obj, "__getnewargs__"), [], {})
        return _of_tuple(m, args, "__getnewargs__ should return a tuple, not '{}'"), None
    return None, None


def _of_tuple(m: Machine, value: Value, message: str) -> list[Value]:
    if not issubclass(value.cls, tuple):
        raise m.error(TypeError, message.format(type_name(value.cls)))
    return unpack(m, value)


def _pair(m: Machine, value: Value) -> tuple[list[Value], Value]:
    """The arguments and keywords that `__getnewargs_ex__` gives."""
    items = _of_tuple(m, value, "__getnewargs_ex__ should return a tuple, not '{}'")
    if len(items) != 2:
        raise m.error(ValueError, f"__getnewargs_ex__ should return a tuple of length 2, not {len(items)}")
    args, kwargs = items
    first = "first item of the tuple returned by __getnewargs_ex__ must be a tuple, not '{}'"
    positional = _of_tuple(m, args, first)
    if not issubclass(kwargs.cls, dict):
        raise m.error(
            TypeError,
            f"second item of the tuple returned by __getnewargs_ex__ must be a dict, not '{type_name(kwargs.cls)}'",
        )
    return positional, kwargs


def _state(m: Machine, obj: Value, required: bool) -> Value:
    own = m.observe.type_lookup(obj.cls, "__getstate__")
    if type(own) is Const and own.value is object.__getstate__:
        return _default_state(m, obj, required)
    return m.invoke(get_attribute(m, obj, "__getstate__"), [], {})


@methods(object, "__getstate__")
def getstate(m: Machine, obj: Value, /) -> Value:
    return _default_state(m, obj, False)


def _default_state(m: Machine, obj: Value, required: bool) -> Value:
    """The instance dictionary, or None where it is empty; with a dictionary of slots beside it where there are slots."""
    if type(obj) is not Obj or required and storage_base(obj.cls) is not object:
        raise GraphBreak("FL102", f"state of a {obj.cls.__qualname__}")
    attributes = attributes_of(m, obj)
    state: Value = NONE
    if attributes is not None and _is_filled(m, attributes):
        state = instance_dictionary(m, obj)
    remembered = namespace_of(obj.cls).get("__slotnames__")
    if remembered is not None and class_made(obj.cls) is not None:
        raise GraphBreak("FL004", f"{obj.cls.__name__}, made in the trace, has __slotnames__")
    if remembered is not None and list(remembered) != slot_names(m, obj.cls):
        raise GraphBreak("FL102", f"state of a {obj.cls.__qualname__}, which names its slots itself")
    slots = {}
    for name in slot_names(m, obj.cls):
        found = part_of(m, obj, m.observe.peek_type(obj.cls, name))
        if found is not ABSENT:
            slots[name] = found
    return m.tuple([state, m.dict(slots)]) if slots else state


def _is_filled(m: Machine, body: Any) -> bool:
    dict_.materialise(m.session, body)
    return any(value is not ABSENT for _, value in body.known.values())


def slot_names(m: Machine, cls: type) -> list[str]:
    """The names of the slots that classes written in Python added, as they are found on instances."""
    found = []
    for base in m.observe.order(cls):
        if "__slots__" in namespace_of(base):
            slots = namespace_of(base)["__slots__"]
            for name in (slots,) if stands_on(slots, str) else slots:
                if name in ("__dict__", "__weakref__"):
                    continue
                if name.startswith("__") and not name.endswith("__"):
                    stripped = base.__name__.lstrip("_")
                    name = f"_{stripped}{name}" if stripped else name
                found.append(name)
    return found


def _contents(m: Machine, obj: Value) -> list[Value]:
    """Iterators over the items of a list and of a dictionary, where the object is one."""
    items: list[Value] = [NONE, NONE]
    if issubclass(obj.cls, list):
        items[0] = iterate(m, obj)
    if issubclass(obj.cls, dict):
        items[1] = iterate(m, m.invoke(get_attribute(m, obj, "items"), [], {}))
    return items
