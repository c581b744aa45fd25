"""Every code object of the standard library decodes, verifies, and comes out of the assembler as it went in."""
from __future__ import annotations

from types import CodeType

import pytest

from frameloom.bytecode.canonical import JUMPS
from frameloom.bytecode.decode import decode
from frameloom.bytecode.emitter import Emitter
from frameloom.bytecode.verify import verify, verify_code
from tests.bytecode.stdlib import codes

STEP = 40
CO_SUSPENDS = 0x20 | 0x80 | 0x200


def _verify_all(step: int) -> int:
    seen = 0
    for code in codes(step):
        verify(decode(code))
        seen += 1
    return seen


def test_a_sample_decodes_and_verifies() -> None:
    assert _verify_all(STEP) > 1000


@pytest.mark.slow
def test_all_of_it_decodes_and_verifies() -> None:
    assert _verify_all(1) > 50_000


def _assembled(code: CodeType) -> CodeType:
    """The code object taken apart and put together again."""
    out = Emitter(code)
    suspends = bool(code.co_flags & CO_SUSPENDS)
    out.prefix(generator=suspends)
    out.copy_body(decode(code))
    return out.finish().code


def _same(code: CodeType, again: CodeType) -> None:
    program, copy = decode(code), decode(again)
    begin, there = program.start, copy.start
    if "JUMP" == copy.instructions[there].op and len(copy.instructions) - there > len(program.instructions) - begin:
        there += len(copy.instructions) - there - (len(program.instructions) - begin)
    shift = there - begin
    assert len(copy.instructions) - there == len(program.instructions) - begin
    for index in range(begin, len(program.instructions)):
        one, other = program.instructions[index], copy.instructions[index + shift]
        assert one.op == other.op, (one, other)
        assert one.arg is other.arg if one.op == "LOAD_CONST" else _arg(one, shift) == other.arg, (one, other)
        assert _position(one.position) == _position(other.position), (one, other)
        here, above = program.handler_at(index), copy.handler_at(index + shift)
        assert (here and here._replace(target=here.target + shift)) == above
    for field in ("co_varnames", "co_cellvars", "co_freevars", "co_name", "co_qualname", "co_filename", "co_firstlineno"):
        assert getattr(code, field) == getattr(again, field), field


def _arg(instruction, shift):
    return instruction.arg + shift if instruction.op in JUMPS else instruction.arg


def _position(position):
    """Columns are all or none in a line table; the compiler itself leaves some out here and there."""
    if None in position:
        return (position.lineno, None, None, None)
    return position


def _assemble_all(step: int) -> int:
    seen = 0
    for code in codes(step):
        if not code.co_flags & 2:  # a module's or class's code: never captured, and its prefix differs
            continue
        again = _assembled(code)
        verify_code(again)
        _same(code, again)
        assert again.co_stacksize >= code.co_stacksize
        seen += 1
    return seen


def test_a_sample_is_assembled_as_it_was() -> None:
    assert _assemble_all(STEP) > 800


@pytest.mark.slow
def test_all_of_it_is_assembled_as_it_was() -> None:
    assert _assemble_all(4) > 10_000
