"""Attribute access: CPython's `object`, `type`, module and `super` algorithms on symbolic values."""

from __future__ import annotations

import enum
import types
from typing import Any, Callable

from frameloom.interpreter.frame import Link
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import RULES, kind_of_class
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.keys import Hashed
from frameloom.symbolic.kinds import DEFINED_METHOD
from frameloom.symbolic.layouts import dict_
from frameloom.symbolic.layouts.class_ import ClassBody, show, shown
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.method import MethodBody
from frameloom.symbolic.layouts.super_ import SuperBody
from frameloom.symbolic.observe import is_static
from frameloom.symbolic.real import has_instance_dict, mro_of, namespace_of, type_name
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, Const, Node, Obj, Value

GETATTRIBUTE = object.__dict__["__getattribute__"]
SETATTR = object.__dict__["__setattr__"]
DELATTR = object.__dict__["__delattr__"]


# -- reading ---------------------------------------------------------------------------------------------------------


def get_attribute(m: Machine, obj: Value, name: str, link: Link | None = None) -> Value:
    """`obj.name`; an AttributeError that says nothing yet learns what was asked."""
    try:
        return _get_attribute(m, obj, name, link)
    except SymbolicRaise as signal:
        if signal.value.cls is AttributeError or issubclass(signal.value.cls, AttributeError):
            _tell(m, signal.value, obj, name)
        raise


NAME, OBJ = AttributeError.__dict__["name"], AttributeError.__dict__["obj"]


def _tell(m: Machine, exception: Value, obj: Value, name: str) -> None:
    if exception.real is not None or any(part in (exception.slots or ()) for part in (NAME, OBJ)):
        return
    m.observe_slot(exception, NAME, Const(name))
    m.observe_slot(exception, OBJ, obj)


def _get_attribute(m: Machine, obj: Value, name: str, link: Link | None) -> Value:
    if type(obj) is Node:
        found = _node_attribute(m, obj, name)
        if found is not NOT_HANDLED:
            return found
    reader = m.observe.type_lookup(obj.cls, "__getattribute__")
    if type(reader) is Const:
        algorithm = ALGORITHMS.get(reader.value)
        if algorithm is None:
            rule = RULES.get(reader.value)
            if rule is None:
                raise GraphBreak(kind_of_class(obj.cls, "FL103"), f"attribute {name!r} of {obj.cls.__name__}")
            return rule(m, obj, Const(name))
        if algorithm is generic_get and type(obj) is Obj:
            return _generic_with_fallback(m, obj, name, link)
        try:
            return algorithm(m, obj, name)
        except SymbolicRaise as signal:
            fallback = _fallback(m, obj, signal)
            if fallback is ABSENT:
                raise
        return m.invoke(fallback, [obj, Const(name)], {}, link)
    call = m.invoke
    if m.observe.type_lookup(obj.cls, "__getattr__") is ABSENT:
        return call(reader, [obj, Const(name)], {}, link)
    try:
        return call(reader, [obj, Const(name)], {})
    except SymbolicRaise as signal:
        fallback = _fallback(m, obj, signal)
        if fallback is ABSENT:
            raise
    return call(fallback, [obj, Const(name)], {}, link)


def _node_attribute(m: Machine, obj: Node, name: str) -> Any:
    if obj.tape == "graph":
        found = m.domain.attribute(m.session, obj, name)
        if found is not NOT_HANDLED:
            return found
    return NOT_HANDLED


def _generic_with_fallback(m: Machine, obj: Obj, name: str, link: Link | None) -> Value:
    fallback = m.observe.type_lookup(obj.cls, "__getattr__")
    if fallback is ABSENT:
        return generic_get(m, obj, name, link)
    found = lookup(m, obj, name)
    if found is not ABSENT:
        try:
            return finish_lookup(m, obj, name, found)
        except SymbolicRaise as signal:
            if _fallback(m, obj, signal) is ABSENT:
                raise
    return m.invoke(fallback, [obj, Const(name)], {}, link)


def _fallback(m: Machine, obj: Value, signal: SymbolicRaise) -> Value:
    """The `__getattr__` that is asked after an AttributeError, or ABSENT."""
    if not issubclass(signal.value.cls, AttributeError):
        return ABSENT
    return m.observe.type_lookup(obj.cls, "__getattr__")


