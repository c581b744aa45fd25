"""Bridges: a suspended parent frame whose waiting instruction calls the next inner frame's code instead."""

from __future__ import annotations

import itertools
import operator
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from frameloom.bytecode.assemble import Label
from frameloom.bytecode.canonical import OPCODES
from frameloom.bytecode.emitter import Emitter
from frameloom.bytecode.flow import VALUE
from frameloom.bytecode.program import Instruction, Program
from frameloom.bytecode.versions import version

from .exits import Leave, Runtime, after, check_place, leave_group, left_code, plain_method, ways_out
from .resume import MADE, ResumeError, Shape, user_state

#: How the waiting instruction goes on with what the inner frame returned:
#: "result": it is the result; "drop": it is dropped; "value": it must be None, and a value given beforehand is the result (`__init__`);
#: "truth": its truth is the result; "not": the inverse of its truth is; "bool": it must be a bool (`__bool__`); "length": it must
#: be a length, whose truth is the result (`__len__`); "next": it is the next item of an iterator, which StopIteration ends.
LINKS = ("result", "drop", "value", "truth", "not", "bool", "length", "next")


def bridge_code(code: CodeType, index: int, shape: Shape, link: str, runtime: Runtime) -> CodeType:
    """The code object of a parent frame that waits at `index` for an inner frame, as `link` (one of LINKS) says.

    `shape` is the state below the operands of the waiting instruction. A function made of it takes arguments as one of
    `resume_code` does, with further items at the end of the tuple: the value, if `link` is "value"; then a tuple
    of the inner function and its arguments. It calls them by `runtime.trampoline` under the handlers of the waiting
    instruction, whose operands they replace, and is left as `emit_break` leaves.

    Made once for each combination. Raises ResumeError.
    """
    code, index, shape = user_state(code, index, shape)

    def make() -> CodeType:
        def leave(out: Emitter, program: Program) -> None:
            emit_bridge(out, program, index, shape, link, runtime)

        return left_code(code, index, shape, shape.stack + _further(link), leave)

    return MADE.get(code, ("bridge", index, shape, link, runtime), make)


def _further(link: str) -> tuple[str, ...]:
    if link not in LINKS:
        raise ResumeError(f"no link: {link!r}")
    return (VALUE, VALUE) if link == "value" else (VALUE,)


def emit_bridge(out: Emitter, program: Program, index: int, shape: Shape, link: str, runtime: Runtime) -> None:
    """The same for code that has the user's slots already, such as the root's entry.

    At run time the stack is as `shape` says, with the value above it if `link` is "value", and on top the tuple of
    inner function and arguments. No path leads behind what is emitted. Raises ResumeError.
    """
    check_place(program, index)
    _further(link)
    group = program.group_of(index)
    instruction = program.instructions[index]
    finishing = _FINISH.get(instruction.op, _finish_plainly)
    run, ways = finishing(out, program, index, shape, link, runtime)
    leave_group(out, program, group, shape, runtime, ways, run)


Run = Callable[[Label | None], None]


def _call(out: Emitter, link: str, runtime: Runtime) -> None:
    out.call_with_tuple_under(runtime.trampoline)
    _ADAPT[link](out)


def _none(out: Emitter) -> None:
    fine = Label()
    out.copy()
    out.op(version.POP_JUMP_IF + "NONE", fine)
    out.call_constant_under(_wrong_init)
    out.raise_value()
    out.place(fine)
    out.pop_top()


def _wrong_init(result: Any) -> TypeError:
    return TypeError(f"__init__() should return None, not '{type(result).__name__}'")


def _bool(out: Emitter) -> None:
    fine = Label()
    out.copy()
    out.call_constant_under(type)
    out.load_const(bool)
    out.is_op()
    out.jump_if_true(fine)
    out.call_constant_under(_wrong_bool)
    out.raise_value()
    out.place(fine)


def _wrong_bool(result: Any) -> TypeError:
    return TypeError(f"__bool__ should return bool, returned {type(result).__name__}")


_LENGTHS = range(sys.maxsize + 1)


def _length(out: Emitter) -> None:
    fine = Label()
    out.call_constant_under(operator.index)
    out.copy()
    out.load_const(_LENGTHS)
    out.contains_op()
    out.jump_if_true(fine)
    out.call_constant_under(_wrong_length)
    out.raise_value()
    out.place(fine)
    out.to_bool()


def _wrong_length(result: int) -> Exception:
    if result < 0:
        return ValueError("__len__() should return >= 0")
    return OverflowError("cannot fit 'int' into an index-sized integer")


_ADAPT: dict[str, Callable[[Emitter], None]] = {
    "result": lambda out: None,
    "drop": lambda out: out.pop_top(),
    "value": _none,
    "truth": lambda out: out.to_bool(),
    "not": lambda out: out.unary_not(),
    "bool": _bool,
    "length": _length,
}


