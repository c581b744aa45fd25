"""`functools.cmp_to_key` and the keys that it gives."""

from __future__ import annotations

import functools

from frameloom.interpreter.attributes import reads
from frameloom.interpreter.calls import CALLERS
from frameloom.interpreter.frame import Link
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import compare
from frameloom.rules.define import function, methods
from frameloom.symbolic.layouts.comparison_key import KEY, KeyBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, Const, Obj, Value


@function(functools.cmp_to_key)
def make(m: Machine, mycmp: Value) -> Value:
    return m.session.alloc(KEY, KeyBody(mycmp))


@methods(KEY, "__call__", storage=KeyBody)
def wrap(m: Machine, self: Obj, /, obj: Value) -> Value:
    return m.session.alloc(KEY, KeyBody(self.body.compare, obj))


def call_key(m: Machine, key: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """The key of an object."""
    if not isinstance(getattr(key, "body", None), KeyBody) or len(args) + len(kwargs) != 1 or kwargs and "obj" not in kwargs:
        raise GraphBreak("FL101", "a key of functools.cmp_to_key")
    return wrap(m, key, *args, **kwargs)


CALLERS[KEY] = call_key


@reads(KEY.__dict__["obj"])
def wrapped(m: Machine, key: Value) -> Value:
    if not isinstance(key.body, KeyBody):
        raise GraphBreak("FL102", "a key of functools.cmp_to_key")
    return NONE if key.body.wrapped is ABSENT else key.body.wrapped


def _comparison(name: str, symbol: str) -> None:
    @methods(KEY, name, storage=KeyBody)
    def compared(m: Machine, self: Obj, other: Value, /) -> Value:
        if other.cls is not KEY:
            raise m.error(TypeError, "other argument must be K instance")
        if not isinstance(other.body, KeyBody) or ABSENT in (self.body.wrapped, other.body.wrapped):
            raise GraphBreak("FL102", "a key of functools.cmp_to_key without its object")
        found = m.invoke(self.body.compare, [self.body.wrapped, other.body.wrapped], {})
        return compare(m, symbol, found, Const(0))


for _name, _symbol in (("__lt__", "<"), ("__le__", "<="), ("__eq__", "=="), ("__ne__", "!="), ("__gt__", ">"), ("__ge__", ">=")):
    _comparison(_name, _symbol)
