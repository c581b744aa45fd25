"""The module operator: its functions are the operators; itemgetter, attrgetter and methodcaller are told apart by what they
were made with."""

from __future__ import annotations

import operator
from typing import Any, Callable

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.containment import contains
from frameloom.interpreter.iteration import iterate, next_item
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import (
    BINARY,
    COMPARE,
    UNARY,
    _call_slot,
    _is_not_implemented,
    binary,
    compare,
    equal,
    get_item,
    identical,
    index,
    length,
    set_item,
    truth,
    unary,
)
from frameloom.rules.define import function, methods
from frameloom.rules.indexing import index_of
from frameloom.symbolic.layouts.getter import GetterBody, look_into
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, Const, Obj, Value, boolean

INPLACE = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "@": operator.imatmul,
    "**": operator.ipow,
    "<<": operator.ilshift,
    ">>": operator.irshift,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
}


def _binary(symbol: str, target: Callable) -> None:
    @function(target)
    def operate(m: Machine, a: Value, b: Value, /) -> Value:
        return binary(m, symbol, a, b)


def _unary(symbol: str, target: Callable) -> None:
    @function(target)
    def operate(m: Machine, a: Value, /) -> Value:
        return unary(m, symbol, a)


def _compare(symbol: str, target: Callable) -> None:
    @function(target)
    def operate(m: Machine, a: Value, b: Value, /) -> Value:
        return compare(m, symbol, a, b)


for _symbol in BINARY:
    _binary(_symbol, BINARY[_symbol][0])
    _binary(f"{_symbol}=", INPLACE[_symbol])
for _symbol in UNARY:
    _unary(_symbol, operator.abs if _symbol == "abs" else UNARY[_symbol][0])
_unary("~", operator.inv)
for _symbol in COMPARE:
    _compare(_symbol, COMPARE[_symbol][0])


@function(operator.not_)
def not_(m: Machine, a: Value, /) -> Value:
    return boolean(not truth(m, a).value)


@function(operator.truth)
def truth_(m: Machine, a: Value, /) -> Value:
    return truth(m, a)


@function(operator.is_)
def is_(m: Machine, a: Value, b: Value, /) -> Value:
    return boolean(identical(m, a, b))


@function(operator.is_not)
def is_not(m: Machine, a: Value, b: Value, /) -> Value:
    return boolean(not identical(m, a, b))


@function(operator.index)
def index_(m: Machine, a: Value, /) -> Value:
    found = index(m, a)
    return found if found.cls is int else Const(int(index_of(m, a)))


@function(operator.contains)
def contains_(m: Machine, container: Value, item: Value, /) -> Value:
    return contains(m, container, item)


@function(operator.getitem)
def getitem(m: Machine, container: Value, key: Value, /) -> Value:
    return get_item(m, container, key)


@function(operator.setitem)
def setitem(m: Machine, container: Value, key: Value, value: Value, /) -> Value:
    set_item(m, container, key, value)
    return NONE


@function(operator.delitem)
def delitem(m: Machine, container: Value, key: Value, /) -> Value:
    set_item(m, container, key, ABSENT)
    return NONE


@function(operator.concat)
def concat(m: Machine, a: Value, b: Value, /) -> Value:
    return _concatenate(m, "+", a, b)


@function(operator.iconcat)
def iconcat(m: Machine, a: Value, b: Value, /) -> Value:
    return _concatenate(m, "+=", a, b)


def _concatenate(m: Machine, symbol: str, a: Value, b: Value) -> Value:
    if m.observe.type_lookup(a.cls, "__getitem__") is ABSENT:
        raise m.error(TypeError, f"'{type_name(a.cls)}' object can't be concatenated")
    return binary(m, symbol, a, b)


def _matches(m: Machine, items: Value, wanted: Value) -> Any:
    iterator = iterate(m, items)
    at = 0
    while (item := next_item(m, iterator)) is not None:
        if equal(m, item, wanted):
            yield at
        at += 1


@function(operator.countOf)
def count_of(m: Machine, items: Value, wanted: Value, /) -> Value:
    return Const(sum(1 for _ in _matches(m, items, wanted)))


@function(operator.indexOf)
def index_of_(m: Machine, items: Value, wanted: Value, /) -> Value:
    for at in _matches(m, items, wanted):
        return Const(at)
    raise m.error(ValueError, "sequence.index(x): x not in sequence")


@function(operator.call)
def call(m: Machine, fn: Value, /, *args: Value, **kwargs: Value) -> Value:
    return m.invoke(fn, list(args), kwargs)


# -- itemgetter, attrgetter, methodcaller ----------------------------------------------------------------------------


@function(operator.itemgetter)
def make_itemgetter(m: Machine, item: Value, /, *items: Value) -> Value:
    return m.session.alloc(operator.itemgetter, GetterBody([item, *items], {}))


@function(operator.attrgetter)
def make_attrgetter(m: Machine, name: Value, /, *names: Value) -> Value:
    if not all(type(part) is Const and type(part.value) is str for part in (name, *names)):
        return NotImplemented
    return m.session.alloc(operator.attrgetter, GetterBody([name, *names], {}))


@function(operator.methodcaller)
def make_methodcaller(m: Machine, name: Value, /, *args: Value, **kwargs: Value) -> Value:
    if not (type(name) is Const and type(name.value) is str):
        return NotImplemented
    return m.session.alloc(operator.methodcaller, GetterBody([name, *args], kwargs))


def _one_or_all(m: Machine, found: list[Value]) -> Value:
    return found[0] if len(found) == 1 else m.tuple(found)


@methods(operator.itemgetter, "__call__")
def get_items(m: Machine, self: Obj, obj: Value, /) -> Value:
    return _one_or_all(m, [get_item(m, obj, m.observe.resolve(key)) for key in parts(m, self).args])


@methods(operator.attrgetter, "__call__")
def get_attributes(m: Machine, self: Obj, obj: Value, /) -> Value:
    found = []
    for name in parts(m, self).args:
        value = obj
        for step in m.observe.resolve(name).value.split("."):
            value = get_attribute(m, value, step)
        found.append(value)
    return _one_or_all(m, found)


@methods(operator.methodcaller, "__call__")
def call_method(m: Machine, self: Obj, obj: Value, /) -> Value:
    body = parts(m, self)
    name, *args = body.args
    return m.invoke(get_attribute(m, obj, m.observe.resolve(name).value), [m.observe.resolve(v) for v in args], dict(body.kwargs))


def parts(m: Machine, self: Obj) -> GetterBody:
    """What a getter was made with."""
    if self.body.args is None and not look_into(m.session, self):
        raise GraphBreak("FL101", f"{self.cls.__qualname__} with keywords that exists already")
    return self.body


@function(operator.length_hint)
def length_hint(m: Machine, obj: Value, default: Value = Const(0), /) -> Value:
    """PEP 424: `len`, else `__length_hint__`, else the default."""
    if m.observe.type_lookup(obj.cls, "__len__") is not ABSENT:
        return length(m, obj)
    slot = m.observe.type_lookup(obj.cls, "__length_hint__")
    if slot is ABSENT:
        return default
    found = _call_slot(m, slot, obj, [])
    return default if _is_not_implemented(found) else found
