"""Operators, attributes and items."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.attributes import get_attribute, get_method, set_attribute
from frameloom.interpreter.frame import Frame, Link
from frameloom.interpreter.containment import contains
from frameloom.interpreter.operators import binary, compare, get_item, identical, set_item, truth, unary
from frameloom.interpreter.registry import opcode
from frameloom.symbolic.values import ABSENT, NULL, Const, boolean


@opcode("BINARY_OP")
def binary_op(frame: Frame, symbol: str) -> None:
    stack = frame.stack
    result = binary(frame.session.machine, symbol, stack[-2], stack[-1], Link("operand", len(stack) - 2))
    stack[-2:] = [result]


@opcode("UNARY_NEGATIVE")
def unary_negative(frame: Frame, arg: Any) -> None:
    stack = frame.stack
    stack[-1] = unary(frame.session.machine, "-", stack[-1], Link("result", len(stack) - 1))


@opcode("UNARY_INVERT")
def unary_invert(frame: Frame, arg: Any) -> None:
    stack = frame.stack
    stack[-1] = unary(frame.session.machine, "~", stack[-1], Link("result", len(stack) - 1))


@opcode("UNARY_NOT")
def unary_not(frame: Frame, arg: Any) -> None:
    frame.stack[-1] = boolean(not frame.stack[-1].value)


@opcode("COMPARE_OP")
def compare_op(frame: Frame, arg: tuple[str, bool]) -> None:
    symbol, as_bool = arg
    stack = frame.stack
    m = frame.session.machine
    result = compare(m, symbol, stack[-2], stack[-1], Link("operand", len(stack) - 2))
    stack[-2:] = [truth(m, result) if as_bool else result]


@opcode("IS_OP")
def is_op(frame: Frame, invert: bool) -> None:
    stack = frame.stack
    same = identical(frame.session.machine, stack[-2], stack[-1])
    stack[-2:] = [boolean(same is not bool(invert))]


@opcode("CONTAINS_OP")
def contains_op(frame: Frame, invert: bool) -> None:
    stack = frame.stack
    found = contains(frame.session.machine, stack[-1], stack[-2], Link("not" if invert else "truth", len(stack) - 2))
    stack[-2:] = [boolean(found.value is not bool(invert))]


# -- attributes ------------------------------------------------------------------------------------------------------


@opcode("LOAD_ATTR")
def load_attr(frame: Frame, name: str) -> None:
    stack = frame.stack
    stack[-1] = get_attribute(frame.session.machine, stack[-1], name, Link("result", len(stack) - 1))


@opcode("LOAD_METHOD")
def load_method(frame: Frame, arg: tuple[str, bool]) -> None:
    name, null_first = arg
    stack = frame.stack
    found = get_method(frame.session.machine, stack[-1], name)
    if type(found) is tuple:
        stack[-1:] = found
    else:
        stack[-1:] = [NULL, found] if null_first else [found, NULL]


@opcode("STORE_ATTR")
def store_attr(frame: Frame, name: str) -> None:
    stack = frame.stack
    set_attribute(frame.session.machine, stack[-1], name, stack[-2], Link("drop", len(stack) - 2))
    del stack[-2:]


@opcode("DELETE_ATTR")
def delete_attr(frame: Frame, name: str) -> None:
    stack = frame.stack
    set_attribute(frame.session.machine, stack[-1], name, ABSENT, Link("drop", len(stack) - 1))
    stack.pop()


@opcode("LOAD_SUPER_ATTR")
def load_super_attr(frame: Frame, arg: tuple) -> None:
    name, is_method, two_arg, null_first = arg
    stack = frame.stack
    m = frame.session.machine
    made = m.invoke(stack[-3], [stack[-2], stack[-1]], {})
    if is_method:
        found = get_method(m, made, name)
        stack[-3:] = found if type(found) is tuple else [NULL, found] if null_first else [found, NULL]
    else:
        stack[-3:] = [get_attribute(m, made, name)]


# -- items -----------------------------------------------------------------------------------------------------------


@opcode("BINARY_SUBSCR")
def binary_subscr(frame: Frame, arg: Any) -> None:
    stack = frame.stack
    stack[-2:] = [get_item(frame.session.machine, stack[-2], stack[-1], Link("result", len(stack) - 2))]


@opcode("STORE_SUBSCR")
def store_subscr(frame: Frame, arg: Any) -> None:
    stack = frame.stack
    set_item(frame.session.machine, stack[-2], stack[-1], stack[-3], Link("drop", len(stack) - 3))
    del stack[-3:]


@opcode("DELETE_SUBSCR")
def delete_subscr(frame: Frame, arg: Any) -> None:
    stack = frame.stack
    set_item(frame.session.machine, stack[-2], stack[-1], ABSENT, Link("drop", len(stack) - 2))
    del stack[-2:]


@opcode("BINARY_SLICE")
def binary_slice(frame: Frame, arg: Any) -> None:
    stack = frame.stack
    m = frame.session.machine
    stack[-3:] = [get_item(m, stack[-3], m.slice(stack[-2], stack[-1]), Link("result", len(stack) - 3))]


@opcode("STORE_SLICE")
def store_slice(frame: Frame, arg: Any) -> None:
    stack = frame.stack
    m = frame.session.machine
    set_item(m, stack[-3], m.slice(stack[-2], stack[-1]), stack[-4], Link("drop", len(stack) - 4))
    del stack[-4:]


@opcode("GET_LEN")
def get_len(frame: Frame, arg: Any) -> None:
    from frameloom.interpreter.operators import length

    frame.stack.append(length(frame.session.machine, frame.stack[-1]))


__all__ = ["Const"]
