"""The checker: whatever decodes, and whatever we assemble, obeys the rules that CPython's own compiler keeps."""

from __future__ import annotations

import opcode
from collections.abc import Iterable
from types import CodeType

from . import flow
from .canonical import OPCODES, SLOT_OPCODES
from .decode import DecodeError, decode
from .program import Program


class VerifyError(Exception):
    """A program or code object breaks a rule; the message says which and where."""


#: The original instruction that takes what the slot holds without looking whether it holds anything.
_TRUSTING = opcode.opmap["LOAD_FAST"]
_CHECKED = "LOAD_FAST_CHECK" in opcode.opmap

_CELL_READERS = frozenset({"LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})


def verify(program: Program, bound: Iterable[int] = ()) -> None:
    """Check rows, jump targets, handlers, stack depths, NULLs and slots of a program. `bound` are slots that whoever starts the code
    fills besides the arguments. Raises VerifyError."""
    _check_groups(program)
    _check_targets(program)
    try:
        states = flow.analyse(program, bound)
    except flow.FlowError as error:
        raise VerifyError(f"{program.code.co_qualname}: {error}") from None
    for group in program.groups:  # between the halves of a RETURN_CONST there is an item that its code never stacks
        state = states[group.first]
        if state is not None and len(state.stack) > program.code.co_stacksize:
            raise VerifyError(f"{program.code.co_qualname}: {len(state.stack)} items at {group.first}, too many for its stack")
    _check_slots(program, states)


def verify_code(code: CodeType, bound: Iterable[int] = ()) -> None:
    """Decode and verify a code object, as `verify` does. Raises VerifyError."""
    try:
        program = decode(code)
    except DecodeError as error:
        raise VerifyError(str(error)) from None
    verify(program, bound)


def _check_groups(program: Program) -> None:
    expected = 0
    for number, group in enumerate(program.groups):
        members = program.instructions[group.first : group.first + group.count]
        if group.first != expected or not group.count or any(member.origin != number for member in members):
            raise VerifyError(f"{program.code.co_qualname}: group {number} does not own its instructions")
        expected += group.count
    if expected != len(program.instructions):
        raise VerifyError(f"{program.code.co_qualname}: instructions without a group")


def _check_targets(program: Program) -> None:
    for index, (op, arg, _, _) in enumerate(program.instructions):
        row = OPCODES.get(op)
        if row is None:
            raise VerifyError(f"{program.code.co_qualname}: {op} at {index} is no canonical opcode")
        if row.jump is not None:
            _check_border(program, arg, f"{op} at {index}")
        if op in SLOT_OPCODES and not 0 <= arg < len(program.slots):
            raise VerifyError(f"{program.code.co_qualname}: {op} at {index} names slot {arg}")
        handler = program.handler_at(index)
        if handler is not None:
            _check_border(program, handler.target, f"the handler at {index}")
    if not OPCODES[program.instructions[-1].op].ends:
        raise VerifyError(f"{program.code.co_qualname}: runs past its end")


def _check_border(program: Program, target: int, who: str) -> None:
    if not 0 <= target < len(program.instructions) or program.group_of(target).first != target:
        raise VerifyError(f"{program.code.co_qualname}: {who} goes to {target}, where no group begins")


def _check_slots(program: Program, states: tuple[flow.State | None, ...]) -> None:
    """No instruction that trusts a slot to be bound meets one that may be empty."""
    for index, state in enumerate(states):
        if state is None:
            continue
        op, arg, origin, position = program.instructions[index]
        trusts = op in _CELL_READERS or (_CHECKED and op == "LOAD_FAST" and program.groups[origin].raws[-1][0] == _TRUSTING)
        if trusts and not state.bound >> arg & 1:
            name = program.slots[arg].name
            raise VerifyError(f"{program.code.co_qualname}: {op} at {index} (line {position.lineno}) meets {name!r} unbound")
