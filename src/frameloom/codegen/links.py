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

#: link -> how many values it wants, which are given beforehand.
#:
#: "result": it is the result; "drop": it is dropped; "value": it must be None, and the value is the result (`__init__`); "truth": its
#: truth is the result; "not": the inverse of its truth is; "bool": it must be a bool (`__bool__`); "length": it must be a length, whose
#: truth is the result (`__len__`), "count": which is the result; "next": it is the next item of an iterator, which StopIteration ends;
#: "iterator": it must be an iterator; "str", "repr", "format": it must be a text (`__str__`, `__repr__`, `__format__`).
#:
#: "operand": it is the result unless it is NotImplemented, for which the value stands: the text of a TypeError, or a bool. With "then" another
#: method is asked before: of the further values, the first is called with the others; with two, those on top come first. "unequal then": the same of the inverse of its truth
#: (`!=` by `__eq__`).
WANTS = {
    "result": 0, "drop": 0, "value": 1, "truth": 0, "not": 0, "bool": 0, "length": 0, "count": 0, "next": 0, "iterator": 0,
    "str": 0, "repr": 0, "format": 0,
    "operand": 1, "operand then": 4, "operand then then": 7, "unequal then": 4,
}  # fmt: skip
LINKS = tuple(WANTS)

#: Puts what the inner frame returned in the place of the top of the stack; the label is where a waiting loop ends.
Ask = Callable[[Emitter, Label | None], None]
#: Emits the waiting instruction and the rest of its group; the label is that of the jump in it.
Run = Callable[[Label | None], None]


def further(link: str) -> tuple[str, ...]:
    """What lies above the state of the waiting frame: the values that the link wants, and the call of the inner frame."""
    if link not in WANTS:
        raise ResumeError(f"no link: {link!r}")
    return (VALUE,) * (WANTS[link] + 1)


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


def _count(out: Emitter) -> None:
    fine = Label()
    out.call_constant_under(operator.index)
    out.copy()
    out.load_const(_LENGTHS)
    out.contains_op()
    out.jump_if_true(fine)
    out.call_constant_under(_wrong_length)
    out.raise_value()
    out.place(fine)


def _length(out: Emitter) -> None:
    _count(out)
    out.to_bool()


def _wrong_length(result: int) -> Exception:
    if result < 0:
        return ValueError("__len__() should return >= 0")
    return OverflowError("cannot fit 'int' into an index-sized integer")


def _iterator(out: Emitter) -> None:
    fine = Label()
    out.copy()
    out.call_constant_under(_wrong_iterator)
    out.copy()
    out.op(version.POP_JUMP_IF + "NONE", fine)
    out.raise_value()
    out.place(fine)
    out.pop_top()


def _wrong_iterator(result: Any) -> TypeError | None:
    if any("__next__" in vars(cls) for cls in type(result).__mro__):
        return None
    return TypeError(f"iter() returned non-iterator of type '{type(result).__name__}'")


def _text(wrong: Callable[[Any], TypeError]) -> Callable[[Emitter], None]:
    def adapt(out: Emitter) -> None:
        fine = Label()
        out.copy()
        out.call_constant_under(isinstance, str)
        out.jump_if_true(fine)
        out.call_constant_under(wrong)
        out.raise_value()
        out.place(fine)

    return adapt


def _wrong_str(result: Any) -> TypeError:
    return TypeError(f"__str__ returned non-string (type {type(result).__name__})")


def _wrong_repr(result: Any) -> TypeError:
    return TypeError(f"__repr__ returned non-string (type {type(result).__name__})")


def _wrong_format(result: Any) -> TypeError:
    return TypeError(f"__format__ must return a str, not {type(result).__name__}")


def _is_taken(out: Emitter) -> Label:
    """Keep the result on top and go to the label, unless it is NotImplemented, which is taken off."""
    taken = Label()
    out.copy()
    out.load_const(NotImplemented)
    out.is_op()
    out.jump_if_false(taken)
    out.pop_top()
    return taken


def _then(out: Emitter) -> None:
    """Another method, and what it is called with, lie below the result: they go, and the result of that where it is wanted comes."""
    over = Label()
    taken = _is_taken(out)
    out.call(1)  # the method with the first of the others in the place of self
    out.jump(over)
    out.place(taken)
    for _ in range(3):
        out.swap()
        out.pop_top()
    out.place(over)


def _operand(out: Emitter) -> None:
    """What stands for NotImplemented lies below the result."""
    over = Label()
    taken = _is_taken(out)
    out.copy()
    out.call_constant_under(isinstance, bool)
    out.jump_if_true(over)
    out.call_constant_under(TypeError)
    out.raise_value()
    out.place(taken)
    out.swap()
    out.pop_top()
    out.place(over)


def _inverse(out: Emitter) -> None:
    over = Label()
    out.copy()
    out.load_const(NotImplemented)
    out.is_op()
    out.jump_if_true(over)
    out.unary_not()
    out.place(over)


def _in_turn(*steps: Callable[[Emitter], None]) -> Callable[[Emitter], None]:
    def adapt(out: Emitter) -> None:
        for step in steps:
            step(out)

    return adapt


_ADAPT: dict[str, Callable[[Emitter], None]] = {
    "result": lambda out: None,
    "drop": lambda out: out.pop_top(),
    "value": _none,
    "truth": lambda out: out.to_bool(),
    "not": lambda out: out.unary_not(),
    "bool": _bool,
    "length": _length,
    "count": _count,
    "iterator": _iterator,
    "str": _text(_wrong_str),
    "repr": _text(_wrong_repr),
    "format": _text(_wrong_format),
    "operand": _operand,
    "operand then": _in_turn(_then, _operand),
    "operand then then": _in_turn(_then, _then, _operand),
    "unequal then": _in_turn(_inverse, _then, _operand),
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
        if op == "COMPARE_OP" and program.instructions[index].arg[1]:
            out.to_bool()
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
