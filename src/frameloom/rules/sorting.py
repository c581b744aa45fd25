"""`sorted` and `list.sort`: the host's own algorithm, run on stand-ins whose `<` is the traced one.

So the comparisons are those that CPython makes, in its order, whatever the keys do.
"""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import compare, truth
from frameloom.rules.define import function, methods
from frameloom.rules.known import whole
from frameloom.rules.list_ import store_all
from frameloom.rules.tuple_ import items_of
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.layouts import list_
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.set_ import SetBody, in_any_order
from frameloom.symbolic.values import FALSE, NONE, Const, Obj, Value


class StandIn:
    """Stands for an item while the host sorts."""

    __slots__ = ("machine", "key", "item")

    def __init__(self, machine: Machine, key: Value, item: Value) -> None:
        self.machine = machine
        self.key = key
        self.item = item

    def __lt__(self, other: "StandIn") -> bool:
        return truth(self.machine, compare(self.machine, "<", self.key, other.key)).value


class Known:
    """Stands for an item whose key is wholly known: the host compares the keys themselves."""

    __slots__ = ("key", "item")

    def __init__(self, key: Any, item: Value) -> None:
        self.key = key
        self.item = item


def is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None


def arranged(m: Machine, stand_ins: list, keys: list[Value], items: list[Value], backwards: bool) -> None:
    """Fill `stand_ins` with stand-ins for the items and sort them; an exception leaves it as far as CPython came."""
    found = [whole(m, key) for key in keys]
    if any(key is MISSING for key in found):
        stand_ins += [StandIn(m, key, item) for key, item in zip(keys, items)]
        stand_ins.sort(reverse=backwards)
    else:
        order = [Known(key, item) for key, item in zip(found, items)]
        stand_ins += order
        sort_known(m, stand_ins, backwards)


def sort_known(m: Machine, stand_ins: list, backwards: bool) -> None:
    """Sort by keys that the host may compare."""
    try:
        stand_ins.sort(key=lambda stand_in: stand_in.key, reverse=backwards)
    except TypeError as error:
        raise m.error(TypeError, *error.args) from None


def sort_list(m: Machine, self: Obj, key: Value, backwards: bool) -> None:
    """Sort a list in place.  While its items are compared the list is empty, as the program can see."""
    items = list_.items(m.session, self.body)
    list_.replace(m.session, self.body, [])
    stand_ins: list = []
    done = list(items)
    try:
        keys = items if is_none(key) else [m.invoke(key, [item], {}) for item in items]
        arranged(m, stand_ins, keys, items, backwards)
        done = [stand_in.item for stand_in in stand_ins]
        if list_.length(m.session, self.body):
            raise m.error(ValueError, "list modified during sort")
    finally:
        if len(stand_ins) == len(items):
            done = [stand_in.item for stand_in in stand_ins]
        store_all(m, self, done)


@methods(list, "sort", storage=ListBody)
def sort(m: Machine, self: Obj, /, *, key: Value = NONE, reverse: Value = FALSE) -> Value:
    sort_list(m, self, key, _flag(m, reverse))
    return NONE


def _flag(m: Machine, value: Value) -> bool:
    """`reverse`, which C code takes as an int."""
    if not issubclass(value.cls, int):
        return truth(m, value).value
    return bool(m.need_constant(value, "FL207", "order known at run time only"))


@function(sorted)
def sorted_(m: Machine, iterable: Value, /, *, key: Value = NONE, reverse: Value = FALSE) -> Value:
    made = m.list(_unordered(m, iterable, key) or items_of(m, iterable))
    sort_list(m, made, key, _flag(m, reverse))
    return made


def _unordered(m: Machine, iterable: Value, key: Value) -> list[Value] | None:
    """The members of a set whose order does not show in the result: distinct strings, or distinct numbers."""
    if not (is_none(key) and type(iterable) is Obj and isinstance(iterable.body, SetBody)):
        return None
    found = in_any_order(m.session, iterable.body)
    for classes in ((str,), (int, bool), (bytes,)):
        if all(type(value) is Const and value.cls in classes for value in found):
            return found
    return None