class Found:
    """What the look-up of a generic attribute found: `value`, and whether it stands on the class (so that it binds)."""

    __slots__ = ("value", "on_class")

    def __init__(self, value: Value, on_class: bool) -> None:
        self.value = value
        self.on_class = on_class


def lookup(m: Machine, obj: Value, name: str) -> Any:
    """The look-up of `object.__getattribute__` without binding: a Found, or ABSENT."""
    on_class = m.observe.type_lookup(obj.cls, name)
    if on_class is not ABSENT and is_data_descriptor(m, on_class) and binds(m, on_class):
        return Found(on_class, True)
    own = own_attribute(m, obj, name)
    if own is not ABSENT:
        return Found(own, False)
    return ABSENT if on_class is ABSENT else Found(on_class, True)


def finish_lookup(m: Machine, obj: Value, name: str, found: Found, link: Link | None = None) -> Value:
    """Bind what a look-up found."""
    if not found.on_class:
        return found.value
    return bind_descriptor(m, found.value, obj, obj.cls, link)


def generic_get(m: Machine, obj: Value, name: str, link: Link | None = None) -> Value:
    """`object.__getattribute__`."""
    found = lookup(m, obj, name)
    if found is ABSENT:
        raise m.error(AttributeError, f"{type_name(obj.cls)!r} object has no attribute {name!r}")
    return finish_lookup(m, obj, name, found, link)


def own_attribute(m: Machine, obj: Value, name: str) -> Value:
    """What the instance's own dictionary holds, or ABSENT."""
    if type(obj) is Node and name in OWN_NAMES.get(obj.cls, ()):
        raise GraphBreak("FL103", f"attribute {name!r} of a {obj.cls.__name__} that exists at run time only")
    body = attributes_of(m, obj)
    if body is None:
        return ABSENT
    if m.session.hashed and any(type(handle) is Hashed for handle in body.known):
        raise GraphBreak("FL112", f"an object of class {obj.cls.__name__} has names that are no strings")
    return dict_.get(m.session, body, name, Const(name))


OWN_NAMES: dict[type, frozenset[str]] = {}
"""class of objects that code of the host makes at run time -> the names that their own dictionaries have from the start"""


def attributes_of(m: Machine, obj: Value) -> DictBody | None:
    """The part behind `__dict__`, or None where instances have none."""
    if type(obj) is Const:
        return None
    body = obj.attributes
    if body is None and has_instance_dict(obj.cls):
        body = DictBody(obj.real is None, obj.real, "attribute")
        m.journal.set_field(obj, "attributes", body)
    return body


def get_method(m: Machine, obj: Value, name: str, link: Link | None = None) -> tuple[Value, Value] | Value:
    """As `get_attribute`, but a function found on the class comes unbound with its receiver: (function, obj)."""
    if type(obj) is Obj:
        reader = m.observe.type_lookup(obj.cls, "__getattribute__")
        if type(reader) is Const and reader.value is GETATTRIBUTE:
            on_class = m.observe.type_lookup(obj.cls, name)
            if on_class is not ABSENT and on_class.cls in METHOD_LIKE and own_attribute(m, obj, name) is ABSENT:
                return on_class, obj
    elif type(obj) is Const and is_static(obj.cls):
        on_class = m.observe.type_lookup(obj.cls, name)
        if on_class is not ABSENT and on_class.cls is types.MethodDescriptorType:
            return on_class, obj
    return get_attribute(m, obj, name, link)


METHOD_LIKE = frozenset({types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType})


# -- descriptors -----------------------------------------------------------------------------------------------------


def is_data_descriptor(m: Machine, descriptor: Value) -> bool:
    """Whether a class attribute overrides the instance's own: its class has `__set__` or `__delete__`."""
    cls = descriptor.cls
    known = _DATA.get(cls)
    if known is None:
        if is_static(cls):
            known = _DATA[cls] = any(name in namespace_of(b) for b in mro_of(cls) for name in ("__set__", "__delete__"))
        else:
            lookups = m.observe.type_lookup
            known = lookups(cls, "__set__") is not ABSENT or lookups(cls, "__delete__") is not ABSENT
    return known


