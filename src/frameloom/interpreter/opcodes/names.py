"""Names of a class body, which live in a mapping that the metaclass has prepared."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter import stores
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.operators import get_item, set_item
from frameloom.interpreter.opcodes.variables import global_value, load_deref, name_error
from frameloom.interpreter.registry import opcode
from frameloom.symbolic.layouts import dict_
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, Const, Obj, Value


def _names(frame: Frame) -> Value:
    if frame.names is None:
        raise GraphBreak("FL001", "names of a namespace that is not a function's")
    return frame.names


def _found(frame: Frame, names: Value, name: str) -> Value:
    """What a mapping has under a name, or ABSENT."""
    m = frame.session.machine
    if names.cls is dict and type(names) is Obj:
        return dict_.get(m.session, names.body, name, Const(name))
    try:
        return get_item(m, names, Const(name))
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, KeyError):
            raise
        return ABSENT


@opcode("LOAD_NAME")
def load_name(frame: Frame, name: str) -> None:
    found = _found(frame, _names(frame), name)
    frame.stack.append(global_value(frame, name) if found is ABSENT else found)


@opcode("LOAD_FROM_DICT_OR_GLOBALS")
def load_from_dict_or_globals(frame: Frame, name: str) -> None:
    found = _found(frame, frame.stack[-1], name)
    frame.stack[-1] = global_value(frame, name) if found is ABSENT else found


@opcode("STORE_NAME")
def store_name(frame: Frame, name: str) -> None:
    _store(frame, _names(frame), name, frame.stack[-1])
    frame.stack.pop()


def _store(frame: Frame, names: Value, name: str, value: Value) -> None:
    m = frame.session.machine
    if names.cls is dict and type(names) is Obj:
        stores.dict_set(m, names, Const(name), value)
    else:
        set_item(m, names, Const(name), value)


@opcode("DELETE_NAME")
def delete_name(frame: Frame, name: str) -> None:
    names = _names(frame)
    if names.cls is not dict:
        raise GraphBreak("FL001", f"{name!r} is deleted from a namespace that is a {names.cls.__name__}")
    if not stores.dict_delete(frame.session.machine, names, Const(name)):
        raise name_error(frame, f"name '{name}' is not defined", name)


@opcode("LOAD_CLASSDEREF")
def load_classderef(frame: Frame, slot: int) -> None:
    found = _found(frame, _names(frame), frame.program.slots[slot].name)
    if found is ABSENT:
        load_deref(frame, slot)
    else:
        frame.stack.append(found)


@opcode("LOAD_FROM_DICT_OR_DEREF")
def load_from_dict_or_deref(frame: Frame, slot: int) -> None:
    found = _found(frame, frame.stack[-1], frame.program.slots[slot].name)
    if found is ABSENT:
        load_deref(frame, slot)
        found = frame.stack.pop()
    frame.stack[-1] = found


@opcode("LOAD_LOCALS")
def load_locals(frame: Frame, arg: Any) -> None:
    frame.stack.append(_names(frame))


@opcode("SETUP_ANNOTATIONS")
def setup_annotations(frame: Frame, arg: Any) -> None:
    names = _names(frame)
    if _found(frame, names, "__annotations__") is ABSENT:
        _store(frame, names, "__annotations__", frame.session.machine.dict())
