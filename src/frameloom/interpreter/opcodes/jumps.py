"""Branches and loops."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.exits import RETURN
from frameloom.interpreter.frame import Frame, Link
from frameloom.interpreter.iteration import iterate, next_unseen
from frameloom.interpreter.operators import truth
from frameloom.interpreter.registry import opcode
from frameloom.symbolic.values import NONE, Const, Lazy


@opcode("JUMP")
def jump(frame: Frame, target: int) -> None:
    frame.next = target


@opcode("TO_BOOL")
def to_bool(frame: Frame, arg: Any) -> None:
    stack = frame.stack
    stack[-1] = truth(frame.session.machine, stack[-1], Link("truth", len(stack) - 1))


@opcode("POP_JUMP_IF_TRUE")
def pop_jump_if_true(frame: Frame, target: int) -> None:
    if frame.stack.pop().value:
        frame.next = target


@opcode("POP_JUMP_IF_FALSE")
def pop_jump_if_false(frame: Frame, target: int) -> None:
    if not frame.stack.pop().value:
        frame.next = target


def _is_none(value: Any) -> bool:
    return type(value) is Const and value.value is None


@opcode("POP_JUMP_IF_NONE")
def pop_jump_if_none(frame: Frame, target: int) -> None:
    if _is_none(frame.stack.pop()):
        frame.next = target


@opcode("POP_JUMP_IF_NOT_NONE")
def pop_jump_if_not_none(frame: Frame, target: int) -> None:
    if not _is_none(frame.stack.pop()):
        frame.next = target


@opcode("JUMP_IF_TRUE_OR_POP")
def jump_if_true_or_pop(frame: Frame, target: int) -> None:
    if truth(frame.session.machine, frame.stack[-1], Link("truth", len(frame.stack))).value:
        frame.next = target
    else:
        frame.stack.pop()


@opcode("JUMP_IF_FALSE_OR_POP")
def jump_if_false_or_pop(frame: Frame, target: int) -> None:
    if truth(frame.session.machine, frame.stack[-1], Link("truth", len(frame.stack))).value:
        frame.stack.pop()
    else:
        frame.next = target


@opcode("GET_ITER")
def get_iter(frame: Frame, arg: Any) -> None:
    stack = frame.stack
    stack[-1] = iterate(frame.session.machine, stack[-1], Link("iterator", len(stack) - 1))


@opcode("FOR_ITER")
def for_iter(frame: Frame, target: int) -> None:
    m = frame.session.machine
    item = next_unseen(m, frame.stack[-1], Link("next", len(frame.stack)))
    if item is None:
        frame.stack.pop()
        frame.next = target
        return
    if type(item) is Lazy and frame.program.instructions[frame.next].op != "STORE_FAST":
        item = m.observe.resolve(item)
    frame.stack.append(item)


@opcode("RETURN_VALUE")
def return_value(frame: Frame, arg: Any) -> str:
    frame.result = frame.stack.pop()
    return RETURN


__all__ = ["Link", "NONE"]