def _finish_plainly(out: Emitter, program: Program, index: int, shape: Shape, link: str, runtime: Runtime) -> tuple[Run, list[Leave]]:
    """The result stands for the instruction's; what else its group does comes after."""
    op = program.instructions[index].op
    if link == "next":
        raise ResumeError(f"{op} does not iterate")
    if OPCODES[op].ends or OPCODES[op].jump is not None:
        raise ResumeError(f"{op} cannot wait for an inner frame")
    group = program.group_of(index)
    state = Shape(shape.stack if link == "drop" else (*shape.stack, VALUE), shape.slots)
    rest = program.instructions[index + 1 : group.first + group.count]

    def run(away: Label | None) -> None:
        _call(out, link, runtime)
        for instruction in rest:
            _REST[instruction.op](out, instruction, away)

    for instruction in rest:
        if instruction.op not in _REST:
            raise ResumeError(f"no bridge goes on with {instruction.op}")
    return run, ways_out(program, group, state, since=1)


def _jump_on(truth: str) -> Callable[[Emitter, Instruction, Label | None], None]:
    return lambda out, instruction, away: out.op(version.POP_JUMP_IF + truth, away)


#: Canonical instructions that a group may have behind the one that waits.
_REST: dict[str, Callable[[Emitter, Instruction, Label | None], None]] = {
    "POP_TOP": lambda out, instruction, away: out.pop_top(),
    "UNARY_NOT": lambda out, instruction, away: out.op("UNARY_NOT"),
    "POP_JUMP_IF_TRUE": _jump_on("TRUE"),
    "POP_JUMP_IF_FALSE": _jump_on("FALSE"),
}


def _finish_method(out: Emitter, program: Program, index: int, shape: Shape, link: str, runtime: Runtime) -> tuple[Run, list[Leave]]:
    """A method look-up that ran user code: the attribute, and NULL on its side."""
    instruction = program.instructions[index]
    if link != "result":
        raise ResumeError(f"{instruction.op} takes a result, not {link!r}")
    is_method = instruction.op == "LOAD_METHOD" or instruction.arg[1]
    null_first = instruction.arg[-1]
    items = plain_method(null_first) if is_method else (VALUE,)

    def run(away: Label | None) -> None:
        _call(out, link, runtime)
        if is_method:
            out.push_null()
            if null_first:
                out.swap()

    return run, [Leave(index + 1, Shape((*shape.stack, *items), shape.slots), None)]


def _finish_iteration(out: Emitter, program: Program, index: int, shape: Shape, link: str, runtime: Runtime) -> tuple[Run, list[Leave]]:
    """FOR_ITER on an iterator whose __next__ is the inner frame: `shape` has the iterator on top."""
    instruction = program.instructions[index]
    if link != "next" or not shape.stack or shape.stack[-1] != VALUE:
        raise ResumeError("FOR_ITER waits for the next item of the iterator below")

    def run(away: Label | None) -> None:
        # An iterator whose next item is the call, in the place of the real one: FOR_ITER itself tells an item from the end.
        out.build_tuple(1)
        out.call_constant_before(itertools.starmap, runtime.trampoline)
        out.swap()
        iterator = out.scratch(".iterator")
        out.store_fast(iterator)
        out.op("FOR_ITER", away)
        out.swap()
        out.pop_top()
        out.move_fast(iterator)
        out.swap()

    item = Leave(index + 1, Shape((*shape.stack, VALUE), shape.slots), None)
    return run, [item, Leave(instruction.arg, Shape(shape.stack[:-1], shape.slots), instruction.op)]


def _finish_or_pop(out: Emitter, program: Program, index: int, shape: Shape, link: str, runtime: Runtime) -> tuple[Run, list[Leave]]:
    """A jump that keeps the value whose truth the inner frame tells: `shape` has the value on top."""
    instruction = program.instructions[index]
    if link not in ("truth", "bool", "length") or not shape.stack or shape.stack[-1] != VALUE:
        raise ResumeError(f"{instruction.op} waits for the truth of the value below")

    def run(away: Label | None) -> None:
        _call(out, link, runtime)
        out.op(version.POP_JUMP_IF + ("TRUE" if "TRUE" in instruction.op else "FALSE"), away)
        out.pop_top()

    fallen = Leave(index + 1, after(instruction, shape), None)
    return run, [fallen, Leave(instruction.arg, shape, instruction.op)]


_FINISH: dict[str, Callable[..., tuple[Run, list[Leave]]]] = {
    "LOAD_METHOD": _finish_method,
    "LOAD_SUPER_ATTR": _finish_method,
    "FOR_ITER": _finish_iteration,
    "JUMP_IF_TRUE_OR_POP": _finish_or_pop,
    "JUMP_IF_FALSE_OR_POP": _finish_or_pop,
}