_DATA: dict[type, bool] = {}


def binds(m: Machine, found: Value) -> bool:
    """Whether the class of a class attribute has `__get__`: without it a data descriptor does not hide the instance's own."""
    return found.cls in BINDERS or m.observe.type_lookup(found.cls, "__get__") is not ABSENT


def bind_descriptor(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None = None) -> Value:
    """`type(found).__get__(found, obj, owner)` where it exists; `obj` is None for a look-up on a class itself.

    `owner` is a class (real) or the Value of one.
    """
    binder = BINDERS.get(found.cls)
    if binder is not None:
        return binder(m, found, obj, owner, link)
    if is_static(found.cls) and not any("__get__" in namespace_of(b) for b in mro_of(found.cls)):
        return found
    getter = m.observe.type_lookup(found.cls, "__get__")
    if getter is ABSENT:
        return found
    if type(getter) is Const and getter.value not in RULES:
        kind = kind_of_class(found.cls if obj is None else obj.cls, "FL103")
        what = f"descriptor of class {found.cls.__name__}"
        raise GraphBreak(kind, what if kind == "FL103" else f"an object of class {obj.cls.__name__}")
    owner_value = owner if isinstance(owner, Value) else m.observe.constant(owner)
    return m.invoke(getter, [found, obj if obj is not None else Const(None), owner_value], {}, link)


def _bind_function(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None) -> Value:
    if obj is None:
        return found
    return m.session.alloc(types.MethodType, MethodBody(found, obj))


def _bind_builtin(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None) -> Value:
    if obj is None:
        return found
    cls = types.MethodWrapperType if found.cls is types.WrapperDescriptorType else types.BuiltinFunctionType
    return m.session.alloc(cls, MethodBody(found, obj))


def _bind_class_builtin(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None) -> Value:
    owner_value = owner if isinstance(owner, Value) else m.observe.constant(owner)
    return m.session.alloc(types.BuiltinFunctionType, MethodBody(found, owner_value))


PROPERTY_FGET = property.__dict__["fget"]
WRAPPED = {cls: cls.__dict__["__func__"] for cls in (staticmethod, classmethod)}


def part_of(m: Machine, found: Value, descriptor: Any) -> Value:
    """What a member descriptor of a real or fresh object holds."""
    slots = found.slots
    if slots is None:
        slots = {}
        m.journal.set_field(found, "slots", slots)
    known = slots.get(descriptor)
    if known is None:
        if found.real is None:
            return ABSENT
        known = m.observe.read(found, "descriptor", descriptor)
        if known is ABSENT:
            m.session.guard("CALL", found.real.source, (slot_is_empty, descriptor, "{} has an empty slot"))
        m.journal.set_item(slots, descriptor, known)
    return known


def slot_is_empty(obj: Any, descriptor: Any) -> bool:
    """Whether a member descriptor finds nothing on a real object."""
    try:
        descriptor.__get__(obj, type(obj))
    except AttributeError:
        return True
    return False


def wrapped_of(m: Machine, found: Value) -> Value:
    """The callable inside a staticmethod or classmethod."""
    return part_of(m, found, WRAPPED[staticmethod if issubclass(found.cls, staticmethod) else classmethod])


def _bind_property(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None) -> Value:
    if obj is None:
        return found
    getter = part_of(m, found, PROPERTY_FGET)
    if type(getter) is Const and getter.value is None:
        raise m.error(AttributeError, "property of object has no getter")
    return m.invoke(getter, [obj], {}, link)


def _bind_static(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None) -> Value:
    return wrapped_of(m, found)


CHAINS = classmethod(property(lambda cls: True)).__get__(None, object) is True
"""Whether a class method binds what it wraps by that object's own `__get__`, which CPython 3.13 does no more."""


