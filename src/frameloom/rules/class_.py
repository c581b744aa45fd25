"""Classes as objects: `type`, `super`, what a class tells about itself."""

from __future__ import annotations

import operator
import types
from typing import Any

from frameloom.interpreter import calls, classes
from frameloom.interpreter.attributes import (
    bind_descriptor,
    class_body,
    class_get,
    class_set,
    get_attribute,
    reads,
)
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse
from frameloom.rules.define import function, methods
from frameloom.rules.class_making import new_class, of_made
from frameloom.rules.names import attribute_name
from frameloom.rules.mappingproxy import class_entry, class_namespace
from frameloom.symbolic.layouts import cell
from frameloom.symbolic.layouts.cell import CellBody
from frameloom.symbolic.layouts.super_ import SuperBody
from frameloom.symbolic.real import flags_of, stands_on, type_name
from frameloom.symbolic.guards import HEAP_TYPE
from frameloom.symbolic.reading import Reading
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, NOT_IMPLEMENTED, UNBOUND, Const, Obj, Value, boolean

# -- type ------------------------------------------------------------------------------------------------------------


@function(type)
def type_(m: Machine, obj: Value, bases: Value = ABSENT, namespace: Value = ABSENT, /, **kwargs: Value) -> Value:
    if bases is not ABSENT and namespace is not ABSENT:
        return new_class(m, m.observe.constant(type), obj, bases, namespace, kwargs)
    return class_of(m, obj)


def class_of(m: Machine, obj: Value) -> Value:
    """`type(obj)`."""
    return m.observe.constant(obj.cls)


@methods(type, "__call__")
def type_call(m: Machine, cls: Value, /, *args: Value, **kwargs: Value) -> Value:
    known = m.observe.known_class(cls)
    if known is type:
        return calls.call_class(m, cls, list(args), kwargs, None)
    rule = calls.RULES.get(known)
    if rule is not None:
        made = rule(m, *args, **kwargs)
        if made is not NotImplemented:
            return made
    return calls.instantiate(m, known, list(args), kwargs)


@methods(type, "__instancecheck__")
def type_instancecheck(m: Machine, cls: Value, obj: Value, /) -> Value:
    known = m.observe.known_class(cls)
    return boolean(m.observe.is_subtype(obj.cls, known) or classes._class_attribute_says(m, obj, known))


@methods(type, "__subclasscheck__")
def type_subclasscheck(m: Machine, cls: Value, sub: Value, /) -> Value:
    if not issubclass(sub.cls, type):
        raise m.error(TypeError, "issubclass() arg 1 must be a class")
    return boolean(m.observe.is_subtype(m.observe.known_class(sub), m.observe.known_class(cls)))


@methods(type, "__getattribute__")
def type_getattribute(m: Machine, cls: Value, name: Value, /) -> Value:
    return class_get(m, cls, attribute_name(m, name))


@methods(type, "__setattr__")
def type_setattr(m: Machine, cls: Value, name: Value, value: Value, /) -> Value:
    class_set(m, cls, attribute_name(m, name), value)
    return NONE


@methods(type, "__delattr__")
def type_delattr(m: Machine, cls: Value, name: Value, /) -> Value:
    class_set(m, cls, attribute_name(m, name), ABSENT)
    return NONE


def _text_of_class(cls: type) -> str:
    return type.__repr__(cls)


CLASS_TEXT = Reading(_text_of_class, "__repr__()")


@methods(type, "__repr__")
def type_repr(m: Machine, cls: Value, /) -> Value:
    if type(cls) is not Obj:
        return NotImplemented
    if class_body(cls) is not None:
        return Const(type.__repr__(cls.body.stand_in))
    return m.observe.read(cls, "descriptor", CLASS_TEXT)


def _union(m: Machine, left: Value, right: Value, /) -> Value:
    """`X | Y` of classes (PEP 604)."""
    parts = [m.observe.known(part) for part in (left, right)]
    if not all(stands_on(part, type, types.UnionType, types.GenericAlias, type(None)) for part in parts):
        return NOT_IMPLEMENTED
    return m.observe.constant(operator.or_(*(type(None) if part is None else part for part in parts)))


for _name in ("__or__", "__ror__"):
    methods(type, _name)(_union if _name == "__or__" else lambda m, right, left, /: _union(m, left, right))
methods(types.UnionType, "__or__")(_union)


refuse("FL102", "the subclasses of a class change with every class made", type.__dict__["__subclasses__"])
refuse("FL102", "the resolution order is computed", type.__dict__["mro"])


# -- what a class tells about itself ---------------------------------------------------------------------------------


def _read_member(descriptor: Any) -> Any:
    def read(m: Machine, cls: Value) -> Value:
        if class_body(cls) is not None:
            return of_made(m, cls, descriptor.__name__)
        found = m.observe.read(cls, "descriptor", descriptor)
        if found is ABSENT:
            raise GraphBreak("FL103", f"attribute {descriptor.__name__!r} of a class without it")
        return found

    return read


