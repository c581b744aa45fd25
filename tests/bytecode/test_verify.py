"""The verifier refuses what breaks a rule, and says where."""
from __future__ import annotations

import opcode

import pytest

from frameloom.bytecode.assemble import AssemblyError, Label
from frameloom.bytecode.decode import decode
from frameloom.bytecode.emitter import Emitter
from frameloom.bytecode.program import Program
from frameloom.bytecode.verify import VerifyError, verify, verify_code


def base(a, b):
    c = a
    return c


def written(emit, code=base.__code__):
    out = Emitter(code)
    out.prefix()
    emit(out)
    return out.finish().code


def refused(emit, message):
    with pytest.raises(VerifyError, match=message):
        verify_code(written(emit))


def test_what_is_right_passes():
    def emit(out):
        out.load_fast("a")
        out.return_value()

    verify_code(written(emit))


def test_an_empty_stack():
    refused(lambda out: (out.pop_top(), out.return_value()), "POP_TOP wants 1 items, there are 0")


def test_paths_that_disagree():
    def emit(out):
        other = Label()
        out.load_fast("a")
        out.jump_if_true(other)
        out.load_fast("a")
        out.place(other)
        out.load_fast("b")
        out.return_value()

    refused(emit, "paths meet with")


def test_a_null_where_an_object_is_wanted():
    refused(lambda out: (out.push_null(), out.return_value()), "RETURN_VALUE meets null")


def test_a_call_of_nothing():
    def emit(out):
        out.push_null()
        out.push_null()
        out.call(0)
        out.return_value()

    refused(emit, "CALL meets")


def test_a_slot_that_is_filled_from_outside():
    def emit(out):
        out.load_fast("c")
        out.return_value()

    code = written(emit)
    verify_code(code, [code.co_varnames.index("c")])


def test_a_slot_that_may_be_empty():
    def emit(out):
        out.load_fast("c")
        out.return_value()

    if "LOAD_FAST_CHECK" in opcode.opmap:  # 3.11's LOAD_FAST looks itself
        refused(emit, "'c' unbound")
    else:
        verify_code(written(emit))


def test_a_cell_that_is_none():
    def cells(a):
        return lambda: a

    out = Emitter(cells.__code__)
    out.op("RESUME", 0)
    out.delete_fast("a")
    out.load_deref("a")
    out.return_value()
    with pytest.raises(VerifyError, match="'a' unbound"):
        verify_code(out.finish().code)


def test_running_past_the_end():
    refused(lambda out: (out.load_fast("a"), out.pop_top()), "runs past its end")


def test_a_handler_that_keeps_too_much():
    def emit(out):
        handler = Label()
        with out.region(handler, 3):
            out.load_fast("a")
            out.return_value()
        out.place(handler)
        out.raise_value()

    refused(emit, "the handler wants 3 items")


def test_an_exception_state_restored_from_nothing():
    def emit(out):
        out.load_fast("a")
        out.op("POP_EXCEPT")
        out.load_fast("a")
        out.return_value()

    refused(emit, "POP_EXCEPT")


def test_a_stack_too_small():
    def emit(out):
        out.load_fast("a")
        out.load_fast("b")
        out.build_tuple(2)
        out.return_value()

    code = written(emit)
    verify_code(code)
    with pytest.raises(VerifyError, match="too many for its stack"):
        verify_code(code.replace(co_stacksize=1))


def branching(a):
    while a.more():
        a = a.next


def test_a_jump_into_a_group():
    program = decode(branching.__code__)
    inside = next(group.first + 1 for group in program.groups if group.count > 1)
    jump = next(i for i, instruction in enumerate(program.instructions) if instruction.op.startswith("POP_JUMP"))
    instructions = list(program.instructions)
    instructions[jump] = instructions[jump]._replace(arg=inside)
    broken = Program(program.code, tuple(instructions), program.slots, program.groups, program.start, program.handlers, program.analyses)
    with pytest.raises(VerifyError, match="where no group begins"):
        verify(broken)


def test_an_unplaced_label():
    with pytest.raises(AssemblyError, match="never placed"):
        written(lambda out: out.jump(Label()))
