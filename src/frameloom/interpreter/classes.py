"""isinstance and issubclass, user hooks included."""

from __future__ import annotations

import _abc
import abc
import types
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
from frameloom.symbolic import kinds
from frameloom.symbolic.instance_dict import MISSING, class_item
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.made import class_made
from frameloom.symbolic.real import stands_on
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Obj, Value

TYPE_INSTANCECHECK = type.__dict__["__instancecheck__"]
TYPE_SUBCLASSCHECK = type.__dict__["__subclasscheck__"]


def is_instance(m: Machine, value: Value, classes: Value) -> bool:
    """`isinstance(value, classes)`."""
    if classes.cls is tuple:
        return any(is_instance(m, value, item) for item in tuple_.items(m.session, classes.body))
    cls = m.observe.known_class(classes)
    if stands_on(cls, type) and value.cls is cls:
        return True
    check = m.observe.type_lookup(classes.cls, "__instancecheck__")
    if type(check) is Const and check.value is TYPE_INSTANCECHECK:
        return m.observe.is_subtype(value.cls, cls) or _class_attribute_says(m, value, cls)
    if _abc_check(m, check, abc.ABCMeta.__instancecheck__):
        return abstract_instance(m, value, classes)
    if check is ABSENT:
        return _union(m, value, classes, is_instance)
    if type(check) is Const:
        return _union(m, value, classes, is_instance)
    return truth(m, m.invoke(bind_descriptor(m, check, classes, classes.cls), [value], {})).value


def abstract_instance(m: Machine, value: Value, cls: Value) -> bool:
    """`ABCMeta.__instancecheck__`: the class that the object names is asked about first, then its real one."""
    said = _class_of(m, value)
    real = m.observe.constant(value.cls)
    return any(is_subclass(m, asked, cls) for asked in ((real,) if said is None else (said, real)))


def _class_of(m: Machine, value: Value) -> Value | None:
    """What an object says its class is, None where that is the real one."""
    standard = m.observe.peek_type(value.cls, "__class__") is object.__dict__["__class__"]
    if standard and ALGORITHMS.get(m.observe.peek_type(value.cls, "__getattribute__")) in (generic_get, class_get, module_get):
        return None
    said = get_attribute(m, value, "__class__")
    return None if m.observe.peek(said) is value.cls else said


def _class_attribute_says(m: Machine, value: Value, cls: type) -> bool:
    """`isinstance` also believes a `__class__` that a class overrides."""
    said = _class_of(m, value)
    known = m.observe.known_class(said) if said is not None and issubclass(said.cls, type) else MISSING
    return known is not MISSING and known is not value.cls and m.observe.is_subtype(known, cls)


def _abc_check(m: Machine, check: Value, standard: Any) -> bool:
    return type(check) is Obj and check.real is not None and m.observe.peek(check) is standard


def _abstract(m: Machine, subclass: type, cls: type) -> bool:
    """An abstract base class: registered classes and `__subclasshook__` decide.  The host's own answer is used where no
    hook written in Python by the user could run, and is guarded by asking again."""
    hook = m.observe.type_lookup(cls, "__subclasshook__")
    if not _is_library(m.observe.peek(hook)):
        raise GraphBreak("FL112", f"a class is compared with {type.__repr__(cls)}, which has a __subclasshook__")
    if m.observe.is_subtype(subclass, cls):
        return True
    for asked in (cls, subclass):
        if class_made(asked) is not None:
            raise GraphBreak("FL004", f"{NAME.__get__(asked)}, made in the trace, is met by an abstract class")
    _require_standard_reads(m, subclass)
    _require_library(m, cls)
    answer = ABC_SUBCLASSCHECK(cls, subclass)
    m.session.guard(
        "CALL", m.session.sources.const(subclass), (subclass_answer, (cls, answer), f"issubclass({{}}, {NAME.__get__(cls)}) is {answer}")
    )
    return answer


