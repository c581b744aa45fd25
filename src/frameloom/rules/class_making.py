"""`type.__new__`, and all that it asks of metaclass, bases and namespace."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

from frameloom.interpreter.attributes import bind_descriptor, get_attribute, is_plain_entry
from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.rules.define import methods
from frameloom.rules.descriptor_ import wrapping
from frameloom.symbolic import kinds
from frameloom.symbolic.layouts import cell, dict_, tuple_
from frameloom.symbolic.layouts.cell import CellBody
from frameloom.symbolic.layouts.class_ import ClassBody, OrderBody, make_stand_in, shown
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.real import is_subtype, mro_of, stands_on
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, Const, Obj, Value

NEW = type.__dict__["__new__"]


@methods(type, "__new__")
def type_new(m: Machine, metaclass: Value, name: Value, bases: Value, namespace: Value, /, **kwargs: Value) -> Value:
    return new_class(m, metaclass, name, bases, namespace, kwargs)


def new_class(m: Machine, metaclass: Value, name: Value, bases: Value, namespace: Value, kwargs: dict[str, Value]) -> Value:
    """`type.__new__(metaclass, name, bases, namespace, **kwargs)`; a break where an argument is of an odd kind."""
    entries = _entries(m, name, bases, namespace)
    items = tuple_.items(m.session, bases.body)
    if not items:
        items = [m.observe.constant(object)]
        bases = m.tuple(items)
    winner = winning_metaclass(m, m.observe.known_class(metaclass), items)
    new = m.observe.type_lookup(winner, "__new__")
    if winner is not m.observe.known_class(metaclass) and not (type(new) is Const and new.value is NEW):
        return m.invoke(_function_of(m, new), [m.observe.constant(winner), name, bases, namespace], kwargs)
    cells = [entries.pop(special) for special in ("__classcell__", "__classdictcell__") if special in entries]
    made = _make(m, winner, name.value, bases, entries)
    for found, contents in zip(cells, (made, namespace)):
        if not (type(found) is Obj and type(found.body) is CellBody):
            raise GraphBreak("FL004", f"{name.value} has a __classcell__ of its own")
        cell.set_(m.session, found, contents)
    _tell_values(m, made, entries)
    _tell_bases(m, made, kwargs)
    return made


def _function_of(m: Machine, new: Value) -> Value:
    return get_attribute(m, new, "__func__") if new.cls is staticmethod else new


def _entries(m: Machine, name: Value, bases: Value, namespace: Value) -> dict[str, Value]:
    """The namespace by name, in order."""
    plain = type(name) is Const and type(name.value) is str and type(bases) is Obj and bases.cls is tuple
    if not plain or not (type(namespace) is Obj and isinstance(namespace.body, DictBody)):
        raise GraphBreak("FL004", "type() with arguments of an odd kind")
    body, entries = namespace.body, {}
    for handle in dict_.handles(m.session, body):
        key = body.known[handle][0]
        if not (type(key) is Const and type(key.value) is str):
            raise GraphBreak("FL004", f"{name.value} has names that are no strings")
        entries[key.value] = dict_.get(m.session, body, handle, key)
    return entries


def winning_metaclass(m: Machine, metaclass: type, bases: Iterable[Value]) -> type:
    """The most derived of a metaclass and those of the bases.  Raises the TypeError of a conflict for the user."""
    winner = metaclass
    for base in bases:
        if is_subtype(winner, base.cls):
            continue
        if not is_subtype(base.cls, winner):
            text = "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases"
            raise m.error(TypeError, text)
        winner = base.cls
    return winner


# -- the class itself ------------------------------------------------------------------------------------------------

STANDARD_ORDER = type.__dict__["mro"]
WRAPPED = {"__new__": staticmethod, "__init_subclass__": classmethod, "__class_getitem__": classmethod}


def _make(m: Machine, metaclass: type, name: str, bases: Obj, entries: dict[str, Value]) -> Obj:
    order = m.observe.type_lookup(metaclass, "mro")
    if not (type(order) is Const and order.value is STANDARD_ORDER):
        raise GraphBreak("FL004", f"the metaclass of {name} has an mro() of its own")
    found = tuple(_base(m, name, base) for base in tuple_.items(m.session, bases.body))
    first = _first(m, name, entries)
    _require_plain_names(m, metaclass, name, entries)
    for special, wrapper in WRAPPED.items():
        if special in entries and entries[special].cls is types.FunctionType:
            entries[special] = wrapping(m, wrapper, entries[special])
    try:
        stand_in = make_stand_in(metaclass, name, found, first)
    except (TypeError, ValueError) as error:
        raise m.error(type(error), *error.args) from None
    kinds.require_quiet(stand_in)
    namespace = DictBody(True)
    namespace.known = {key: (Const(key), value) for key, value in entries.items()}
    made = m.session.alloc(metaclass, ClassBody(stand_in, bases, first, namespace))
    m.observe.add_class(made)
    m.session.effect("class.made", made)
    return made


def _base(m: Machine, name: str, base: Value) -> type:
    cls = m.observe.known_class(base)
    if not stands_on(cls, type):
        raise GraphBreak("FL004", f"{name} has a base that is no class")
    if m.domain.claims(cls):
        raise GraphBreak("FL004", f"{name} is derived from {kinds.QUALNAME.__get__(cls)}")
    m.observe.order(cls)
    return cls


def _first(m: Machine, name: str, entries: dict[str, Value]) -> dict[str, Any]:
    """What the stand-in is made with; takes out of `entries` what does not stay in the namespace."""
    if "__module__" not in entries:
        module = m.session.frame.globals.get("__name__")
        if type(module) is not str:
            raise GraphBreak("FL004", f"{name} is made in no module")
        entries["__module__"] = Const(module)
    first = {key: shown(value) for key, value in entries.items()}
    if "__slots__" in entries:
        first["__slots__"] = _slots(m, name, entries["__slots__"])
    if "__qualname__" in entries and type(getattr(entries.pop("__qualname__"), "value", None)) is not str:
        raise GraphBreak("FL004", f"the __qualname__ of {name} is no string")
    return first


def _slots(m: Machine, name: str, value: Value) -> Any:
    """The names of slots, as C code is to see them."""
    if value.cls is str and type(value) is Const:
        return value.value
    items = unpack(m, value) if value.cls in (tuple, list, dict) else [NONE]
    names = [item.value if type(item) is Const else None for item in items]
    if not all(type(found) is str for found in names):
        raise GraphBreak("FL004", f"the __slots__ of {name} are no plain strings")
    return tuple(names)


def _require_plain_names(m: Machine, metaclass: type, name: str, entries: dict[str, Value]) -> None:
    for key in entries:
        if not is_plain_entry(m, m.observe.type_lookup(metaclass, key), key):
            raise GraphBreak("FL004", f"{name} has an attribute {key!r}, which its metaclass has too")


# -- who is told -----------------------------------------------------------------------------------------------------


def _tell_values(m: Machine, made: Obj, entries: dict[str, Value]) -> None:
    """`__set_name__` of what the namespace holds (PEP 487)."""
    for key, value in list(entries.items()):
        hook = m.observe.type_lookup(value.cls, "__set_name__")
        if hook is ABSENT:
            continue
        try:
            m.invoke(bind_descriptor(m, hook, value, value.cls), [made, Const(key)], {})
        except SymbolicRaise as signal:
            raise GraphBreak("FL004", f"__set_name__ raises {signal.value.cls.__name__}") from None


def _tell_bases(m: Machine, made: Obj, kwargs: dict[str, Value]) -> None:
    """`super(made, made).__init_subclass__(**kwargs)`."""
    for base in mro_of(made.body.stand_in)[1:]:
        hook = m.observe.own_entry(base, "__init_subclass__")
        if hook is not ABSENT:
            m.invoke(bind_descriptor(m, hook, None, made), [], kwargs)
            return


@methods(object, "__init_subclass__")
def init_subclass(m: Machine, cls: Value, /, **kwargs: Value) -> Value:
    if kwargs:
        raise m.error(TypeError, f"{kinds.QUALNAME.__get__(m.observe.known_class(cls))}.__init_subclass__() takes no keyword arguments")
    return NONE


@methods(type, "__init__")
def type_init(m: Machine, cls: Value, first: Value, bases: Value = ABSENT, namespace: Value = ABSENT, /, **kwargs: Value) -> Value:
    if (bases is ABSENT) != (namespace is ABSENT) or bases is ABSENT and kwargs:
        return NotImplemented
    return NONE


# -- what a class made here tells about itself -----------------------------------------------------------------------


def of_made(m: Machine, cls: Obj, name: str) -> Value:
    """What C code knows of a class that the trace has made."""
    body: ClassBody = cls.body
    if name in ("__module__", "__type_params__"):
        found = body.entry(name)
        if found is ABSENT:
            raise GraphBreak("FL004", f"{name} of {body.name}, which has none")
        return found
    if name == "__bases__":
        return body.bases
    if name == "__mro__":
        known = m.memory.get((name, cls))
        return _order(m, cls) if known is None else known
    return m.observe.constant(type.__dict__[name].__get__(body.stand_in))


def _order(m: Machine, cls: Obj) -> Value:
    items = [m.observe.constant(base) for base in mro_of(cls.body.stand_in)]
    return m.remember(("__mro__", cls), m.session.alloc(tuple, OrderBody(items, cls)))
