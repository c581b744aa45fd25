"""Bridges: a suspended parent frame whose waiting instruction calls the next inner frame's code instead."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType

from frameloom.bytecode.assemble import Label
from frameloom.bytecode.emitter import Emitter
from frameloom.bytecode.program import Program
from frameloom.bytecode.versions import version

from .exits import Runtime, check_place, emit_record, leave_group, left_code, take_stack, temporary
from .links import finish, further
from .resume import MADE, Shape, user_state
from .waiting import joint


def bridge_code(code: CodeType, index: int, shape: Shape, link: str, runtime: Runtime, joined: bool) -> CodeType:
    """The code object of a parent frame that waits at `index` for an inner frame, as `link` (one of LINKS) says.

    `shape` is the state below the operands of the waiting instruction. A function made of it takes arguments as one of
    `resume_code` does, with further items at the end of the tuple: the values that `link` wants; then a tail record of the inner
    call. It makes the call under the handlers of the waiting instruction, whose operands it replaces, and is left as
    `emit_break` leaves. If it is `joined` and a tail record comes back, it is left too: what goes on is code that waits for what
    goes on there (`waiting.py`). Otherwise it stays until there is a result.

    Made once for each combination. Raises ResumeError.
    """
    code, index, shape = user_state(code, index, shape)

    def make() -> CodeType:
        def leave(out: Emitter, program: Program) -> None:
            emit_bridge(out, program, index, shape, link, runtime, joined)

        return left_code(code, index, shape, shape.stack + further(link), leave)

    return MADE.get(code, ("bridge", index, shape, link, runtime, joined), make)


def emit_bridge(out: Emitter, program: Program, index: int, shape: Shape, link: str, runtime: Runtime, joined: bool) -> None:
    """The same for code that has the user's slots already, such as the root's entry.

    At run time the stack is as `shape` says, with the values that `link` wants above it, and on top the record of the inner call.
    No path leads behind what is emitted. Raises ResumeError.
    """
    check_place(program, index)
    by = _ask_in_turn if link == "next" else _ask_plainly
    left = Label()
    goes_on = joint(program.code, index, shape, link, runtime) if joined else None

    def ask(out: Emitter, away: Label | None) -> None:
        if goes_on is None:
            by(out, runtime.trampoline, away)
        else:
            _ask_or_leave(out, by, away, goes_on, runtime, left)

    run, ways = finish(out, program, index, shape, link, ask)
    leave_group(out, program, program.group_of(index), shape, runtime, ways, run)
    if joined:
        with out.at(program.instructions[index].position):
            out.place(left)
            _leave_with(out, program, Shape((*shape.stack, *further(link)[1:]), shape.slots), runtime)


def _ask_plainly(out: Emitter, function: object, away: Label | None) -> None:
    out.call_constant_under(function)


def _ask_in_turn(out: Emitter, function: object, away: Label | None) -> None:
    """An iterator whose next item is the call, in the place of the real one: FOR_ITER itself tells an item from the end."""
    out.build_tuple(1)
    out.call_constant_before(map, function)
    out.swap()
    iterator = temporary(out, ".iterator")
    out.store_fast(iterator)
    out.op("FOR_ITER", away)
    out.swap()
    out.pop_top()
    out.move_fast(iterator)
    out.swap()


def _ask_or_leave(out: Emitter, by: Callable[..., None], away: Label | None, goes_on: object, runtime: Runtime, left: Label) -> None:
    """Go to `left`, with the record and the code that goes on on top, where the inner frame has left a record."""
    finished = Label()
    by(out, runtime.enter, away)
    out.copy()
    out.call_constant_under(type)
    out.load_const(runtime.tail)
    out.is_op()
    out.jump_if_false(finished)
    out.copy()
    out.call_constant_under(goes_on)
    out.copy()
    out.op(version.POP_JUMP_IF + "NOT_NONE", left)
    out.pop_top()
    by(out, runtime.trampoline, away)
    out.place(finished)


def _leave_with(out: Emitter, program: Program, shape: Shape, runtime: Runtime) -> None:
    """Return a record of the code on top, which gets the record below it as the call that it waits for.

    If a traceback keeps the inner frame it keeps this one as well, as the frame that called: its slots are emptied too.
    """
    code, record = temporary(out, ".code"), temporary(out, ".record")
    out.assume_depth(len(shape.stack) + 2)
    out.store_fast(code)
    out.store_fast(record)
    held = take_stack(out, shape)

    def call() -> None:
        out.move_fast(record)
        out.call_constant_under(runtime.take)

    plain = Label()
    out.load_fast(record)
    out.load_attr("caught")
    out.jump_if_false(plain)
    emit_record(out, program, shape, held, lambda: out.move_fast(code), runtime, further=call, move=True)
    out.place(plain)
    out.assume_depth(0)
    emit_record(out, program, shape, held, lambda: out.move_fast(code), runtime, further=call)