def subclass_answer(subclass: type, expected: tuple) -> bool:
    """Whether an abstract base class still gives the same answer."""
    cls, answer = expected
    return abc.ABCMeta.__subclasscheck__(cls, subclass) is answer


def _require_standard_reads(m: Machine, subclass: type) -> None:
    """Break where asking a class for its `__mro__` or its base classes runs code of its metaclass."""
    if ALGORITHMS.get(m.observe.peek_type(type(subclass), "__getattribute__")) is not class_get:
        raise GraphBreak("FL112", f"a metaclass decides what {type.__repr__(subclass)} has")


def _require_library(m: Machine, cls: type) -> None:
    """Break where an abstract base class asks others whose answers are made by the program's own code."""
    waiting, seen = [cls], m.memory.get(_require_library, frozenset())
    met = set(seen)
    while waiting:
        asked = waiting.pop()
        if id(asked) in met:
            continue
        met.add(id(asked))
        if not _asks_quietly(asked):
            raise GraphBreak("FL112", f"{type.__repr__(cls)} asks {type.__repr__(asked)}")
        if stands_on(asked, abc.ABCMeta):
            waiting += type.__subclasses__(asked)
            waiting += [found for found in (reference() for reference in _abc._get_dump(asked)[0]) if found is not None]
    m.remember(_require_library, frozenset(met))


def _asks_quietly(cls: type) -> bool:
    """Whether `issubclass(anything, cls)` runs no code of the program's."""
    metaclass = type(cls)
    if metaclass is type:
        return True
    kinds.require_quiet(cls)
    check = class_item(metaclass, "__subclasscheck__")
    if check is not TYPE_SUBCLASSCHECK and check is not ABC_SUBCLASSCHECK and not _is_library(check):
        return False
    if check is TYPE_SUBCLASSCHECK:
        return True
    lists = class_item(cls, "__subclasses__") is MISSING and class_item(metaclass, "__subclasses__") is type.__dict__["__subclasses__"]
    return lists and _is_library(class_item(cls, "__subclasshook__"))


NAME = type.__dict__["__name__"]
ABC_SUBCLASSCHECK = abc.ABCMeta.__subclasscheck__


def _is_library(found: Any) -> bool:
    """Whether a hook is C code's or one of the library's."""
    if found is object.__dict__["__subclasshook__"]:
        return True
    function = found.__func__ if type(found) is classmethod else found
    module = function.__module__ if type(function) is types.FunctionType else None
    return module in ("collections.abc", "_collections_abc", "numbers", "os", "io", "contextlib", "abc")


def _union(m: Machine, value: Value, classes: Value, check: Any) -> bool:
    found = m.observe.known(classes)
    if stands_on(found, types.UnionType):
        return any(check(m, value, m.observe.constant(part)) for part in found.__args__)
    if found is MISSING or not stands_on(found, type):
        raise m.error(TypeError, "isinstance() arg 2 must be a type, a tuple of types, or a union")
    raise GraphBreak("FL112", f"class check of {found.__qualname__} in C")


def is_subclass(m: Machine, subclass: Value, classes: Value) -> bool:
    """`issubclass(subclass, classes)`."""
    if classes.cls is tuple:
        return any(is_subclass(m, subclass, item) for item in tuple_.items(m.session, classes.body))
    if not issubclass(subclass.cls, type):
        raise m.error(TypeError, "issubclass() arg 1 must be a class")
    cls, sub = m.observe.known_class(classes), m.observe.known_class(subclass)
    check = m.observe.type_lookup(classes.cls, "__subclasscheck__")
    if type(check) is Const and check.value is TYPE_SUBCLASSCHECK:
        return m.observe.is_subtype(sub, cls)
    if _abc_check(m, check, abc.ABCMeta.__subclasscheck__):
        return _abstract(m, sub, cls)
    if check is ABSENT or type(check) is Const:
        return _union(m, subclass, classes, is_subclass)
    return truth(m, m.invoke(bind_descriptor(m, check, classes, classes.cls), [subclass], {})).value
