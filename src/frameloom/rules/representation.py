"""`repr` of containers: their items by the traced protocol, "..." for what is being represented already."""

from __future__ import annotations

import collections
from typing import Any, Callable

from frameloom.interpreter.formatting import concatenate, convert
from frameloom.interpreter.machine import Machine
from frameloom.rules.define import methods
from frameloom.symbolic.layouts import dict_, list_, set_, tuple_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.iterator import ITEMS, KEYS, VALUES, ViewBody
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.set_ import SetBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Obj, Value

OPEN = object()
"""Key in the machine's memory: the objects that are being represented."""


DEEPEST = 60
"""Objects inside one another that are represented: each takes some calls of the host's stack."""


def once(m: Machine, self: Obj, again: str, make: Callable[[], Value]) -> Value:
    """`make()`, or the text for an object whose representation contains itself."""
    around = m.memory[OPEN] if OPEN in m.memory else m.remember(OPEN, [])
    if any(other is self for other in around):
        return Const(again)
    if len(around) > DEEPEST:
        raise GraphBreak("FL006", f"objects are represented {len(around)} deep")
    around.append(self)
    try:
        return make()
    finally:
        around.pop()


def listed(m: Machine, start: str, parts: list[list[Value]], end: str) -> Value:
    """Texts between brackets, separated by commas."""
    flat = [Const(start)]
    for at, part in enumerate(parts):
        if at:
            flat.append(Const(", "))
        flat += part
    return concatenate(m, [*flat, Const(end)])


def shown(m: Machine, value: Value) -> Value:
    return convert(m, "repr", value)


@methods(list, "__repr__", storage=ListBody)
def of_list(m: Machine, self: Obj, /) -> Value:
    return once(m, self, "[...]", lambda: listed(m, "[", [[shown(m, v)] for v in list_.items(m.session, self.body)], "]"))


@methods(tuple, "__repr__", storage=TupleBody)
def of_tuple(m: Machine, self: Obj, /) -> Value:
    end = ",)" if len(self.body.items) == 1 else ")"
    return once(m, self, "(...)", lambda: listed(m, "(", [[shown(m, v)] for v in tuple_.items(m.session, self.body)], end))


@methods(dict, "__repr__", storage=DictBody)
def of_dict(m: Machine, self: Obj, /) -> Value:
    if issubclass(self.cls, collections.OrderedDict):
        raise GraphBreak("FL102", f"dict.__repr__ with {self.cls.__name__}")
    return once(m, self, "{...}", lambda: listed(m, "{", _entries(m, self), "}"))


def _entries(m: Machine, self: Obj) -> list[list[Value]]:
    found = []
    for handle in dict_.handles(m.session, self.body):
        key = self.body.known[handle][0]
        value = dict_.get(m.session, self.body, handle, key)
        found.append([shown(m, key), Const(": "), shown(m, value)])
    return found


def _of_set(cls: type) -> None:
    @methods(cls, "__repr__", storage=SetBody)
    def represent(m: Machine, self: Obj, /) -> Value:
        name = self.cls.__name__
        if not set_.length(m.session, self.body):
            return Const(f"{name}()")
        start, end = ("{", "}") if self.cls is set else (f"{name}({{", "})")
        return once(m, self, f"{name}(...)", lambda: listed(m, start, _members(m, self), end))


def _members(m: Machine, self: Obj) -> list[list[Value]]:
    return [[shown(m, value)] for value in set_.members(m.session, self.body)]


for _cls in (set, frozenset):
    _of_set(_cls)


def _of_view(cls: type) -> None:
    @methods(cls, "__repr__", storage=ViewBody)
    def represent(m: Machine, self: Obj, /) -> Any:
        made = m.invoke(m.observe.constant(list), [self], {})
        name = self.cls.__name__
        return once(m, self, "...", lambda: concatenate(m, [Const(f"{name}("), shown(m, made), Const(")")]))


for _cls in (KEYS, VALUES, ITEMS):
    _of_view(_cls)
