"""Which slots may still be read, by instruction."""

from __future__ import annotations

from .canonical import OPCODES
from .program import Program

_READS = frozenset(
    {"LOAD_FAST", "LOAD_FAST_AND_CLEAR", "DELETE_FAST", "LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
)
_REPLACES = frozenset({"STORE_FAST", "LOAD_FAST_AND_CLEAR", "DELETE_FAST"})


def live_masks(program: Program) -> tuple[int, ...]:
    """For each instruction a bit mask of the slots live before it, by the least fixed point over all edges."""
    instructions = program.instructions
    live = [0] * len(instructions)
    changed = True
    while changed:
        changed = False
        for index in range(len(instructions) - 1, -1, -1):
            op, arg, _, _ = instructions[index]
            row = OPCODES[op]
            after = 0
            if not row.ends and index + 1 < len(live):
                after = live[index + 1]
            if row.jump is not None:
                after |= live[arg]
            if op in _REPLACES:
                after &= ~(1 << arg)
            if op in _READS:
                after |= 1 << arg
            handler = program.handlers[index]
            if handler is not None:
                after |= live[handler.target]
            if after != live[index]:
                live[index] = after
                changed = True
    return tuple(live)
