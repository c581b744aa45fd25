"""Running a root frame symbolically: from a real call to a finished trace."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable
from typing import Any, NamedTuple

import frameloom.interpreter.opcodes  # noqa: F401  the handlers register themselves
import frameloom.rules  # noqa: F401  and so do the rules
from frameloom.codegen.bridge import bridge_code
from frameloom.codegen.build import NeedsItself, Reached
from frameloom.codegen.kinds import exceptions_of
from frameloom.codegen.merge import place_of
from frameloom.codegen.plan import Break, FrameState, Return, values_of
from frameloom.codegen.resume import Origin, ResumeError, origin_of, users_code
from frameloom.codegen.suspend import shape_of
from frameloom.compile.whole_frames import needs_its_frame, reads_frame
from frameloom.interpreter.calls import enter_root
from frameloom.interpreter.exits import EXCEPTION_EXIT, settle
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.iteration import dies_quietly, would_run_code
from frameloom.interpreter.loop import run
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.exceptions import Traceback
from frameloom.symbolic.declared import Declared
from frameloom.symbolic.layouts import layout_of
from frameloom.symbolic.layouts.exception import ExceptionBody
from frameloom.symbolic.layouts.generator import GeneratorBody
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.session import Depth, Session
from frameloom.symbolic.signals import RestartCapture, Suspend
from frameloom.symbolic.source import Source
from frameloom.symbolic.values import Lazy, Obj, Previous


class Trace(NamedTuple):
    """A finished trace: all that it learnt, and how it ended (a Return or a Break of `codegen.plan`)."""

    session: Session
    program: Any
    exit: Any

    @property
    def must_stay_whole(self) -> bool:
        """Whether the root's own instruction asks for its frame: the object it gets must be that of the whole call.  Or a frame
        stopped at the call of another one for which it waits: that call is made as it is.  Or a resume function has not even got
        what it goes on with."""
        exit_ = self.exit
        if type(exit_) is not Break:
            return False
        alone = len(exit_.frames) == 1 and (exit_.reads_frame or _in_prologue(exit_.frames[0]))
        return alone or stands_before(exit_.frames[-1])

    @property
    def is_break(self) -> bool:
        """Whether a graph break ended it; an exception of the user's program is none."""
        return type(self.exit) is Break and self.exit.reason.kind != EXCEPTION_EXIT


def _in_prologue(state: FrameState) -> bool:
    origin = origin_of(state.program.code)
    return origin is not None and origin.indices[state.index] is None


