"""Values that are wholly known: the host objects that C code may compute with while tracing."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import is_number
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.layouts import dict_, list_, set_, tuple_
from frameloom.symbolic.layouts.payload import PayloadBody
from frameloom.symbolic.values import Const, Node, Obj, Value

DEEPEST = 40


def plain(m: Machine, value: Value) -> Any:
    """The atom that C code finds in a value (that of a subclass of an atom's class included), or MISSING.  A number that is read at
    entry is guarded by its value."""
    if type(value) is Const:
        return value.value
    if is_number(value):
        return plain_number(m, value)
    if type(value) is Obj and isinstance(value.body, PayloadBody):
        return value.body.value.value
    return MISSING


def plain_number(m: Machine, value: Node) -> Any:
    """The number of a node, guarded; MISSING where only running code knows it."""
    found = m.settle(value)
    return found.value if type(found) is Const else MISSING


def whole(m: Machine, value: Value, depth: int = 0) -> Any:
    """A host object equal to a value that holds constants only (containers of exact classes), or MISSING."""
    if type(value) is Const:
        return value.value
    if is_number(value):
        return plain_number(m, value)
    make = WHOLE.get(value.cls) if type(value) is Obj else None
    return MISSING if make is None or depth > DEEPEST else make(m, value, depth + 1)


def _all(m: Machine, values: list[Value], depth: int) -> Any:
    found = [whole(m, value, depth) for value in values]
    return MISSING if any(item is MISSING for item in found) else found


def _tuple(m: Machine, value: Obj, depth: int) -> Any:
    found = _all(m, tuple_.items(m.session, value.body), depth)
    return MISSING if found is MISSING else tuple(found)


def _list(m: Machine, value: Obj, depth: int) -> Any:
    return _all(m, list_.items(m.session, value.body), depth)


def _dict(m: Machine, value: Obj, depth: int) -> Any:
    made = {}
    for handle in dict_.handles(m.session, value.body):
        key, item = value.body.known[handle][0], dict_.get(m.session, value.body, handle, None)
        pair = _all(m, [key, item], depth)
        if pair is MISSING:
            return MISSING
        made[pair[0]] = pair[1]
    return made


def _slice(m: Machine, value: Obj, depth: int) -> Any:
    found = _all(m, list(value.body.parts), depth)
    return MISSING if found is MISSING else slice(*found)


def _frozenset(m: Machine, value: Obj, depth: int) -> Any:
    found = _all(m, set_.members(m.session, value.body), depth)
    return MISSING if found is MISSING else frozenset(found)


def _set(m: Machine, value: Obj, depth: int) -> Any:
    found = _all(m, set_.members(m.session, value.body), depth)
    return MISSING if found is MISSING else set(found)


WHOLE = {tuple: _tuple, list: _list, dict: _dict, slice: _slice, set: _set, frozenset: _frozenset}