def _bind_classmethod(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None) -> Value:
    wrapped = wrapped_of(m, found)
    if wrapped.cls is not types.FunctionType and m.observe.type_lookup(wrapped.cls, "__call__") is ABSENT:
        raise GraphBreak("FL103", f"a classmethod of a {wrapped.cls.__name__}, which cannot be called")
    owner_value = owner if isinstance(owner, Value) else m.observe.constant(owner)
    if CHAINS and wrapped.cls is not types.FunctionType and m.observe.type_lookup(wrapped.cls, "__get__") is not ABSENT:
        return bind_descriptor(m, wrapped, owner_value, owner_value)
    return m.session.alloc(types.MethodType, MethodBody(wrapped, owner_value))


def _bind_member(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None) -> Value:
    """A slot."""
    if obj is None:
        return found
    descriptor = found.value
    reader = GETSETS.get(descriptor)
    if reader is not None:
        return reader(m, obj)
    if descriptor.__name__ == "__dict__" and type(obj) is Obj:
        return instance_dictionary(m, obj)
    value = part_of(m, obj, descriptor) if type(obj) is Obj else _constant_member(m, obj, descriptor)
    if value is ABSENT:
        if obj.real is None and is_static(descriptor.__objclass__):
            raise GraphBreak("FL103", f"attribute {descriptor.__name__!r} of {obj.cls.__name__}")
        raise m.error(AttributeError, f"{_name_at_slot(obj.cls)!r} object has no attribute {descriptor.__name__!r}")
    return value


class _Closed:
    __slots__ = ("inside",)


def _said(use: Callable[[], Any]) -> str:
    try:
        use()
    except AttributeError as error:
        return str(error)
    raise AssertionError("an attribute that is not there was found")


NO_PLACE = _said(lambda: setattr(_Closed(), "outside", None)).partition("'outside'")[2]
"""What this Python adds where an object without a dictionary is given an attribute"""

NAMES_MODULES = _Closed.__module__ in _said(lambda: _Closed().inside)
"""Whether this Python says in which module the class of an empty slot is"""


def _name_at_slot(cls: type) -> str:
    if not NAMES_MODULES:
        return cls.__name__
    module, name = (type.__dict__[part].__get__(cls) for part in ("__module__", "__qualname__"))
    return name if module in ("builtins", "__main__") else f"{module}.{name}"


def _constant_member(m: Machine, obj: Value, descriptor: Any) -> Value:
    return m.lift(descriptor.__get__(m.need_constant(obj, "FL103", f"attribute {descriptor.__name__!r}")))


def _bind_getset(m: Machine, found: Value, obj: Value | None, owner: Any, link: Link | None) -> Value:
    if obj is None:
        return found
    descriptor = found.value
    reader = GETSETS.get(descriptor)
    if reader is not None:
        return reader(m, obj)
    if descriptor.__name__ == "__dict__" and type(obj) is not Const:
        # CPython asks the descriptor of the built-in base whose instances have the dictionary
        own = next((GETSETS[d] for cls, d in DICTIONARIES.items() if issubclass(obj.cls, cls) and d is not descriptor), None)
        return instance_dictionary(m, obj) if own is None else own(m, obj)
    if type(obj) is Const:
        return m.lift(descriptor.__get__(obj.value))
    raise GraphBreak(kind_of_class(obj.cls, "FL103"), f"attribute {descriptor.__name__!r} of {obj.cls.__name__}")


def instance_dictionary(m: Machine, obj: Value) -> Value:
    """`obj.__dict__`: a dictionary that shares its body with the object's attributes."""
    body = attributes_of(m, obj)
    if type(obj) is not Obj or body is None:
        raise GraphBreak("FL103", f"attribute '__dict__' of {obj.cls.__name__}")
    if body.owner is not None and body.owner.body is body:
        return body.owner
    key = ("__dict__", obj)
    made = m.memory.get(key)
    if made is None:
        made = m.remember(key, _dictionary(m, obj, body))
    return made


def _dictionary(m: Machine, obj: Obj, body: DictBody) -> Obj:
    if body.owner is None:
        m.journal.set_field(body, "owner", obj)
    if obj.real is None:
        return m.session.alloc(dict, body)
    made = m.observe.read(obj, "dict")
    if made.body is not body:
        if made.body.known or made.body.full:
            raise GraphBreak("FL505", "a dictionary that was met before as the attributes of an object")
        m.journal.set_field(made, "body", body)
    return made