PLAIN_PARTS = (
    "__name__",
    "__qualname__",
    "__module__",
    "__bases__",
    "__base__",
    "__mro__",
    "__flags__",
    "__basicsize__",
    "__itemsize__",
    "__dictoffset__",
    "__weakrefoffset__",
    "__text_signature__",
    "__type_params__",
)
for _name in PLAIN_PARTS:
    if _name in type.__dict__:
        reads(type.__dict__[_name])(_read_member(type.__dict__[_name]))


@reads(type.__dict__["__doc__"])
def doc(m: Machine, cls: Value) -> Value:
    """The entry of the class's own namespace, bound if it is a descriptor; of a static class the text that C code gives."""
    if not flags_of(m.observe.known_class(cls)) & HEAP_TYPE:
        return m.observe.read(cls, "descriptor", type.__dict__["__doc__"])
    found = class_entry(m, cls, "__doc__")
    return NONE if found is ABSENT else bind_descriptor(m, found, None, cls)


def _abstract_methods(cls: type) -> Any:
    return type.__dict__["__abstractmethods__"].__get__(cls)


def _has_no_abstract_methods(cls: type, _: None) -> bool:
    try:
        _abstract_methods(cls)
    except AttributeError:
        return True
    return False


@reads(type.__dict__["__abstractmethods__"])
def abstract_methods(m: Machine, cls: Value) -> Value:
    if class_body(cls) is not None:
        found = cls.body.entry("__abstractmethods__")
        if found is ABSENT:
            raise m.error(AttributeError, "__abstractmethods__")
        return found
    found = m.observe.read(cls, "descriptor", type.__dict__["__abstractmethods__"])
    if found is ABSENT:
        m.session.guard("CALL", cls.real.source, (_has_no_abstract_methods, None, "{} has no __abstractmethods__"))
        raise m.error(AttributeError, "__abstractmethods__")
    return found


@reads(type.__dict__["__dict__"])
def namespace(m: Machine, cls: Value) -> Value:
    return class_namespace(m, cls)


@reads(type.__dict__["__annotations__"])
def annotations(m: Machine, cls: Value) -> Value:
    """Reading makes the dictionary where the class has none: then it is a write."""
    own = class_entry(m, cls, "__annotations__")
    if own is ABSENT:
        raise GraphBreak("FL505", f"{cls!r} gets an __annotations__")
    return own


# -- super -----------------------------------------------------------------------------------------------------------


@function(super)
def super_(m: Machine, start: Value = ABSENT, obj: Value = ABSENT, /) -> Value:
    if start is ABSENT:
        start, obj = _of_frame(m, m.session.frame)
    elif not issubclass(start.cls, type):
        raise m.error(TypeError, f"super() argument 1 must be a type, not {type_name(start.cls)}")
    if obj is ABSENT or obj is NONE or type(obj) is Const and obj.value is None:
        raise GraphBreak("FL101", "super() without an object")
    return m.session.alloc(super, SuperBody(start, obj, _owner(m, start, obj)))


def _of_frame(m: Machine, frame: Frame) -> tuple[Value, Value]:
    """What `super()` finds in the calling frame: the cell `__class__` and the first argument (PEP 3135)."""
    code = frame.program.code
    if code.co_argcount == 0:
        raise m.error(RuntimeError, "super(): no arguments")
    obj = m.observe.resolve(frame.slots[0])
    if type(obj) is Obj and isinstance(obj.body, CellBody) and frame.program.slots[0].kind != "local":
        obj = cell.get(m.session, obj)
    if obj is UNBOUND:
        raise m.error(RuntimeError, "super(): arg[0] deleted")
    for slot, place in zip(frame.program.slots, frame.slots):
        if slot.name == "__class__" and slot.kind == "free":
            start = cell.get(m.session, m.observe.resolve(place))
            if start is UNBOUND:
                raise m.error(RuntimeError, "super(): empty __class__ cell")
            return start, obj
    raise m.error(RuntimeError, "super(): __class__ cell not found")


def _owner(m: Machine, start: Value, obj: Value) -> Value:
    """The class whose resolution order is walked."""
    cls = m.observe.known_class(start)
    if issubclass(obj.cls, type) and m.observe.is_subtype(m.observe.known_class(obj), cls):
        return obj
    if m.observe.is_subtype(obj.cls, cls):
        return class_of(m, obj)
    said = get_attribute(m, obj, "__class__")
    if issubclass(said.cls, type) and m.observe.is_subtype(m.observe.known_class(said), cls):
        return said
    raise m.error(TypeError, "super(type, obj): obj must be an instance or subtype of type")


def _read_super(name: str) -> Any:
    return lambda m, obj: getattr(obj.body, name)


for _name, _part in (("__thisclass__", "start"), ("__self__", "self"), ("__self_class__", "owner")):
    reads(super.__dict__[_name])(_read_super(_part))

