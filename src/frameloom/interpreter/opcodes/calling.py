"""Calls, functions made, class bodies."""

from __future__ import annotations

import builtins
import types
from typing import Any

from frameloom.interpreter.frame import Frame, Link
from frameloom.interpreter.function_names import callee_text
from frameloom.interpreter.iteration import is_iterable, unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import is_graph
from frameloom.interpreter.registry import opcode
from frameloom.interpreter.stores import dict_update
from frameloom.symbolic.layouts import dict_, tuple_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.function import FunctionBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, NULL, Const, Obj, Value


def _callee(lower: Value, upper: Value, args: list[Value]) -> tuple[Value, list[Value]]:
    """What is called, and with which positional arguments, whatever side the NULL is on."""
    if lower is NULL:
        return upper, args
    if upper is NULL:
        return lower, args
    return lower, [upper, *args]


@opcode("CALL")
def call(frame: Frame, arg: tuple[int, tuple]) -> None:
    argc, names = arg
    stack = frame.stack
    base = len(stack) - argc - 2
    args = stack[base + 2 :]
    kwargs: dict[str, Value] = {}
    if names:
        split = argc - len(names)
        kwargs = dict(zip(names, args[split:]))
        args = args[:split]
    fn, args = _callee(stack[base], stack[base + 1], args)
    stack[base:] = [frame.session.machine.invoke(fn, args, kwargs, Link("result", base))]


@opcode("CALL_KW")
def call_kw(frame: Frame, argc: int) -> None:
    stack = frame.stack
    names = tuple(name.value for name in tuple_.items(frame.session, stack[-1].body))
    base = len(stack) - argc - 3
    args = stack[base + 2 : -1]
    split = argc - len(names)
    fn, positional = _callee(stack[base], stack[base + 1], args[:split])
    kwargs = dict(zip(names, args[split:]))
    stack[base:] = [frame.session.machine.invoke(fn, positional, kwargs, Link("result", base))]


@opcode("CALL_FUNCTION_EX")
def call_function_ex(frame: Frame, has_keywords: int) -> None:
    m = frame.session.machine
    stack = frame.stack
    base = len(stack) - 3 - (1 if has_keywords else 0)
    if not is_graph(stack[base + 2]) and not is_iterable(m, stack[base + 2]):
        found = type_name(stack[base + 2].cls)
        raise m.error(TypeError, f"{callee_text(m, stack[base], stack[base + 1])} argument after * must be an iterable, not {found}")
    args = unpack(m, stack[base + 2])
    kwargs = keywords(m, stack[base + 3]) if has_keywords else {}
    fn, args = _callee(stack[base], stack[base + 1], args)
    stack[base:] = [m.invoke(fn, args, kwargs, Link("result", base))]


def keywords(m: Machine, mapping: Value) -> dict[str, Value]:
    """The keyword arguments in a mapping."""
    if not (type(mapping) is Obj and mapping.cls is dict):
        plain = m.session.alloc(dict, DictBody(True))
        dict_update(m, plain, mapping, unique=True)
        mapping = plain
    found = {}
    for handle in dict_.handles(m.session, mapping.body):
        key = mapping.body.known[handle][0]
        if key.cls is not str or type(key) is not Const:
            raise m.error(TypeError, "keywords must be strings")
        found[key.value] = dict_.get(m.session, mapping.body, handle, key)
    return found


# -- functions -------------------------------------------------------------------------------------------------------

DEFAULTS, KWDEFAULTS, ANNOTATIONS, CLOSURE = 1, 2, 4, 8


@opcode("MAKE_FUNCTION")
def make_function(frame: Frame, flags: int) -> None:
    stack = frame.stack
    made = new_function(frame, stack[-1].value)
    taken = 1
    for flag in (CLOSURE, ANNOTATIONS, KWDEFAULTS, DEFAULTS):
        if (flags or 0) & flag:
            taken += 1
            _set_part(frame, made, flag, stack[-taken])
    stack[len(stack) - taken :] = [made]


def new_function(frame: Frame, code: types.CodeType) -> Obj:
    """A fresh function of the frame's module."""
    body = FunctionBody(code, frame.globals, NONE, NONE, [], code.co_qualname)  # annotations are made when they are asked for
    made = frame.session.alloc(types.FunctionType, body)
    made.attributes = DictBody(True)
    made.slots = {}
    return made


@opcode("SET_FUNCTION_ATTRIBUTE")
def set_function_attribute(frame: Frame, flag: int) -> None:
    stack = frame.stack
    _set_part(frame, stack[-1], flag, stack[-2])
    del stack[-2]


def _set_part(frame: Frame, made: Obj, flag: int, value: Value) -> None:
    if made.real is not None:
        raise GraphBreak("FL505", "a function that is still being made")
    set_field = frame.session.journal.set_field
    if flag == CLOSURE:
        set_field(made.body, "closure", tuple_.items(frame.session, value.body))
    elif flag == ANNOTATIONS:
        set_field(made.body, "annotations", _annotations(frame, value))
    elif flag == KWDEFAULTS:
        set_field(made.body, "kwdefaults", value)
    else:
        set_field(made.body, "defaults", value)


def _annotations(frame: Frame, value: Value) -> Value:
    """The dictionary of annotations; the compiler gives a flat tuple of names and values."""
    if value.cls is not tuple:
        return value
    made = frame.session.machine.dict()
    items = tuple_.items(frame.session, value.body)
    for name, annotation in zip(items[::2], items[1::2]):
        made.body.known[name.value] = (name, annotation)
    return made


@opcode("LOAD_BUILD_CLASS")
def load_build_class(frame: Frame, arg: Any) -> None:
    frame.stack.append(frame.session.observe.constant(builtins.__build_class__))


# -- intrinsics ------------------------------------------------------------------------------------------------------


@opcode("CALL_INTRINSIC_1")
def call_intrinsic_1(frame: Frame, name: str) -> None:
    frame.stack[-1] = INTRINSICS[name](frame, frame.stack[-1])


def _unary_positive(frame: Frame, value: Value) -> Value:
    from frameloom.interpreter.operators import unary

    return unary(frame.session.machine, "+", value)


def _list_to_tuple(frame: Frame, value: Value) -> Value:
    m = frame.session.machine
    return m.tuple(unpack(m, value))


def _stopiteration_error(frame: Frame, value: Value) -> Value:
    """PEP 479, as 3.12 compiles it into the generator's own table."""
    m = frame.session.machine
    if not issubclass(value.cls, StopIteration):
        return value
    made = m.error(RuntimeError, "generator raised StopIteration").value
    m.journal.set_field(made.body, "cause", value)
    m.journal.set_field(made.body, "context", value)
    return made


def _refused(frame: Frame, value: Value) -> Value:
    raise GraphBreak("FL001", "an internal function of CPython")


INTRINSICS = {
    "unary_positive": _unary_positive,
    "list_to_tuple": _list_to_tuple,
    "stopiteration_error": _stopiteration_error,
    **{
        name: _refused
        for name in (
            "print",
            "import_star",
            "async_gen_wrap",
            "typevar",
            "paramspec",
            "typevartuple",
            "subscript_generic",
            "typealias",
        )
    },
}
