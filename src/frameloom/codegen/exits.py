"""Leaving a frame at a graph break: one original group runs, and each way out of it returns a tail record."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

from frameloom.bytecode import flow
from frameloom.bytecode.assemble import Label
from frameloom.bytecode.canonical import OPCODES
from frameloom.bytecode.decode import decode
from frameloom.bytecode.emitter import Emitter
from frameloom.bytecode.flow import LASTI, NULL, PREVIOUS, VALUE
from frameloom.bytecode.program import Group, Instruction, Program

from .resume import CELL, CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, MADE, UNBOUND, Prologue, ResumeError, Shape
from .resume import argument_slots, resume_code, user_state, users_code


class Runtime(NamedTuple):
    """What generated code calls.

    `tail(function, *arguments)` makes a tail record (it is their class), which the code returns in place of a result;
    `caught` makes one whose `caught` is true: an exception's traceback keeps the frame that returns it.
    `enter(record)` makes the call of a record and returns what comes, perhaps another record; `trampoline(record)` or
    `trampoline(function, *arguments)` runs the records that come, and returns the result; `go_on((function, *arguments))` does
    the same and empties a tuple that nobody else has. `take(record)` is the tuple of function and
    arguments. The record is used up by each. `joint(make)` gives a callable that takes a record: `make(code of its function)`,
    remembered, or None. All must be hashable.
    """

    tail: Callable[..., Any]
    caught: Callable[..., Any]
    trampoline: Callable[..., Any]
    enter: Callable[..., Any]
    go_on: Callable[..., Any]
    take: Callable[..., Any]
    joint: Callable[..., Any]


class Leave(NamedTuple):
    """A way out of a group: to the canonical index `target`, in `shape`, by a jump of `op` if it is not None."""

    target: int
    shape: Shape
    op: str | None


def emit_break(out: Emitter, program: Program, index: int, shape: Shape, runtime: Runtime) -> None:
    """Emit the group at `index` and all that follows it: no path leads behind what is emitted.

    `out` is an Emitter for the program's code; at run time the user's slots and the stack are as `shape` says, and the stack
    has nothing else. The group stands under the handler that covers it in the program; every way out of it, handlers included, returns
    a tail record for a resume function. Groups that return or raise do so. Raises ResumeError for what cannot be
    left this way.
    """
    check_place(program, index)
    group = program.group_of(index)
    leave_group(out, program, group, shape, runtime, ways_out(program, group, shape), lambda label: out.raw(program, group, label))


def leave_group(
    out: Emitter, program: Program, group: Group, shape: Shape, runtime: Runtime, ways: list[Leave], run: Callable[[Label | None], None]
) -> None:
    """Emit `run(label of the jump, if any)` in the place of a group, under its handler, and then the ways out.

    `shape` is the state in which a handler finds the slots, and the part of the stack that it keeps.
    """
    jump = next((way for way in ways if way.op is not None), None)
    away = Label() if jump is not None else None
    handler = flow.handler_of(program, group.first)
    caught = Label()
    with out.at(program.instructions[group.first].position):
        if handler is None:
            run(away)
        else:
            with out.region(caught, handler.depth, handler.lasti):
                # CPython 3.13.0 looks an exception of an inlined call up one unit before the calling instruction.
                out.op("NOP")
                run(away)
        for way in ways:
            if way.op is None:
                emit_tail(out, program, way.target, way.shape, runtime)
        if jump is not None and away is not None:
            out.place(away)
            out.landing(str(jump.op))
            emit_tail(out, program, jump.target, jump.shape, runtime)
        if handler is not None:
            out.place(caught)
            offset = ((LASTI, group.offset // 2),) if handler.lasti else ()
            stack = (*shape.stack[: handler.depth], *offset, VALUE)
            emit_tail(out, program, handler.target, Shape(stack, shape.slots), runtime, move=True)


def check_place(program: Program, index: int) -> None:
    """Raises ResumeError unless a frame of the program can be left at the instruction."""
    if program.code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
        raise ResumeError(f"{program.code.co_qualname} is a generator or coroutine: it stops at its yields only")
    if program.group_of(index).first != index:
        raise ResumeError(f"{index} is inside a group of {program.code.co_qualname}")
    if index < program.start:
        raise ResumeError(f"{index} belongs to the prefix of {program.code.co_qualname}")


def ways_out(program: Program, group: Group, shape: Shape, since: int = 0) -> list[Leave]:
    """The ways out of a group that is emitted with `Emitter.raw`, from its `since`-th canonical instruction on, handlers apart."""
    ways = []
    for index in range(group.first + since, group.first + group.count):
        instruction = program.instructions[index]
        row = OPCODES[instruction.op]
        if row.jump is not None:
            jumped = Shape(flow.jumped(instruction, shape.stack), shape.slots)
            ways.append(Leave(instruction.arg, jumped, instruction.op))
        if row.ends:
            return ways
        shape = after(instruction, shape)
    return [*ways, Leave(group.first + group.count, shape, None)]


def after(instruction: Instruction, shape: Shape) -> Shape:
    """The state behind an instruction that does not jump, method look-ups being plain ones."""
    change = _CHANGES.get(instruction.op)
    if change is not None:
        return change(instruction.arg, shape)
    return Shape(flow.step(instruction, shape.stack), shape.slots)


def _with_slot(shape: Shape, slot: int, kind: str) -> tuple[str, ...]:
    return (*shape.slots[:slot], kind, *shape.slots[slot + 1 :])


def _store(slot: int, shape: Shape) -> Shape:
    return Shape(shape.stack[:-1], _with_slot(shape, slot, UNBOUND if shape.stack[-1] == NULL else VALUE))


def _delete(slot: int, shape: Shape) -> Shape:
    return Shape(shape.stack, _with_slot(shape, slot, UNBOUND))


def _load_and_clear(slot: int, shape: Shape) -> Shape:
    taken = NULL if shape.slots[slot] == UNBOUND else VALUE
    return Shape((*shape.stack, taken), _with_slot(shape, slot, UNBOUND))


def _make_cell(slot: int, shape: Shape) -> Shape:
    return Shape(shape.stack, _with_slot(shape, slot, CELL))


def plain_method(null_first: bool) -> tuple[str, str]:
    """What a plain look-up leaves in the place of a method look-up."""
    return (NULL, VALUE) if null_first else (VALUE, NULL)


def _method(arg: tuple[str, bool], shape: Shape) -> Shape:
    return Shape((*shape.stack[:-1], *plain_method(arg[1])), shape.slots)


def _super(arg: tuple[str, bool, bool, bool], shape: Shape) -> Shape:
    _, is_method, _, null_first = arg
    return Shape((*shape.stack[:-3], *(plain_method(null_first) if is_method else (VALUE,))), shape.slots)


_CHANGES: dict[str, Callable[[Any, Shape], Shape]] = {
    "STORE_FAST": _store,
    "DELETE_FAST": _delete,
    "LOAD_FAST_AND_CLEAR": _load_and_clear,
    "MAKE_CELL": _make_cell,
    "LOAD_METHOD": _method,
    "LOAD_SUPER_ATTR": _super,
}


def emit_tail(out: Emitter, program: Program, index: int, shape: Shape, runtime: Runtime, *, move: bool = False) -> None:
    """Return a tail record that goes on at `index`. The stack is as `shape` says and is taken apart; handled exceptions are
    handled no more when the code returns, as CPython's own code leaves it.

    With `move` the frame's slots are emptied: an exception's traceback keeps its frame, which must not keep what the frame that takes over
    lets go, the exception itself least of all.
    """
    code = resume_code(program.code, index, shape)
    out.assume_depth(len(shape.stack))
    held = take_stack(out, shape)
    emit_record(out, program, shape, held, lambda: out.load_const(code), runtime, move=move)


def emit_record(
    out: Emitter,
    program: Program,
    shape: Shape,
    held: list[int],
    load_code: Callable[[], None],
    runtime: Runtime,
    *,
    further: Callable[[], None] | None = None,
    move: bool = False,
) -> None:
    """Return a tail record of a function of a code that takes the frame over: slots as `shape` says, the objects of the stack in
    scratch slots, and one more object that `further` pushes."""
    load = out.move_fast if move else out.load_fast
    count = argument_slots(users_code(program.code))
    out.begin_call(runtime.caught if move else runtime.tail)
    out.make_function(load_code, [slot for slot, found in enumerate(program.slots) if found.kind == "free"])
    for slot in range(count):
        if shape.slots[slot] == UNBOUND:
            out.load_const(None)
        else:
            load(slot)
    for temporary in held:
        out.move_fast(temporary)  # who keeps the frame sees the program's names alone
    if further is not None:
        further()
    out.build_tuple(len(held) + (further is not None))
    out.call(count + 2)
    out.return_value()


def take_stack(out: Emitter, shape: Shape) -> list[int]:
    """Empty the stack into scratch slots; returns those to be handed on, bottom of the stack first.

    The exception that a marker belongs to is the handled one for the uppermost, and for each other one what the marker above it holds.
    """
    held: list[int] = []
    dropped = temporary(out, ".dropped")
    if PREVIOUS in shape.stack:
        out.begin_call(sys.exception)
        out.call(0)
        handled = temporary(out, f".stack{len(shape.stack)}")
        out.store_fast(handled)
    outermost = shape.stack.index(PREVIOUS) if PREVIOUS in shape.stack else None
    for depth in range(len(shape.stack) - 1, -1, -1):
        kind = shape.stack[depth]
        if kind == VALUE:
            held.append(temporary(out, f".stack{depth}"))
            out.store_fast(held[-1])
        elif kind == PREVIOUS:
            held.append(handled)
            if depth != outermost:
                handled = temporary(out, f".stack{depth}")
                out.copy()
                out.store_fast(handled)
            out.op("POP_EXCEPT")
        elif kind == NULL:
            out.store_fast(dropped)  # the one instruction that can take NULL off the stack
        else:
            out.pop_top()
    return held[::-1]


def temporary(out: Emitter, name: str) -> int:
    """A scratch slot that all uses of the name share."""
    try:
        return out.slot(name)
    except KeyError:
        return out.scratch(name)


def break_code(code: CodeType, index: int, shape: Shape, runtime: Runtime) -> CodeType:
    """Code that takes arguments as `resume_code` does and is left at once, as `emit_break` does: the innermost frame of a break.

    Made once for each combination. Raises ResumeError.
    """
    code, index, shape = user_state(code, index, shape)

    def make() -> CodeType:
        def leave(out: Emitter, program: Program) -> None:
            emit_break(out, program, index, shape, runtime)

        return left_code(code, index, shape, shape.stack, leave)

    return MADE.get(code, ("break", index, shape, runtime), make)


def left_code(code: CodeType, index: int, shape: Shape, stack: tuple[flow.Kind, ...], leave: Callable[[Emitter, Program], None]) -> CodeType:
    """Code that restores slots and `stack` and then does what `leave` emits."""
    program = decode(code)
    out = Emitter(code)
    with out.at(program.instructions[index].position):
        prologue = Prologue(out, program, shape)
        prologue.restore(stack)
        prologue.finish()
    for label, target in prologue.offsets:
        # Nothing is copied here; the offset only has to be one of an instruction at the same position.
        with out.at(program.instructions[target].position):
            over = Label()
            out.jump(over)
            out.place(label)
            out.op("NOP")
            out.place(over)
    leave(out, program)
    return out.finish(slots_are_arguments=True).code
