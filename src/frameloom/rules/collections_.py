"""OrderedDict, defaultdict, and the part of Counter that is written in C."""

from __future__ import annotations

import collections
from collections import OrderedDict, defaultdict
from typing import Any

from frameloom.interpreter.attributes import part_of, set_slot
from frameloom.interpreter.calls import fresh_instance
from frameloom.interpreter.formatting import concatenate, convert
from frameloom.interpreter.iteration import iterate, next_item
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import binary, equal, get_item, set_item, truth
from frameloom.interpreter.stores import dict_get, dict_put, dict_remove, dict_set, dict_update, key_handle, pairs, stored_handle
from frameloom.rules.define import function, methods
from frameloom.rules.dict_ import clear, copy_entries, delete_item, entry_at_end, is_dict, pop, same_entries, set_default, store, view
from frameloom.rules.indexing import is_a
from frameloom.rules.representation import once
from frameloom.rules.views import ordered_iterator
from frameloom.symbolic.keys import Hashed
from frameloom.symbolic.layouts import dict_, tuple_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.iterator import KEYS, ORDERED_ITEMS, ORDERED_KEYS, ORDERED_VALUES
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, NOT_IMPLEMENTED, TRUE, Const, Obj, Value, boolean


def ordered(*names: str) -> Any:
    return methods(OrderedDict, *names, storage=DictBody)


def default(*names: str) -> Any:
    return methods(defaultdict, *names, storage=DictBody)


# -- OrderedDict -----------------------------------------------------------------------------------------------------


def fresh_ordered(m: Machine, cls: type = OrderedDict) -> Obj:
    return fresh_instance(m, cls, DictBody(True))


@function(OrderedDict)
def make_ordered(m: Machine, other: Value | None = None, /, **named: Value) -> Value:
    made = fresh_ordered(m)
    fill(m, made, other, named)
    return made


@ordered("__init__", "update")
def update_ordered(m: Machine, self: Obj, other: Value | None = None, /, **named: Value) -> Value:
    fill(m, self, other, named)
    return NONE


def stores_directly(m: Machine, self: Obj) -> bool:
    """Whether `self[key] = value` is the method of the C class."""
    return self.cls is OrderedDict or m.observe.peek_type(self.cls, "__setitem__") is OrderedDict.__dict__["__setitem__"]


def fill(m: Machine, self: Obj, other: Value | None, named: dict[str, Value]) -> None:
    """Take in a mapping or pairs, and names; a subclass's own `__setitem__` is asked."""
    put = dict_set if stores_directly(m, self) else set_item
    if other is not None:
        for key, value in pairs(m, other):
            put(m, self, key, value)
    for name, value in named.items():
        put(m, self, Const(name), value)


for _name, _rule in (("__setitem__", store), ("__delitem__", delete_item), ("clear", clear)):
    ordered(_name)(_rule)


@ordered("setdefault")
def set_default_ordered(m: Machine, self: Obj, key: Value, default: Value = NONE) -> Value:
    if not stores_directly(m, self) and dict_get(m, self, key) is ABSENT:
        set_item(m, self, key, default)
        return default
    return set_default(m, self, key, default)


@ordered("pop")
def pop_ordered(m: Machine, self: Obj, key: Value, default: Value | None = None) -> Value:
    if default is None and dict_get(m, self, key) is ABSENT:
        raise key_error(m, key)
    return pop(m, self, key, default)


def key_error(m: Machine, key: Value) -> SymbolicRaise:
    """The KeyError of OrderedDict's own methods: they raise with the bare key, and a bare tuple is a tuple of arguments, None
    no argument."""
    if is_none(key):
        return m.error(KeyError)
    return m.error_of(KeyError, *(tuple_.items(m.session, key.body) if is_a(key, tuple) else [key]))


@ordered("popitem")
def pop_item(m: Machine, self: Obj, last: Value = TRUE) -> Value:
    handle, key, value = entry_at_end(m, self, truth(m, last).value, "dictionary is empty")
    dict_remove(m, self, handle, key)
    return m.tuple([key, value])


