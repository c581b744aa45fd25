"""Waiting: resume functions of a frame whose waiting instruction has still to get what an inner frame returns.

The code begins with a call of what goes on with the inner frame, in the place of the waiting instruction, and goes on behind that as
any resume code. Captured, the inner frame is inlined: a chain of frames is one trace again.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from frameloom.bytecode import flow
from frameloom.bytecode.assemble import Label
from frameloom.bytecode.decode import decode
from frameloom.bytecode.emitter import Emitter
from frameloom.bytecode.program import Handler, Program
from frameloom.bytecode.versions import version

from .exits import Leave, Runtime
from .links import finish, further
from .resume import MADE, Prologue, ResumeError, Shape, State, register, user_state

MOST_INNER = 64
"""For so many codes of inner frames one waiting state has code of its own; with more it waits where it is."""


def joint(code: CodeType, index: int, shape: Shape, link: str, runtime: Runtime) -> Any:
    """A waiting state of a frame. Called with the tail record that its inner frame left, it gives the code that waits for what goes
    on there, or None where the frame must wait itself. Raises ResumeError."""
    return runtime.joint(_Maker(State(*user_state(code, index, shape)), link, runtime))


class _Maker:
    """Makes the code of a waiting state for the code of an inner frame, or None where there are too many."""

    __slots__ = ("state", "link", "runtime", "room")

    def __init__(self, state: State, link: str, runtime: Runtime) -> None:
        self.state = state
        self.link = link
        self.runtime = runtime
        self.room = MOST_INNER

    def __call__(self, inner: CodeType) -> CodeType | None:
        if self.room == 0:
            return None
        self.room -= 1
        return waiting_code(*self.state, self.link, self.runtime, inner)


def waiting_code(code: CodeType, index: int, shape: Shape, link: str, runtime: Runtime, inner: CodeType) -> CodeType:
    """The code object of a frame that waits at `index` for a function of the code `inner`, as `link` says.

    `shape` is the state below the operands of the waiting instruction. Its functions take what those of `resume_code` take, with further
    items at the end of the tuple: the values that `link` wants; then a tuple of the inner function and its arguments. They call it by
    `runtime.go_on`. Made once for each combination; `inner` lives as long. Raises ResumeError.
    """
    code, index, shape = user_state(code, index, shape)
    key = ("waiting", index, shape, link, runtime, id(inner))
    return MADE.get(code, key, lambda: _make(State(code, index, shape), link, runtime, inner))


def _make(state: State, link: str, runtime: Runtime, inner: CodeType) -> CodeType:
    code, index, shape = state
    program = decode(code)
    out = Emitter(code)
    call = Label()
    ways = Ways(out, program)
    with out.at(program.instructions[index].position):
        prologue = Prologue(out, program, shape)
        prologue.restore(shape.stack + further(link))
        prologue.finish()
        if link == "next":
            _ask_in_turn(out, program, index, shape, runtime, call, ways)
        else:
            run, leaves = finish(out, program, index, shape, link, lambda out, _: out.call_constant_under(runtime.go_on, at=call))
            _go_on(out, program, index, run, leaves, ways)
    copies = out.copy_body(program)
    for label, target in (*ways.labels, *prologue.offsets):
        label.unit = copies(target).unit
    return register(out, copies, state, (call, link, inner))


class Ways:
    """The ways from the prologue into the copied body, each with its label."""

    def __init__(self, out: Emitter, program: Program) -> None:
        self.out = out
        self.program = program
        self.labels: list[tuple[Label, int]] = []

    def to(self, index: int) -> Label:
        """A label for the copy of the instruction at a canonical index."""
        label = Label()
        self.labels.append((label, index))
        return label

    def begin_region(self, index: int) -> bool:
        """Have exceptions go where they go from the instruction at `index`."""
        handler: Handler | None = flow.handler_of(self.program, index)
        if handler is not None:
            self.out.begin_region(self.to(handler.target), handler.depth, handler.lasti)
        return handler is not None


def _go_on(out: Emitter, program: Program, index: int, run: Any, leaves: list[Leave], ways: Ways) -> None:
    jump = next((leave for leave in leaves if leave.op is not None), None)
    away = Label() if jump is not None else None
    covered = ways.begin_region(index)
    out.op("NOP")  # CPython 3.13.0 looks the handler up one unit before a call
    run(away)
    if covered:
        out.end_region()
    for leave in leaves:
        if leave.op is None:
            out.jump(ways.to(leave.target))
    if jump is not None and away is not None:
        out.place(away)
        out.landing(str(jump.op))
        out.jump(ways.to(jump.target))


def _ask_in_turn(out: Emitter, program: Program, index: int, shape: Shape, runtime: Runtime, call: Label, ways: Ways) -> None:
    """FOR_ITER, written out: the call gives the item, and StopIteration ends the loop, whose iterator is on top of `shape`."""
    instruction = program.instructions[index]
    if instruction.op != "FOR_ITER":
        raise ResumeError(f"{instruction.op} does not iterate")
    raised, other = Label(), Label()
    with out.region(raised, len(shape.stack)):
        out.op("NOP")
        out.call_constant_under(runtime.go_on, at=call)
    out.jump(ways.to(index + 1))
    out.place(raised)
    out.op("PUSH_EXC_INFO")
    out.load_const(StopIteration)
    out.op("CHECK_EXC_MATCH")
    out.op(version.POP_JUMP_IF + "FALSE", other)
    out.pop_top()
    out.op("POP_EXCEPT")
    out.pop_top()
    out.jump(ways.to(instruction.arg))
    out.place(other)
    out.swap()
    out.op("POP_EXCEPT")
    covered = ways.begin_region(index)
    out.op("RERAISE", 0)
    if covered:
        out.end_region()
