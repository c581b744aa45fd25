"""Properties, static and class methods, and the explicit use of descriptors."""

from __future__ import annotations

import types

from frameloom.interpreter.attributes import (
    BINDERS,
    SETTERS,
    WRAPPED,
    get_attribute,
    part_of,
    reads,
    wrapped_of,
)
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import truth
from frameloom.interpreter.registry import refuse
from frameloom.rules.define import function, methods, wrong_receiver
from frameloom.symbolic.layouts.descriptor import FROM_GETTER
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.real import stands_on, type_name
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, FALSE, NONE, Const, Obj, Value, boolean

PROPERTY = property.__dict__


def _is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None


# -- making ----------------------------------------------------------------------------------------------------------


@function(property)
def make_property(m: Machine, fget: Value = NONE, fset: Value = NONE, fdel: Value = NONE, doc: Value = NONE) -> Value:
    body = None
    if _is_none(doc) and not _is_none(fget):
        doc = _doc_of(m, fget)
        body = None if _is_none(doc) else FROM_GETTER
        if body is not None and fget.cls is not types.FunctionType:
            raise GraphBreak("FL102", f"a property has its text from a {fget.cls.__name__}")
    made = m.session.alloc(property, body)
    made.slots = {
        PROPERTY["fget"]: fget,
        PROPERTY["fset"]: fset,
        PROPERTY["fdel"]: fdel,
        PROPERTY["__doc__"]: doc,
    }
    return made


def _doc_of(m: Machine, fget: Value) -> Value:
    try:
        return get_attribute(m, fget, "__doc__")
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        return NONE


@function(staticmethod)
def make_static(m: Machine, fn: Value, /) -> Value:
    return wrapping(m, staticmethod, fn)


@function(classmethod)
def make_class(m: Machine, fn: Value, /) -> Value:
    return wrapping(m, classmethod, fn)


COPIED = tuple(vars(classmethod(lambda: None)))
"""The attributes that static and class methods copy from their functions, in order"""


def wrapping(m: Machine, cls: type, fn: Value) -> Obj:
    """A static or class method, with the attributes it copies from its function."""
    made = m.session.alloc(cls)
    made.slots = {WRAPPED[cls]: fn}
    made.attributes = DictBody(True)
    for name in COPIED:
        try:
            made.attributes.known[name] = (Const(name), get_attribute(m, fn, name))
        except SymbolicRaise as signal:
            if not issubclass(signal.value.cls, AttributeError):
                raise
    return made


def _replace(name: str, part: str) -> None:
    @methods(property, name)
    def replaced(m: Machine, found: Value, fn: Value, /) -> Value:
        parts = {each: part_of(m, found, PROPERTY[each]) for each in ("fget", "fset", "fdel")}
        if found.cls is not property:
            raise GraphBreak("FL102", f"property.{name} of a {found.cls.__name__}")
        doc = NONE if found.body == FROM_GETTER else part_of(m, found, PROPERTY["__doc__"])
        if found.real is not None and not _is_none(doc):
            raise GraphBreak("FL102", FROM_WHERE)
        return make_property(m, **{**parts, part: fn}, doc=doc)


FROM_WHERE = "whether a property has its text from its getter shows nowhere"
refuse("FL102", FROM_WHERE, PROPERTY["getter"])
for _name, _part in (("setter", "fset"), ("deleter", "fdel")):
    _replace(_name, _part)


# -- reading ---------------------------------------------------------------------------------------------------------


@reads(PROPERTY["__isabstractmethod__"])
def property_is_abstract(m: Machine, found: Value) -> Value:
    return boolean(any(_abstract(m, part_of(m, found, PROPERTY[part])).value for part in ("fget", "fset", "fdel")))


def _abstract(m: Machine, fn: Value) -> Value:
    try:
        return truth(m, get_attribute(m, fn, "__isabstractmethod__"))
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        return FALSE


for _cls in (staticmethod, classmethod):
    reads(_cls.__dict__["__isabstractmethod__"])(lambda m, found: _abstract(m, wrapped_of(m, found)))
    reads(_cls.__dict__["__wrapped__"])(wrapped_of)


@methods(staticmethod, "__call__")
def static_call(m: Machine, found: Value, /, *args: Value, **kwargs: Value) -> Value:
    return m.invoke(part_of(m, found, WRAPPED[staticmethod]), list(args), kwargs)


# -- explicit binding ------------------------------------------------------------------------------------------------


def _get(m: Machine, cls: type, found: Value, obj: Value, owner: Value) -> Value:
    """`cls.__get__(found, obj, owner)`; the class of `found` may be a subclass of `cls`."""
    if _is_none(obj) and _is_none(owner):
        raise m.error(TypeError, "__get__(None, None) is invalid")
    receiver = None if _is_none(obj) else obj
    _require_fit(m, found, receiver, owner)
    return BINDERS[cls](m, found, receiver, m.observe.constant(obj.cls) if _is_none(owner) else owner, None)


def _require_fit(m: Machine, found: Value, receiver: Value | None, owner: Value) -> None:
    """The TypeErrors of C descriptors that are bound by hand to what they are not made for."""
    if type(found) is not Const or not hasattr(found.value, "__objclass__"):
        return
    descriptor = found.value
    if found.cls is types.ClassMethodDescriptorType:
        cls = receiver.cls if _is_none(owner) else m.observe.known(owner)
        if not stands_on(cls, type) or not m.observe.is_subtype(cls, descriptor.__objclass__):
            name = type_name(cls) if stands_on(cls, type) else type_name(owner.cls)
            raise m.error(TypeError, f"descriptor '{descriptor.__name__}' requires a subtype of {name}")
    elif receiver is not None and not m.observe.is_subtype(receiver.cls, descriptor.__objclass__):
        raise m.error(TypeError, wrong_receiver(descriptor.__objclass__, descriptor.__name__, receiver.cls, False))


BINDING = (
    property,
    staticmethod,
    classmethod,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
)
def _register_get(cls: type) -> None:
    @methods(cls, "__get__")
    def get(m: Machine, found: Value, obj: Value, owner: Value = NONE, /) -> Value:
        return _get(m, cls, found, obj, owner)


for _cls in BINDING:
    _register_get(_cls)


def _register_set(cls: type) -> None:
    @methods(cls, "__set__", "__delete__")
    def set_(m: Machine, found: Value, obj: Value, value: Value = ABSENT, /) -> Value:
        if cls is not property:
            _require_fit(m, found, obj, NONE)
        SETTERS[cls](m, found, obj, getattr(getattr(found, "value", None), "__name__", "property"), value, None)
        return NONE


for _cls in SETTERS:
    _register_set(_cls)


@methods(types.WrapperDescriptorType, "__call__")
def wrapper_call(m: Machine, found: Value, /, *args: Value, **kwargs: Value) -> Value:
    return m.invoke(found, list(args), kwargs)


methods(types.MethodDescriptorType, "__call__")(wrapper_call)