@ordered("move_to_end")
def move_to_end(m: Machine, self: Obj, key: Value, last: Value = TRUE) -> Value:
    at_end = truth(m, last).value
    if dict_get(m, self, key) is ABSENT:
        raise key_error(m, key)
    handle = key_handle(m, self, key)
    if type(handle) is Hashed:
        raise GraphBreak("FL507", f"the order of an OrderedDict with a {key.cls.__name__} as key is changed")
    dict_.move(m.session, self.body, handle, at_end)
    m.session.operation("dict.move_to_end", self, key, at_end)
    return NONE


@ordered("copy")
def copy_ordered(m: Machine, self: Obj, /) -> Value:
    if self.cls is OrderedDict:
        made = fresh_ordered(m)
        copy_entries(m, self, made)
        return made
    made = m.invoke(m.observe.constant(self.cls), [], {})
    for handle in dict_.handles(m.session, self.body):
        key = self.body.known[handle][0]
        set_item(m, made, key, get_item(m, self, key))
    return made


@methods(OrderedDict, "fromkeys")
def from_keys(m: Machine, cls: Value, iterable: Value, value: Value = NONE) -> Value:
    made = m.invoke(cls, [], {})
    iterator = iterate(m, iterable)
    while (key := next_item(m, iterator)) is not None:
        set_item(m, made, key, value)
    return made


@ordered("__iter__")
def iterate_ordered(m: Machine, self: Obj, /) -> Value:
    return ordered_iterator(m, self, KEYS)


@ordered("__reversed__")
def reverse_ordered(m: Machine, self: Obj, /) -> Value:
    return ordered_iterator(m, self, KEYS, True)


def _view(name: str, cls: type) -> None:
    @ordered(name)
    def make_view(m: Machine, self: Obj, /) -> Value:
        return view(m, self, cls)


for _name, _cls in (("keys", ORDERED_KEYS), ("values", ORDERED_VALUES), ("items", ORDERED_ITEMS)):
    _view(_name, _cls)


def same_ordered(m: Machine, a: Obj, b: Obj) -> bool:
    """Equality with an OrderedDict is of the order too."""
    if not same_entries(m, a, b):
        return False
    if not issubclass(b.cls, OrderedDict):
        return True
    keys = [[key for key, _ in dict_.entries(m.session, body)] for body in (a.body, b.body)]
    return all(equal(m, x, y) for x, y in zip(*keys))


@ordered("__eq__")
def equals(m: Machine, self: Obj, other: Value, /) -> Value:
    return boolean(same_ordered(m, self, other)) if is_dict(other) else NOT_IMPLEMENTED


@ordered("__ne__")
def differs(m: Machine, self: Obj, other: Value, /) -> Value:
    return boolean(not same_ordered(m, self, other)) if is_dict(other) else NOT_IMPLEMENTED


def joined(m: Machine, cls: type, first: Value, second: Value) -> Value:
    """A new instance of an OrderedDict's class with the entries of both."""
    made = m.invoke(m.observe.constant(cls), [first], {})
    fill(m, made, second, {})
    return made


@ordered("__or__")
def union(m: Machine, self: Obj, other: Value, /) -> Value:
    return joined(m, self.cls, self, other) if is_dict(other) else NOT_IMPLEMENTED


@ordered("__ror__")
def reflected_union(m: Machine, self: Obj, other: Value, /) -> Value:
    return joined(m, self.cls, other, self) if is_dict(other) else NOT_IMPLEMENTED


@ordered("__ior__")
def inplace_union(m: Machine, self: Obj, other: Value, /) -> Value:
    fill(m, self, other, {})
    return self


SHOWS_PAIRS = "[" in repr(OrderedDict(key=1))


@ordered("__repr__")
def represented(m: Machine, self: Obj, /) -> Value:
    name = self.cls.__name__
    if not dict_.length(m.session, self.body):
        return Const(f"{name}()")
    return once(m, self, "...", lambda: concatenate(m, [Const(f"{name}("), _inside(m, self), Const(")")]))


