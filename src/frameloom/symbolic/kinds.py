"""How a real object of each class becomes a symbolic value: one row per kind, found by class and remembered."""

from __future__ import annotations

import enum
import re
import types
import weakref
from typing import Any, Callable, NamedTuple

from frameloom.symbolic.instance_dict import class_item
from frameloom.symbolic.real import mro_of, namespace_of, stands_on
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Value

ATOMS = frozenset({type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented)})
"""Classes whose instances are constants by exact type and value."""


def has_equals(atom: Any) -> bool:
    """Whether equal atoms of the same class may be other objects: CPython keeps small whole numbers, and texts of one
    Latin-1 character at most."""
    cls = type(atom)
    if cls is int:
        return not -5 <= atom <= 256
    if cls is str:
        return len(atom) > 1 or atom > "\xff"
    return cls is float or cls is complex or cls is bytes and len(atom) > 1


class Kind(NamedTuple):
    """wrap(observer, object, source) for objects met by a path; constant(observer, object, source) for objects held fast."""

    wrap: Callable[[Any, Any, Any], Value]
    constant: Callable[[Any, Any, Any], Value]


def _const(observer: Any, found: Any, source: Any) -> Value:
    return Const(found)


def _frozen(observer: Any, found: Any, source: Any) -> Value:
    """A constant with parts (a tuple, a frozenset, a function held fast)."""
    return observer.plain(found, source)


def _domain_input(observer: Any, found: Any, source: Any) -> Value:
    return observer.claimed(found, source)


ATOM = Kind(lambda o, found, source: o.atom(found, source), _const)
SINGLETON = Kind(lambda o, found, source: o.singleton(found, source), _const)
IDENTIFIED = Kind(lambda o, found, source: o.identified(found, source), lambda o, found, source: o.identified(found, source))
PLAIN = Kind(lambda o, found, source: o.plain(found, source), _frozen)
DOMAIN = Kind(_domain_input, _domain_input)


def _is_bound(function: types.BuiltinFunctionType) -> bool:
    """Whether a C function is the method of an object; the owner of others is a module, a class, or a record of its binding."""
    owner = function.__self__
    if owner is None or stands_on(owner, types.ModuleType, type):
        return False
    return any(function.__name__ in namespace_of(base) for base in mro_of(type(owner)))


def _builtin_function(observer: Any, found: Any, source: Any) -> Value:
    """A C function; one bound to an object is the pair of its descriptor and that object."""
    return observer.plain(found, source) if _is_bound(found) else observer.singleton(found, source)


def _builtin_constant(observer: Any, found: Any, source: Any) -> Value:
    return observer.plain(found, source) if _is_bound(found) else Const(found)


DEFINED_METHOD: type = type(re.compile("").sub)
"""The class of bound C methods that are told their class: a subclass of that of all C functions, which has no name in `types`."""

SINGLETON_CLASSES = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.ClassMethodDescriptorType,
    types.CodeType,
    range,
)

KINDS: dict[type, Kind] = {
    **{cls: ATOM for cls in ATOMS},
    **{cls: SINGLETON for cls in SINGLETON_CLASSES},
    range: Kind(lambda o, found, source: o.atom(found, source), _const),
    types.BuiltinFunctionType: Kind(_builtin_function, _builtin_constant),
    DEFINED_METHOD: Kind(_builtin_function, _builtin_constant),
    types.ModuleType: IDENTIFIED,
    type: IDENTIFIED,
}


def kind_of(cls: type, domain: Any) -> Kind:
    """The row for instances of `cls`."""
    require_quiet(cls)
    found = KINDS.get(cls)
    if found is not None:
        return found
    known = _MEMO.get((id(cls), domain.name))
    if known is not None and known[0]() is cls:
        return known[1]
    found = _classify(cls, domain)
    key = (id(cls), domain.name)
    _MEMO[key] = (weakref.ref(cls, lambda _: _MEMO.pop(key, None)), found)
    return found


_MEMO: dict[tuple[int, str], tuple[weakref.ref, Kind]] = {}
"""What has been found out about classes, which may die"""


def require_quiet(cls: type) -> None:
    """Break where hashing or comparing a class would run code of its metaclass: tables are keyed by classes."""
    if type(cls) is not type and _is_loud(type(cls)):
        raise GraphBreak("FL112", f"the metaclass of {QUALNAME.__get__(cls)} hashes or compares classes")


def _is_loud(metaclass: type) -> bool:
    if type(metaclass) is not type and _is_loud(type(metaclass)):
        return True
    return any(class_item(metaclass, name) is not standard for name, standard in _ASKED.items())


_ASKED = {name: object.__dict__[name] for name in ("__hash__", "__eq__")}
QUALNAME = type.__dict__["__qualname__"]


def _classify(cls: type, domain: Any) -> Kind:
    if domain.claims(cls):
        return DOMAIN
    if domain.constant(cls):
        return SINGLETON
    if issubclass(cls, (type, types.ModuleType)):
        return IDENTIFIED
    if issubclass(cls, enum.Enum) and is_one_of(cls.__hash__, STANDARD_ENUM_HASHES):
        return IDENTIFIED
    return PLAIN


STANDARD_ENUM_HASHES = (enum.Enum.__hash__, int.__hash__, str.__hash__)


def is_one_of(found: Any, known: tuple) -> bool:
    """Whether a class's method is one of these very objects; it may be anything, of no hash too."""
    return any(found is one for one in known)