GETSETS: dict[Any, Callable] = {}
"""getset or member descriptor -> reader(m, obj): attributes that C code computes"""

GETSET_WRITERS: dict[Any, Callable] = {}
"""getset or member descriptor -> writer(m, obj, value or ABSENT)"""


def reads(*descriptors: Any) -> Callable:
    """Decorator: the function reads these C attributes."""

    def add(function: Callable) -> Callable:
        for descriptor in descriptors:
            GETSETS[descriptor] = function
        return function

    return add


def writes(*descriptors: Any) -> Callable:
    """Decorator: the function writes these C attributes."""

    def add(function: Callable) -> Callable:
        for descriptor in descriptors:
            GETSET_WRITERS[descriptor] = function
        return function

    return add


DICTIONARIES = {cls: cls.__dict__["__dict__"] for cls in (type, types.ModuleType) if cls.__dict__["__dict__"] is not None}
"""Built-in classes whose instances have a dictionary of their own -> the descriptor that gives it"""

BINDERS: dict[type, Callable] = {
    types.FunctionType: _bind_function,
    types.MethodDescriptorType: _bind_builtin,
    types.WrapperDescriptorType: _bind_builtin,
    types.ClassMethodDescriptorType: _bind_class_builtin,
    property: _bind_property,
    staticmethod: _bind_static,
    classmethod: _bind_classmethod,
    types.MemberDescriptorType: _bind_member,
    types.GetSetDescriptorType: _bind_getset,
    types.BuiltinFunctionType: lambda m, found, obj, owner, link: found,
    DEFINED_METHOD: lambda m, found, obj, owner, link: found,
    types.MethodType: lambda m, found, obj, owner, link: found,
}


# -- classes, modules, super -----------------------------------------------------------------------------------------


def class_get(m: Machine, obj: Value, name: str) -> Value:
    """`type.__getattribute__`."""
    cls = m.observe.known_class(obj)
    on_meta = m.observe.type_lookup(obj.cls, name)
    if on_meta is not ABSENT and is_data_descriptor(m, on_meta) and binds(m, on_meta):
        return bind_descriptor(m, on_meta, obj, obj.cls)
    found = m.observe.type_lookup(cls, name)
    if found is not ABSENT:
        return bind_descriptor(m, found, None, obj)
    if on_meta is not ABSENT:
        return bind_descriptor(m, on_meta, obj, obj.cls)
    raise m.error(AttributeError, f"type object {type_name(cls)!r} has no attribute {name!r}")


def module_get(m: Machine, obj: Value, name: str) -> Value:
    """`module.__getattribute__`, with the module's own `__getattr__`."""
    found = lookup(m, obj, name)
    if found is not ABSENT:
        return finish_lookup(m, obj, name, found)
    fallback = own_attribute(m, obj, "__getattr__")
    if fallback is not ABSENT:
        return m.invoke(fallback, [Const(name)], {})
    own = own_attribute(m, obj, "__name__")
    raise m.error(AttributeError, f"module {getattr(own, 'value', '?')!r} has no attribute {name!r}")


def super_get(m: Machine, obj: Value, name: str) -> Value:
    """`super.__getattribute__`."""
    body: SuperBody = obj.body
    owner = m.observe.known_class(body.owner)
    if owner is None:
        return generic_get(m, obj, name)  # made without an object
    start = m.observe.known_class(body.start)
    mro = m.observe.order(owner)
    if name != "__class__" and start in mro:  # while the metaclass's mro() runs, the class is in no order yet
        for base in mro[mro.index(start) + 1 :]:
            found = m.observe.own_entry(base, name)
            if found is not ABSENT:
                receiver = None if body.self is body.owner else body.self
                return bind_descriptor(m, found, receiver, body.owner)
    return generic_get(m, obj, name)


ALGORITHMS: dict[Any, Callable] = {
    GETATTRIBUTE: generic_get,
    type.__dict__["__getattribute__"]: class_get,
    types.ModuleType.__dict__["__getattribute__"]: module_get,
    super.__dict__["__getattribute__"]: super_get,
    **{
        cls.__dict__["__getattribute__"]: generic_get
        for cls in (int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset, slice, range, BaseException)
        if "__getattribute__" in cls.__dict__
    },
}


