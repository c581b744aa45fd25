"""print: an ordered effect where making the text runs no code of the program."""

from __future__ import annotations

import sys
import types
from typing import Any, Callable

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.formatting import convert
from frameloom.interpreter.machine import Machine
from frameloom.rules.define import function
from frameloom.symbolic.instance_dict import class_item
from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.layouts import dict_, list_, tuple_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.payload import PayloadBody
from frameloom.symbolic.observe import is_static
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import NONE, Const, Node, Obj, Value

DEEPEST = 20


@function(print)
def print_(
    m: Machine, *args: Value, sep: Value = NONE, end: Value = NONE, file: Value = NONE, flush: Value = Const(False)
) -> Value:
    target = file
    if type(file) is Const and file.value is None:
        target = get_attribute(m, m.observe.constant(sys), "stdout")
    if not writes_in_c(target.cls, m.observe.peek_type):
        raise GraphBreak("FL105", f"print to a {target.cls.__qualname__}")
    shown = [as_shown(m, value) for value in args]
    if not all(type(value) is Const for value in (sep, end)):
        raise GraphBreak("FL105", "print with a separator known at run time only")
    named = {"sep": sep, "end": end, "file": file, "flush": flush}
    named = {name: value for name, value in named.items() if value is not DEFAULTS[name]}
    m.session.effect("call", Const(print), [*shown, *named.values()], tuple(named))
    return NONE


def as_shown(m: Machine, value: Value) -> Value:
    """What print is given for a value: the value as it is now, or its text, where code of the program makes that.

    Eager asks an argument for its text when those before it are written already: code that does more than make a text is left to it.
    """
    now = as_now(m, value)
    if now is not None:
        return now
    mark = len(m.session.operations)
    try:
        text = convert(m, "str", value)
    except SymbolicRaise:
        raise GraphBreak("FL105", f"print of a {value.cls.__qualname__}, whose text fails") from None
    if len(m.session.operations) != mark or text.cls is not str:
        raise GraphBreak("FL105", f"print of a {value.cls.__qualname__}")
    return text


DEFAULTS = dict(print_.__kwdefaults__)


def writes_in_c(cls: type, look_up: Callable[[type, str], Any] = class_item) -> bool:
    """Whether the `write` and `flush` of a stream's class are C code; a trace looks them up with its observer's `peek_type`."""
    if cls is type(None):
        return True
    return all(type(look_up(cls, name)) in IN_C for name in ("write", "flush"))


IN_C = (types.MethodDescriptorType, types.WrapperDescriptorType)


def as_now(m: Machine, value: Value, depth: int = 0) -> Value | None:
    """A value whose text C code alone makes, as it is now: what the trace changes later does not show.  None for others."""
    if depth > DEEPEST:
        return None
    if type(value) is Const:
        return value if value.cls in ATOMS or is_static(value.cls) else None
    if type(value) is Node:
        return value if value.tape == "host" else m.domain.snapshot(m.session, value)
    if isinstance(value.body, PayloadBody):
        return value if is_static(value.cls) else None
    if issubclass(value.cls, tuple) and is_static(value.cls):
        return _tuple(m, value, depth + 1) and value
    copy = COPIES.get(value.cls)
    return None if copy is None else copy(m, value, depth + 1)


def _items(m: Machine, items: list[Value], depth: int) -> list[Value] | None:
    found = [as_now(m, item, depth) for item in items]
    return None if any(item is None for item in found) else found


def _list(m: Machine, value: Obj, depth: int) -> Value | None:
    items = _items(m, list_.items(m.session, value.body), depth)
    return None if items is None else m.list(items)


def _tuple(m: Machine, value: Obj, depth: int) -> Value | None:
    items = _items(m, tuple_.items(m.session, value.body), depth)
    return None if items is None else m.tuple(items)


def _dict(m: Machine, value: Obj, depth: int) -> Value | None:
    made = DictBody(True)
    for handle in dict_.handles(m.session, value.body):
        key = value.body.known[handle][0]
        pair = _items(m, [key, dict_.get(m.session, value.body, handle, key)], depth)
        if pair is None:
            return None
        made.known[handle] = (pair[0], pair[1])
    return m.session.alloc(dict, made)


COPIES = {list: _list, tuple: _tuple, dict: _dict}
