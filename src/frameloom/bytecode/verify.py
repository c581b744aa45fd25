"""The checker: whatever decodes, and whatever we assemble, obeys the rules that CPython's own compiler keeps."""

from __future__ import annotations

import opcode
from types import CodeType

from . import flow
from .canonical import OPCODES, SLOT_OPCODES
from .decode import DecodeError, argument_count, decode
from .program import Program


class VerifyError(Exception):
    """A program or code object breaks a rule; the message says which and where."""


#: Original instructions that take what the slot holds without looking whether it holds anything.
_TRUSTING = frozenset(opcode.opmap[name] for name in ("LOAD_FAST", "LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST") if name in opcode.opmap)
_CHECKED = "LOAD_FAST_CHECK" in opcode.opmap

_CELL_READERS = frozenset({"LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})


def verify(program: Program) -> None:
    """Check rows, jump targets, handlers, stack depths, NULLs and slots of a program. Raises VerifyError."""
    _check_groups(program)
    _check_targets(program)
    try:
        stacks = flow.analyse(program)
    except flow.FlowError as error:
        raise VerifyError(f"{program.code.co_qualname}: {error}") from None
    for group in program.groups:  # between the halves of a RETURN_CONST there is an item that its code never stacks
        index, stack = group.first, stacks[group.first]
        if stack is not None and len(stack) > program.code.co_stacksize:
            raise VerifyError(f"{program.code.co_qualname}: {len(stack)} items at {index}, the stack has {program.code.co_stacksize}")
    _check_slots(program, stacks)


def verify_code(code: CodeType) -> None:
    """Decode and verify a code object. Raises VerifyError."""
    try:
        program = decode(code)
    except DecodeError as error:
        raise VerifyError(str(error)) from None
    verify(program)


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


def _check_slots(program: Program, stacks: tuple[flow.Stack | None, ...]) -> None:
    """No instruction that trusts a slot to be bound meets one that may be empty."""
    instructions = program.instructions
    bound: list[int | None] = [None] * len(instructions)
    bound[0] = (1 << argument_count(program.code)) - 1
    waiting = [0]
    while waiting:
        index = waiting.pop()
        before = bound[index]
        assert before is not None
        op, arg, origin, position = instructions[index]
        if _trusts(program, index) and not before >> arg & 1:
            name = program.slots[arg].name
            raise VerifyError(f"{program.code.co_qualname}: {op} at {index} (line {position.lineno}) meets {name!r} unbound")
        after = _after(program, index, before, stacks[index])
        row = OPCODES[op]
        edges = []
        if row.jump is not None:
            edges.append((arg, after))
        if not row.ends:
            edges.append((index + 1, after))
        handler = program.handler_at(index)
        if handler is not None:
            edges.append((handler.target, before))
        for target, mask in edges:
            known = bound[target]
            merged = mask if known is None else known & mask
            if merged != known:
                bound[target] = merged
                waiting.append(target)


def _trusts(program: Program, index: int) -> bool:
    op, _, origin, _ = program.instructions[index]
    if op in _CELL_READERS:
        return True
    return _CHECKED and op == "LOAD_FAST" and program.groups[origin].raws[-1][0] in _TRUSTING


def _after(program: Program, index: int, mask: int, stack: flow.Stack | None) -> int:
    op, arg, _, _ = program.instructions[index]
    if op == "COPY_FREE_VARS":
        return mask | ((1 << arg) - 1) << (len(program.slots) - arg)
    if op in ("MAKE_CELL", "LOAD_FAST"):
        return mask | 1 << arg
    if op in ("DELETE_FAST", "LOAD_FAST_AND_CLEAR"):
        return mask & ~(1 << arg)
    if op == "STORE_FAST":
        assert stack is not None
        return mask | 1 << arg if stack[-1] == flow.VALUE else mask & ~(1 << arg)
    return mask
