"""Generators: yield, send, delegation."""

from __future__ import annotations

import types
from typing import Any

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.exits import YIELD
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.iteration import iterate, next_item, result_of, resume
from frameloom.interpreter.registry import opcode
from frameloom.symbolic.layouts import exception as parts, tuple_
from frameloom.symbolic.layouts.generator import GeneratorBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import SymbolicRaise
from frameloom.symbolic.values import NONE, Const, Obj, Value


@opcode("RETURN_GENERATOR")
def return_generator(frame: Frame, arg: Any) -> None:
    """The interpreter starts a generator's frame only when it is first resumed; then this pushes what CPython pushes."""
    frame.stack.append(NONE)


@opcode("YIELD_VALUE")
def yield_value(frame: Frame, arg: Any) -> str:
    frame.result = frame.stack.pop()
    return YIELD


@opcode("GET_YIELD_FROM_ITER")
def get_yield_from_iter(frame: Frame, arg: Any) -> None:
    value = frame.stack[-1]
    if value.cls is not types.GeneratorType:
        frame.stack[-1] = iterate(frame.session.machine, value)


@opcode("SEND")
def send(frame: Frame, target: int) -> None:
    m = frame.session.machine
    receiver, value = frame.stack[-2], frame.stack[-1]
    try:
        item, result = _send(m, receiver, value)
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, StopIteration):
            raise
        item, result = None, stop_value(m, signal.value)
    if item is None:
        frame.stack[-2:] = [result]
        frame.next = target
    else:
        frame.stack[-1] = item


def _send(m: Any, receiver: Value, value: Value) -> tuple[Value | None, Value]:
    """One step of the receiver: (item, None), or (None, its result) when it is done."""
    if type(receiver) is Obj and isinstance(receiver.body, GeneratorBody):
        item = resume(m, receiver, value)
        return item, (result_of(receiver) if item is None else NONE)
    if type(value) is Const and value.value is None:
        from frameloom.interpreter.operators import _call_slot
        from frameloom.interpreter.registry import ITERATORS
        from frameloom.symbolic.values import ABSENT

        if receiver.cls in ITERATORS:
            return next_item(m, receiver), NONE
        slot = m.observe.type_lookup(receiver.cls, "__next__")
        if slot is ABSENT:
            raise m.error(TypeError, f"'{type_name(receiver.cls)}' object is not an iterator")
        return _call_slot(m, slot, receiver, []), NONE
    return m.invoke(get_attribute(m, receiver, "send"), [value], {}), NONE


def stop_value(m: Any, exception: Value) -> Value:
    """`StopIteration.value`."""
    args = tuple_.items(m.session, parts.part(m.session, exception, "args").body)
    return args[0] if args else NONE


@opcode("END_SEND")
def end_send(frame: Frame, arg: Any) -> None:
    del frame.stack[-2]


@opcode("CLEANUP_THROW")
def cleanup_throw(frame: Frame, arg: Any) -> None:
    exception = frame.stack[-1]
    if not issubclass(exception.cls, StopIteration):
        raise SymbolicRaise(exception)
    frame.stack[-3:] = [NONE, stop_value(frame.session.machine, exception)]