# -- writing ---------------------------------------------------------------------------------------------------------


def set_attribute(m: Machine, obj: Value, name: str, value: Value, link: Link | None = None) -> None:
    """`obj.name = value`, or `del obj.name` where value is ABSENT."""
    if type(obj) is Node and obj.tape == "graph":
        done = m.domain.set_attribute(m.session, obj, name, value)
        if done is not NOT_HANDLED:
            return
    slot = "__delattr__" if value is ABSENT else "__setattr__"
    writer = m.observe.type_lookup(obj.cls, slot)
    if type(writer) is Const:
        algorithm = WRITERS.get(writer.value)
        if algorithm is None:
            rule = RULES.get(writer.value)
            if rule is None:
                raise GraphBreak("FL505", f"attribute {name!r} of {obj.cls.__name__}")
            rule(m, obj, Const(name), *(() if value is ABSENT else (value,)))
            return
        algorithm(m, obj, name, value, link)
        return
    arguments = [obj, Const(name)] if value is ABSENT else [obj, Const(name), value]
    m.invoke(writer, arguments, {}, link)


def generic_set(m: Machine, obj: Value, name: str, value: Value, link: Link | None = None) -> None:
    """`object.__setattr__` and `object.__delattr__`."""
    on_class = m.observe.type_lookup(obj.cls, name)
    if on_class is not ABSENT and is_data_descriptor(m, on_class):
        set_descriptor(m, on_class, obj, name, value, link)
        return
    if name == "_name_" and issubclass(obj.cls, enum.Enum):
        raise GraphBreak("FL505", f"the name by which a {obj.cls.__name__} is found in dictionaries")
    body = attributes_of(m, obj)
    if body is None:
        known = f"attribute {name!r} is read-only" if on_class is not ABSENT else f"has no attribute {name!r}{NO_PLACE}"
        raise m.error(AttributeError, f"{type_name(obj.cls)!r} object {known}")
    if value is ABSENT:
        if dict_.get(m.session, body, name, Const(name)) is ABSENT:
            raise m.error(AttributeError, f"{type_name(obj.cls)!r} object has no attribute {name!r}")
        dict_.delete(m.session, body, name, Const(name))
        dict_.log_delete(m.session, obj, body, Const(name))
    else:
        dict_.set_(m.session, body, name, Const(name), value)
        dict_.log_set(m.session, obj, body, Const(name), value)


def set_descriptor(m: Machine, found: Value, obj: Value, name: str, value: Value, link: Link | None) -> None:
    """Write through a data descriptor, or delete where value is ABSENT."""
    setter = SETTERS.get(found.cls)
    if setter is not None:
        setter(m, found, obj, name, value, link)
        return
    slot = "__delete__" if value is ABSENT else "__set__"
    own = m.observe.type_lookup(found.cls, slot)
    if own is ABSENT:
        raise m.error(AttributeError, name)
    if type(own) is Const and own.value not in RULES:
        raise GraphBreak("FL505", f"descriptor of class {found.cls.__name__}")
    m.invoke(own, [found, obj] if value is ABSENT else [found, obj, value], {}, link)


def _set_member(m: Machine, found: Value, obj: Value, name: str, value: Value, link: Link | None) -> None:
    writer = GETSET_WRITERS.get(found.value)
    if writer is not None:
        writer(m, obj, value)
    elif is_static(found.value.__objclass__):
        raise GraphBreak("FL505", f"attribute {name!r} of {obj.cls.__name__}")
    else:
        set_slot(m, obj, found.value, value)


def _set_getset(m: Machine, found: Value, obj: Value, name: str, value: Value, link: Link | None) -> None:
    writer = GETSET_WRITERS.get(found.value)
    if writer is None:
        raise GraphBreak("FL505", f"attribute {name!r} of {obj.cls.__name__}")
    writer(m, obj, value)


def _set_property(m: Machine, found: Value, obj: Value, name: str, value: Value, link: Link | None) -> None:
    setter = part_of(m, found, property.__dict__["fdel" if value is ABSENT else "fset"])
    if type(setter) is Const and setter.value is None:
        kind = "deleter" if value is ABSENT else "setter"
        raise m.error(AttributeError, f"property {name!r} of {type_name(obj.cls)!r} object has no {kind}")
    m.invoke(setter, [obj] if value is ABSENT else [obj, value], {}, link)