def _inside(m: Machine, self: Obj) -> Value:
    if not SHOWS_PAIRS:
        plain = m.session.alloc(dict, DictBody(True))
        copy_entries(m, self, plain)
        return convert(m, "repr", plain)
    found = [m.tuple([key, m.observe.resolve(value)]) for key, value in dict_.entries(m.session, self.body)]
    return convert(m, "repr", m.list(found))


# -- defaultdict -----------------------------------------------------------------------------------------------------

FACTORY = defaultdict.__dict__["default_factory"]


@function(defaultdict)
def make_default(m: Machine, factory: Value = NONE, /, *args: Value, **named: Value) -> Value:
    made = fresh_instance(m, defaultdict, DictBody(True))
    return NotImplemented if init_default(m, made, factory, *args, **named) is NotImplemented else made


@default("__init__")
def init_default(m: Machine, self: Obj, factory: Value = NONE, /, *args: Value, **named: Value) -> Value:
    if len(args) > 1:
        return NotImplemented
    if not is_none(factory) and m.observe.type_lookup(factory.cls, "__call__") is ABSENT:
        raise m.error(TypeError, "first argument must be callable or None")
    if self.slots is None:
        m.journal.set_field(self, "slots", {})
    set_slot(m, self, FACTORY, factory)
    if args:
        dict_update(m, self, args[0])
    for name, value in named.items():
        dict_set(m, self, Const(name), value)
    return NONE


def is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None


def factory_of(m: Machine, self: Obj) -> Value:
    found = part_of(m, self, FACTORY)
    return NONE if found is ABSENT else found


@default("__missing__")
def missing(m: Machine, self: Obj, key: Value, /) -> Value:
    factory = factory_of(m, self)
    if is_none(factory):
        raise m.error_of(KeyError, key)
    value = m.invoke(factory, [], {})
    set_item(m, self, key, value)
    return value


@default("copy", "__copy__")
def copy_default(m: Machine, self: Obj, /) -> Value:
    return m.invoke(m.observe.constant(self.cls), [factory_of(m, self), self], {})


@default("__or__")
def default_union(m: Machine, self: Obj, other: Value, /) -> Value:
    return _default_joined(m, self, self, other)


@default("__ror__")
def default_reflected_union(m: Machine, self: Obj, other: Value, /) -> Value:
    return _default_joined(m, self, other, self)


def _default_joined(m: Machine, self: Obj, first: Value, second: Value) -> Value:
    if not (is_dict(first) and is_dict(second)):
        return NOT_IMPLEMENTED
    made = m.invoke(m.observe.constant(self.cls), [factory_of(m, self), first], {})
    dict_update(m, made, second)
    return made


@default("__repr__")
def represent_default(m: Machine, self: Obj, /) -> Value:
    plain = m.session.alloc(dict, DictBody(True))
    copy_entries(m, self, plain)
    parts = [Const(f"{self.cls.__name__}("), convert(m, "repr", factory_of(m, self)), Const(", "), convert(m, "repr", plain), Const(")")]
    return once(m, self, "...", lambda: concatenate(m, parts))


# -- Counter ---------------------------------------------------------------------------------------------------------


@function(collections._count_elements)
def count_elements(m: Machine, mapping: Value, iterable: Value, /) -> Value:
    """`mapping[x] += 1` for every x; a class with its own `__setitem__` or `get` is asked."""
    direct = is_dict(mapping) and all(
        m.observe.peek_type(mapping.cls, name) is dict.__dict__[name] for name in ("get", "__setitem__")
    )
    if not direct:
        raise GraphBreak("FL101", f"elements are counted in a {mapping.cls.__name__}")
    iterator = iterate(m, iterable)
    while (item := next_item(m, iterator)) is not None:
        handle = key_handle(m, mapping, item)
        count = dict_.get(m.session, mapping.body, handle, item)
        more = binary(m, "+", Const(0) if count is ABSENT else count, Const(1))
        dict_put(m, mapping, stored_handle(m, mapping, handle, item), item, more)
    return NONE
