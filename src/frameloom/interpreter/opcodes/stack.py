"""The value stack."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.dropping import drop
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.kinds_of_constants import code_constant
from frameloom.interpreter.registry import opcode
from frameloom.symbolic.values import NULL


@opcode("NOP", "RESUME")
def nop(frame: Frame, arg: Any) -> None:
    return None


@opcode("POP_TOP")
def pop_top(frame: Frame, arg: Any) -> None:
    if frame.parent is None:
        drop(frame)
    frame.stack.pop()


@opcode("END_FOR")
def end_for(frame: Frame, count: int) -> None:
    del frame.stack[len(frame.stack) - count :]


@opcode("PUSH_NULL")
def push_null(frame: Frame, arg: Any) -> None:
    frame.stack.append(NULL)


@opcode("COPY")
def copy(frame: Frame, n: int) -> None:
    frame.stack.append(frame.stack[-n])


@opcode("SWAP")
def swap(frame: Frame, n: int) -> None:
    stack = frame.stack
    stack[-1], stack[-n] = stack[-n], stack[-1]


@opcode("LOAD_CONST")
def load_const(frame: Frame, value: Any) -> None:
    frame.stack.append(code_constant(frame.session, value))