SETTERS: dict[type, Callable] = {
    types.MemberDescriptorType: _set_member,
    types.GetSetDescriptorType: _set_getset,
    property: _set_property,
}
"""class of a data descriptor -> setter(m, descriptor, obj, name, value or ABSENT, link)"""


def set_slot(m: Machine, obj: Value, descriptor: Any, value: Value) -> None:
    """Write a slot."""
    if type(obj) is not Obj:
        raise GraphBreak("FL505", f"slot {descriptor.__name__!r} of {obj.cls.__name__}")
    if part_of(m, obj, descriptor) is ABSENT and value is ABSENT:
        raise m.error(AttributeError, descriptor.__name__)
    m.journal.set_item(obj.slots, descriptor, value)
    if value is ABSENT:
        m.session.operation("slot.delete", obj, descriptor)
    else:
        m.session.operation("slot.set", obj, descriptor, value)


def class_set(m: Machine, obj: Value, name: str, value: Value, link: Link | None = None) -> None:
    """`type.__setattr__` and `type.__delattr__`."""
    made = class_body(obj)
    cls = m.observe.known_class(obj)
    on_meta = m.observe.type_lookup(obj.cls, name)
    if made is not None and is_plain_entry(m, on_meta, name):
        set_entry(m, made, name, value)
        return
    if on_meta is not ABSENT and is_data_descriptor(m, on_meta):
        raise GraphBreak("FL505", f"attribute {name!r} of class {cls.__name__}")
    if is_static(cls):
        raise m.error(TypeError, f"cannot set {name!r} attribute of immutable type {type_name(cls)!r}")
    if name.startswith("__") and name.endswith("__"):
        raise GraphBreak("FL505", f"special method {name!r} of class {cls.__name__} is changed")
    if value is ABSENT and name not in namespace_of(cls) and m.observe.class_writes.get((cls, name), ABSENT) is ABSENT:
        raise m.error(AttributeError, name)
    m.journal.set_item(m.observe.class_writes, (cls, name), value)
    if value is ABSENT:
        m.session.operation("attribute.delete", obj, name)
    else:
        m.session.operation("attribute.set", obj, name, value)


def class_body(obj: Value) -> ClassBody | None:
    """The body of a class that the trace has made, None for any other value."""
    return obj.body if type(obj) is Obj and type(obj.body) is ClassBody else None


ENTRIES = frozenset({"__doc__", "__module__", "__annotations__"})
"""Names whose descriptors of `type` write the namespace of the class"""


def is_plain_entry(m: Machine, on_meta: Value, name: str) -> bool:
    """Whether a write to a class ends in its namespace; `on_meta` is what its metaclass has under the name."""
    if on_meta is ABSENT or not is_data_descriptor(m, on_meta):
        return True
    return name in ENTRIES and type(on_meta) is Const and on_meta.value is type.__dict__[name]


def set_entry(m: Machine, made: ClassBody, name: str, value: Value) -> None:
    """Write or remove an entry in the namespace of a class that the trace has made."""
    if name == "__slots__":
        raise GraphBreak("FL505", f"the __slots__ of {made.name} are changed")
    there = made.entry(name)
    if value is not ABSENT:
        dict_.set_(m.session, made.namespace, name, Const(name), value)
        show(m.session, made, name, shown(value))
        return
    if there is ABSENT:
        raise m.error(AttributeError, name)
    if name not in made.namespace.known:
        raise GraphBreak("FL505", f"attribute {name!r} of class {made.name} is deleted")
    dict_.delete(m.session, made.namespace, name, Const(name))
    m.journal.set_field(made, "moved", made.moved | {name})
    show(m.session, made, name, ABSENT)


WRITERS: dict[Any, Callable] = {
    SETATTR: generic_set,
    DELATTR: generic_set,
    type.__dict__["__setattr__"]: class_set,
    type.__dict__["__delattr__"]: class_set,
    types.ModuleType.__dict__.get("__setattr__", SETATTR): generic_set,
}