def trace(
    function: types.FunctionType, code: types.CodeType, arguments: tuple, domain: Any, decisions: frozenset, promoted: Iterable[tuple],
    declared: Declared | None = None,
) -> Trace:
    """Run a call of `function` symbolically.

    `decisions` are answers that earlier tries of this capture, or earlier captures, settled; `promoted` are paths of numbers
    that are read at run time; `declared` is what the program says of the arguments.  Raises RestartCapture, and RecursionError where the stack is too short for the root alone.
    """
    session = Session(domain, decisions)
    session.machine = Machine(session)
    session.ambient = sys.exception()
    session.declared = declared
    session.observe.promoted = frozenset(source_at(session, path) for path in promoted)
    try:
        return _traced(session, function, code, arguments, domain)
    except BaseException as error:
        deepest = session.deepest
        session.close()
        if isinstance(error, RecursionError) and deepest > 0:
            raise RestartCapture(Depth(deepest // 2)) from None
        raise


def _traced(session: Session, function: types.FunctionType, code: types.CodeType, arguments: tuple, domain: Any) -> Trace:
    try:
        frame = enter_root(session.machine, function, code, arguments)
        session.guard("IS", session.sources.function_globals(), function.__globals__)
        domain.begin(session)
        exit_ = _run(session, frame)
        domain.ended(session, type(exit_) is Break)
        _require_order(session, exit_)
        _require_unseen(session, exit_)
        _require_buildable(session, exit_)
        _require_closed(session, exit_)
        _guard_distinct(session)
        return Trace(session, frame.program, exit_)
    finally:
        domain.abandon(session)


def source_at(session: Session, path: tuple) -> Source:
    """The source of a session that a path of (step, key) names."""
    (step, key), *rest = path
    if step == "const":
        source = session.sources.const(key.held)
    else:
        source = session.sources._root(step, key)
    for step, key in rest:
        source = source.child(step, key)
    return source


def path_of(source: Source) -> tuple:
    """The same the other way round; it may be a key of a dictionary."""
    root, *rest = source.path()
    key = Held(root.key) if root.step == "const" else root.key
    return ((root.step, key), *((step.step, step.key) for step in rest))


class Held:
    """An object by identity."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return type(other) is Held and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)


def _run(session: Session, frame: Frame) -> Any:
    try:
        run(session, frame)
    except Suspend as suspended:
        return _break(session, suspended)
    return Return(frame.result)


def stands_before(frame: FrameState) -> bool:
    """Whether a frame stands in what a resume code has before the user's instructions."""
    origin = origin_of(frame.program.code)
    return origin is not None and (origin.indices[frame.index] is None or is_call_of_inner(origin, frame.index))


def is_call_of_inner(origin: Origin, index: int) -> bool:
    """Whether the instruction is the call by which a resume code goes on with an inner frame."""
    return origin.waits is not None and origin.waits.call == index


# -- breaks ----------------------------------------------------------------------------------------------------------


def _break(session: Session, suspended: Suspend) -> Break:
    _require_real(session, suspended.chain)
    frames = settle(suspended.chain)
    frames[-1].link = None
    reads = reads_frame(session, frames[-1])
    if reads and len(frames) > 1:
        frames.pop()
        _take_back(session, frames[-1])
    asking = next((position for position, frame in enumerate(frames) if needs_its_frame(frame)), None)
    if asking == 0:
        reads, asking = True, 1
    if asking is not None and asking < len(frames):
        del frames[asking:]
        _take_back(session, frames[-1])
    frames = _that_can_wait(session, frames)
    for frame in frames:
        _resolve_cells(session, frame)
    return Break(_states(session, frames, suspended.reason.kind not in DIES), suspended.reason, reads)


def _require_real(session: Session, chain: list[Frame]) -> None:
    """A break while an exception of the trace's own is handled goes back to its raise.  Where that was in an inner frame for which a resume
    code had waited, the call cannot be made again: the next try breaks at the raise itself."""
    handling = next((frame for frame in reversed(chain) if frame.caught), None)
    if handling is None:
        return
    point, origin = handling.caught[0], origin_of(handling.program.code)
    if origin is not None and is_call_of_inner(origin, point.index) and isinstance(point.exception.body, ExceptionBody):
        decision = ("raise", *point.exception.body.raised)
        if decision not in session.decisions:
            raise RestartCapture(decision)


def _take_back(session: Session, frame: Frame) -> None:
    """Make a waiting frame stop before its instruction."""
    session.rollback(frame.mark)
    frame.link = None


def _that_can_wait(session: Session, frames: list[Frame]) -> list[Frame]:
    """The frames down to the first that has no way to wait for the next one; that one takes its instruction back."""
    for position, frame in enumerate(frames[:-1]):
        if _is_hidden(frames[position + 1]) or not _can_wait(session, frame):
            _take_back(session, frame)
            return frames[: position + 1]
    return frames


def _is_hidden(frame: Frame) -> bool:
    """Whether the frame is of a function of this package that stands for one of C: no traceback must show it."""
    return str(frame.globals.get("__name__")).startswith("frameloom.rules.")


def _can_wait(session: Session, frame: Frame) -> bool:
    state = _state(frame, [])
    try:
        bridge_code(state.program.code, state.index, shape_of(state), state.link.kind, CHECKING, True)
    except ResumeError:
        return False
    return True


class _NothingRuns(NamedTuple):
    tail: Any = print
    caught: Any = print
    trampoline: Any = print
    enter: Any = print
    go_on: Any = print
    take: Any = print
    joint: Any = lambda make: print


CHECKING = _NothingRuns()
"""Stands for the native functions in code that is made to see whether it can be made."""


def _resolve_cells(session: Session, frame: Frame) -> None:
    """Whether a slot holds a cell or a value decides about the code that goes on, so it must be known."""
    for index, slot in enumerate(frame.program.slots):
        if slot.kind != "local" and type(frame.slots[index]) is Lazy:
            frame.slots[index] = session.observe.resolve(frame.slots[index])


DIES = frozenset({"FL503", "FL113"})
"""Breaks at which the death of an object will show, since it runs code or a weak reference sees it: its frame must end by itself, not when
the trace of a whole chain does."""


def _states(session: Session, frames: list[Frame], may_join: bool) -> tuple[FrameState, ...]:
    """The frames as data, each with the exceptions it handles: what is handled is known for the innermost marker, and each
    marker knows what was handled before.  Frames go on together, but not where functions call each other over and over: every
    depth of a recursion would be a trace of its own, so that the outer frame waits for a result."""
    handled = session.handled
    states: list[FrameState] = []
    together: list[int] = []
    for frame in reversed(frames):
        stack = _kept_stack(frame)
        state = _state(frame, exceptions_of(stack, handled))
        code = id(users_code(frame.program.code))
        joined = may_join and frame.link is not None and not recurs([code, *together])
        together = [code, *together] if joined else [code]
        states.append(state._replace(joined=joined))
        handled = next((value.value for value in stack if type(value) is Previous), handled)
    return tuple(reversed(states))


MOST_OF_ONE = 12
"""So many frames of one function go on together at most."""


def recurs(codes: list[int]) -> bool:
    """Whether a chain of functions, outermost first, begins with the same calls twice in a row.  A function that is there more than once
    is not enough: a module's `__call__` is below that of each module around it."""
    again = [place for place, code in enumerate(codes) if place and code == codes[0]]
    return len(again) >= MOST_OF_ONE or any(codes[:place] == codes[place : 2 * place] for place in again)


def _state(frame: Frame, handled: list) -> FrameState:
    program = frame.program
    stack = _kept_stack(frame)
    index = _waiting_index(frame)
    if index is not None:
        return FrameState(program, index, tuple(frame.slots), tuple(stack), tuple(handled), frame.function, frame.link, frame.globals)
    first = program.group_of(frame.index).first
    between = program.instructions[first : frame.index]
    if any(instruction.op not in _ONLY_PUSH for instruction in between):
        raise AssertionError(f"{program!r} stops inside a group, behind {between}")
    stack = stack[: len(stack) - len(between)] if between else stack
    return FrameState(
        program, first, tuple(frame.slots), tuple(stack), tuple(handled), frame.function, frame.link, frame.globals
    )


def _waiting_index(frame: Frame) -> int | None:
    """Where the user's instruction stands for which a resume code has called an inner frame."""
    origin = origin_of(frame.program.code)
    waits = origin.waits if origin is not None and frame.link is not None else None
    return waits.index if waits is not None and waits.call == frame.index else None


_ONLY_PUSH = frozenset({"PUSH_NULL", "LOAD_CONST", "LOAD_FAST"})


def _kept_stack(frame: Frame) -> list:
    return frame.stack if frame.link is None else frame.stack[: frame.link.depth]


# -- exceptions ------------------------------------------------------------------------------------------------------


def _require_unseen(session: Session, exit_: Any) -> None:
    """An exception that a handler caught has no real traceback: where it outlives the trace, the next try breaks at its raise."""
    if not session.raised:
        return
    for obj in _outliving(session, exit_):
        exception = obj.body.exception if type(obj.body) is Traceback else obj
        if isinstance(exception.body, ExceptionBody) and exception.body.raised:
            raise RestartCapture(("raise", *exception.body.raised))


def _outliving(session: Session, exit_: Any) -> list[Obj]:
    """The fresh objects that the trace leaves behind."""
    reached = Reached()
    reached.add(exit_.values())
    reached.add(value for operation in session.operations for value in values_of(operation))
    return reached.fresh


def _left_in_place(session: Session, exit_: Any) -> list[Obj]:
    """Those of them that stand, at the end, where the trace has put them: what a later write displaces does not."""
    reached = Reached()
    reached.add(exit_.values())
    last: dict[tuple, Any] = {}
    for number, operation in enumerate(session.operations):
        target = id(operation.target)
        if (items := _items_now(operation.target)) is not None:
            last[target, "items"] = items
        elif operation.kind == "dict.clear":
            last = {place: values for place, values in last.items() if place[0] != target}
        else:
            last[place_of(operation) or (None, number)] = values_of(operation)
    for values in last.values():
        reached.add(values)
    return reached.fresh


def _items_now(target: Any) -> list | None:
    """What a list that the trace has read through holds; None for anything else."""
    return target.body.items if type(target) is Obj and type(target.body) is ListBody else None


def _require_buildable(session: Session, exit_: Any) -> None:
    """An object that cannot be made anew must not outlive the trace: the next try breaks where it is made."""
    if not session.binds:
        return
    for obj in _outliving(session, exit_):
        if layout_of(obj.cls).is_bound(obj):
            program, index, _ = obj.where
            raise RestartCapture(("make", program.code, index))


def _require_closed(session: Session, exit_: Any) -> None:
    """A generator that is dropped runs its handlers at that very moment: the next try breaks where it is made."""
    if not any(map(would_run_code, session.generators)):
        return
    outliving = {id(obj) for obj in _left_in_place(session, exit_)}
    for generator in session.generators:
        if would_run_code(generator) and id(generator) not in outliving and not dies_quietly(session.machine, generator):
            program, index, _ = generator.where
            raise RestartCapture(("drop", program.code, index))


def _require_order(session: Session, exit_: Any) -> None:
    """A generator that holds itself cannot be rebuilt: the next try breaks where it is made."""
    if not session.generators:
        return
    try:
        _outliving(session, exit_)
    except NeedsItself as circle:
        generator = next(obj for obj in circle.objects if isinstance(obj.body, GeneratorBody))
        program, index, _ = generator.where
        raise RestartCapture(("drop", program.code, index)) from None


# -- aliases ---------------------------------------------------------------------------------------------------------


def _guard_distinct(session: Session) -> None:
    """Where the trace wrote to one of several objects of a class, they must be as different as they were (law 2)."""
    written = {id(value) for value in session.written.values()}
    groups: dict[type, list] = {}
    for value in session.observe.seen.values():
        if type(value) is Obj and value.source is not None and value.source.root().step != "const":
            groups.setdefault(value.cls, []).append(value)
    for group in groups.values():
        if len(group) > 1 and any(id(value) in written for value in group):
            first, *others = [value.source for value in group]
            session.guard("DISTINCT", first, tuple(others))


