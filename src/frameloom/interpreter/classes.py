"""isinstance and issubclass, user hooks included."""

from __future__ import annotations

import abc
from typing import Any

from frameloom.interpreter.attributes import (
    ALGORITHMS,
    bind_descriptor,
    class_get,
    generic_get,
    get_attribute,
    module_get,
)
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import truth
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.observe import mro_of
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Obj, Value

TYPE_INSTANCECHECK = type.__dict__["__instancecheck__"]
TYPE_SUBCLASSCHECK = type.__dict__["__subclasscheck__"]


def is_instance(m: Machine, value: Value, classes: Value) -> bool:
    """`isinstance(value, classes)`."""
    if classes.cls is tuple:
        return any(is_instance(m, value, item) for item in tuple_.items(m.session, classes.body))
    cls = m.observe.known(classes)
    if isinstance(cls, type) and value.cls is cls:
        return True
    check = m.observe.type_lookup(classes.cls, "__instancecheck__")
    if type(check) is Const and check.value is TYPE_INSTANCECHECK:
        return cls in mro_of(value.cls) or _class_attribute_says(m, value, cls)
    if _abc_check(m, check, abc.ABCMeta.__instancecheck__):
        return _abstract(m, value.cls, cls)
    if check is ABSENT:
        return _union(m, value, classes, is_instance)
    if type(check) is Const:
        return _union(m, value, classes, is_instance)
    return truth(m, m.invoke(bind_descriptor(m, check, classes, classes.cls), [value], {})).value


def _class_attribute_says(m: Machine, value: Value, cls: type) -> bool:
    """`isinstance` also believes a `__class__` that a class overrides."""
    standard = m.observe.peek_type(value.cls, "__class__") is object.__dict__["__class__"]
    if standard and ALGORITHMS.get(m.observe.peek_type(value.cls, "__getattribute__")) in (generic_get, class_get, module_get):
        return False
    said = get_attribute(m, value, "__class__")
    known = m.observe.known(said) if issubclass(said.cls, type) else MISSING
    return isinstance(known, type) and known is not value.cls and cls in mro_of(known)


def _abc_check(m: Machine, check: Value, standard: Any) -> bool:
    return type(check) is Obj and check.real is not None and m.observe.peek(check) is standard


def _abstract(m: Machine, subclass: type, cls: type) -> bool:
    """An abstract base class: registered classes and `__subclasshook__` decide.  The host's own answer is used where no
    hook written in Python by the user could run, and is guarded by asking again."""
    if cls in mro_of(subclass):
        return True
    hook = m.observe.type_lookup(cls, "__subclasshook__")
    if not _library_hook(m, hook):
        raise GraphBreak("FL112", f"isinstance() against {cls.__qualname__} with a __subclasshook__")
    answer = abc.ABCMeta.__subclasscheck__(cls, subclass)
    m.session.guard(
        "CALL", m.session.sources.const(subclass), (subclass_answer, (cls, answer), f"issubclass({{}}, {cls.__name__}) is {answer}")
    )
    return answer


def subclass_answer(subclass: type, expected: tuple) -> bool:
    """Whether an abstract base class still gives the same answer."""
    cls, answer = expected
    return abc.ABCMeta.__subclasscheck__(cls, subclass) is answer


def _library_hook(m: Machine, hook: Value) -> bool:
    found = m.observe.peek(hook)
    if found is object.__dict__["__subclasshook__"]:
        return True
    function = getattr(found, "__func__", None)
    module = getattr(function, "__module__", None)
    return module in ("collections.abc", "_collections_abc", "numbers", "typing", "os", "io", "contextlib", "abc")


def _union(m: Machine, value: Value, classes: Value, check: Any) -> bool:
    import types

    found = m.observe.known(classes)
    if isinstance(found, types.UnionType):
        return any(check(m, value, m.observe.constant(part)) for part in found.__args__)
    if found is MISSING or not isinstance(found, type):
        raise m.error(TypeError, "isinstance() arg 2 must be a type, a tuple of types, or a union")
    raise GraphBreak("FL112", f"class check of {found.__qualname__} in C")


def is_subclass(m: Machine, subclass: Value, classes: Value) -> bool:
    """`issubclass(subclass, classes)`."""
    if classes.cls is tuple:
        return any(is_subclass(m, subclass, item) for item in tuple_.items(m.session, classes.body))
    if not issubclass(subclass.cls, type):
        raise m.error(TypeError, "issubclass() arg 1 must be a class")
    cls, sub = m.observe.known(classes), m.observe.known(subclass)
    check = m.observe.type_lookup(classes.cls, "__subclasscheck__")
    if type(check) is Const and check.value is TYPE_SUBCLASSCHECK:
        return cls in mro_of(sub)
    if _abc_check(m, check, abc.ABCMeta.__subclasscheck__):
        return _abstract(m, sub, cls)
    if check is ABSENT or type(check) is Const:
        return _union(m, subclass, classes, is_subclass)
    return truth(m, m.invoke(bind_descriptor(m, check, classes, classes.cls), [subclass], {})).value
