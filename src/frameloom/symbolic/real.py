"""What a real object or class is, past whatever its class or metaclass says about it.

`isinstance(obj, cls)` asks the object for its `__class__`, and `cls.__name__` the metaclass: both may run the user's code, which
capture must never do by accident.
"""

from __future__ import annotations

import types
from typing import Any

_SUBCLASSCHECK = type.__subclasscheck__
_MRO = type.__dict__["__mro__"]
_NAMESPACE = type.__dict__["__dict__"]
_NAME = type.__dict__["__name__"]
_FLAGS = type.__dict__["__flags__"]
_DICT_OFFSET = type.__dict__["__dictoffset__"]
_WEAK_OFFSET = type.__dict__["__weakrefoffset__"]
_MODULE_DICT = types.ModuleType.__dict__["__dict__"]
_HEAP_TYPE = 1 << 9


def stands_on(found: Any, *classes: type) -> bool:
    """Whether the real class of an object is one of these classes or a subclass of one (none may be abstract: PEP 3119)."""
    return issubclass(type(found), classes)


def is_subtype(sub: type, cls: type) -> bool:
    """Whether a class is `cls` or below it, without what abstract classes and metaclasses say about it."""
    return _SUBCLASSCHECK(cls, sub)


def mro_of(cls: type) -> tuple:
    """`cls.__mro__` past any metaclass; empty for a class whose `mro()` is still running."""
    return _MRO.__get__(cls) or ()


def namespace_of(cls: type) -> Any:
    """`cls.__dict__` past any metaclass."""
    return _NAMESPACE.__get__(cls)


def type_name(cls: type) -> str:
    """The name of a class in CPython's own messages: classes of C code outside `builtins` are told with their module."""
    name = _NAME.__get__(cls)
    try:
        type.__getattribute__(cls, " ")
    except AttributeError as error:
        told = str(error).removeprefix("type object '").partition("' has no attribute ")[0]
        return told if told.endswith(f".{name}") else name
    return name


def flags_of(cls: type) -> int:
    """The flags of a class (`Py_TPFLAGS_...`)."""
    return _FLAGS.__get__(cls)


def can_be_weak(found: Any) -> bool:
    """Whether what is made for a program should hold an object weakly: objects of the user's that have weak references."""
    if stands_on(found, type):
        return bool(flags_of(found) & _HEAP_TYPE)
    if stands_on(found, types.BuiltinFunctionType):
        return is_loose(found)
    return _WEAK_OFFSET.__get__(type(found)) != 0 and not stands_on(found, types.ModuleType)


def is_loose(function: types.BuiltinFunctionType) -> bool:
    """Whether a function of a module that is implemented in C is none that the module has by its name: it may die before it."""
    module = function.__self__
    return type(module) is types.ModuleType and _MODULE_DICT.__get__(module).get(function.__name__) is not function


def has_instance_dict(cls: type) -> bool:
    """Whether instances of a class have a `__dict__`."""
    return _DICT_OFFSET.__get__(cls) != 0
