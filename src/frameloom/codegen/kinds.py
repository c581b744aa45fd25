"""What a suspended frame holds, by kind: the shape under which code that goes on is made."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from frameloom.bytecode import flow
from frameloom.bytecode.decode import decode
from frameloom.bytecode.flow import LASTI, NULL, PREVIOUS, VALUE
from frameloom.bytecode.program import Program
from frameloom.codegen.resume import CELL, UNBOUND, Shape, origin_of
from frameloom.symbolic import values
from frameloom.symbolic.values import Const, Obj, Previous, Value


def shape_of(program: Program, index: int, slots: Sequence[Value], stack: Sequence[Value]) -> Shape:
    """The shape of a frame that stands before the instruction at `index`."""
    kinds = tuple(map(_stack_kind, stack, _offsets_in(program, index, stack)))
    return Shape(kinds, tuple(map(_slot_kind, program.slots, slots)))


def exceptions_of(stack: Sequence[Value], handled: Value | None) -> list[Value | None]:
    """The exception that each marker on a stack belongs to, outermost first: `handled` for the uppermost, and each marker knows
    what was handled before it."""
    found = []
    for value in reversed(stack):
        if type(value) is Previous:
            found.append(handled)
            handled = value.value
    return found[::-1]


def _slot_kind(slot: Any, value: Value) -> str:
    if value is values.UNBOUND:
        return UNBOUND
    is_cell = type(value) is Obj and value.cls is types.CellType
    return CELL if is_cell and slot.kind != "local" else VALUE


def _stack_kind(value: Value, is_offset: bool) -> Any:
    if value is values.NULL:
        return NULL
    if type(value) is Previous:
        return PREVIOUS
    return (LASTI, value.value) if is_offset else VALUE


def _offsets_in(program: Program, index: int, stack: Sequence[Value]) -> list[bool]:
    """Which items of a stack are offsets of raising instructions: only the instructions around them can tell."""
    if not any(type(value) is Const and type(value.value) is int for value in stack):
        return [False] * len(stack)
    origin = origin_of(program.code)
    if origin is not None:
        program, index = decode(origin.code), origin.indices[index]
    kinds = _states_of(program)[index].stack
    return [isinstance(kind, tuple) for kind in kinds[: len(stack)]]


_STATES: WeakKeyDictionary[Program, tuple] = WeakKeyDictionary()


def _states_of(program: Program) -> tuple:
    found = _STATES.get(program)
    if found is None:
        found = _STATES[program] = flow.analyse(program)
    return found
