"""Links: how an instruction that waits for an inner frame goes on with what that frame returned."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from frameloom.bytecode.assemble import Label
from frameloom.bytecode.canonical import OPCODES
from frameloom.bytecode.emitter import Emitter
from frameloom.bytecode.flow import VALUE
from frameloom.bytecode.program import Instruction, Program
from frameloom.bytecode.versions import version

from .exits import Leave, after, plain_method, ways_out
from .resume import ResumeError, Shape

#: "result": it is the result; "drop": it is dropped; "value": it must be None, and a value given beforehand is the result (`__init__`);
#: "truth": its truth is the result; "not": the inverse of its truth is; "bool": it must be a bool (`__bool__`); "length": it must
#: be a length, whose truth is the result (`__len__`); "next": it is the next item of an iterator, which StopIteration ends.
LINKS = ("result", "drop", "value", "truth", "not", "bool", "length", "next")

#: Puts what the inner frame returned in the place of the top of the stack; the label is where a waiting loop ends.
Ask = Callable[[Emitter, Label | None], None]
#: Emits the waiting instruction and the rest of its group; the label is that of the jump in it.
Run = Callable[[Label | None], None]


def further(link: str) -> tuple[str, ...]:
    """What lies above the state of the waiting frame: the value, if the link wants one, and the call of the inner frame."""
    if link not in LINKS:
        raise ResumeError(f"no link: {link!r}")
    return (VALUE, VALUE) if link == "value" else (VALUE,)


def finish(out: Emitter, program: Program, index: int, shape: Shape, link: str, ask: Ask) -> tuple[Run, list[Leave]]:
    """What stands for the group at `index`, which waits as `link` says in the state `shape` below its operands, and the ways out of
    it. Raises ResumeError."""
    further(link)
    instruction = program.instructions[index]
    return _FINISH.get(instruction.op, _finish_plainly)(out, program, index, shape, link, ask)


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


def _finish_plainly(out: Emitter, program: Program, index: int, shape: Shape, link: str, ask: Ask) -> tuple[Run, list[Leave]]:
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
        ask(out, None)
        _ADAPT[link](out)
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


def _finish_method(out: Emitter, program: Program, index: int, shape: Shape, link: str, ask: Ask) -> tuple[Run, list[Leave]]:
    """A method look-up that ran user code: the attribute, and NULL on its side."""
    instruction = program.instructions[index]
    if link != "result":
        raise ResumeError(f"{instruction.op} takes a result, not {link!r}")
    is_method = instruction.op == "LOAD_METHOD" or instruction.arg[1]
    null_first = instruction.arg[-1]
    items = plain_method(null_first) if is_method else (VALUE,)

    def run(away: Label | None) -> None:
        ask(out, None)
        if is_method:
            out.push_null()
            if null_first:
                out.swap()

    return run, [Leave(index + 1, Shape((*shape.stack, *items), shape.slots), None)]


def _finish_iteration(out: Emitter, program: Program, index: int, shape: Shape, link: str, ask: Ask) -> tuple[Run, list[Leave]]:
    """FOR_ITER on an iterator whose __next__ is the inner frame: `shape` has the iterator on top."""
    instruction = program.instructions[index]
    if link != "next" or not shape.stack or shape.stack[-1] != VALUE:
        raise ResumeError("FOR_ITER waits for the next item of the iterator below")

    def run(away: Label | None) -> None:
        ask(out, away)

    item = Leave(index + 1, Shape((*shape.stack, VALUE), shape.slots), None)
    return run, [item, Leave(instruction.arg, Shape(shape.stack[:-1], shape.slots), instruction.op)]


def _finish_or_pop(out: Emitter, program: Program, index: int, shape: Shape, link: str, ask: Ask) -> tuple[Run, list[Leave]]:
    """A jump that keeps the value whose truth the inner frame tells: `shape` has the value on top."""
    instruction = program.instructions[index]
    if link not in ("truth", "bool", "length") or not shape.stack or shape.stack[-1] != VALUE:
        raise ResumeError(f"{instruction.op} waits for the truth of the value below")

    def run(away: Label | None) -> None:
        ask(out, None)
        _ADAPT[link](out)
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
