"""How frames end: return, yield, exceptions looking for their handler, breaks on their way out."""

from __future__ import annotations

from typing import Any, NamedTuple

from frameloom.interpreter.frame import Checkpoint, Frame
from frameloom.symbolic.layouts.exception import ExceptionBody, grow_traceback
from frameloom.symbolic.signals import GraphBreak, Suspend, SymbolicRaise
from frameloom.symbolic.values import NONE, Const, Obj, Value

RETURN = "return"
YIELD = "yield"


class Reason(NamedTuple):
    """Why a trace stops: the FL code (or "exception"), details, help, and where."""

    kind: str
    details: str
    help: str | None
    where: Any


EXCEPTION_EXIT = "exception"


def land(frame: Frame, signal: SymbolicRaise) -> bool:
    """Send a raised exception to the handler that covers the instruction; False where it must go on out of the frame."""
    if not _raises_again(frame.program.instructions[frame.index]):
        grow_traceback(frame.session, signal.value, (frame.program.code, frame.index))
    handler = frame.program.handler_at(frame.index)
    if handler is None:
        if may_be_caught(frame):
            _leave(frame, signal)
            return False
        raise stop(frame, Reason(EXCEPTION_EXIT, _describe(signal.value), None, frame.session.where()))
    _remember_origin(frame, signal)
    del frame.stack[handler.depth :]
    if handler.lasti:
        frame.stack.append(Const(frame.program.groups[frame.program.instructions[frame.index].origin].offset // 2))
    frame.stack.append(signal.value)
    frame.next = handler.target
    return True


def _leave(frame: Frame, signal: SymbolicRaise) -> None:
    """An exception goes on to a caller that handles it.  What must be raised for real is raised here, where the callers wait."""
    if signal.origin is not None or not _callers_wait(frame):
        return
    session, exception = frame.session, signal.value
    place = (frame.program.code, frame.index)
    if type(exception) is not Obj or exception.real is not None:
        raise stop(frame, Reason("FL005", "an exception that exists already is raised", None, session.where()))
    if ("raise", *place) in session.decisions:
        raise stop(frame, Reason("FL005", "an exception that escapes its handler is raised here", None, session.where()))
    signal.origin = place


def _callers_wait(frame: Frame) -> bool:
    """Whether all frames from this one up to the first that handles an exception can wait for those below across a break."""
    at = frame
    while at.generator is None and at.parent is not None and at.parent.link is not None:
        at = at.parent
        if at.program.handler_at(at.index) is not None:
            return at.generator is None
    return False


def _describe(exception: Value) -> str:
    return getattr(exception.cls, "__qualname__", "exception")


def may_be_caught(frame: Frame) -> bool:
    """Whether somebody between this frame and the root may handle an exception: a handler, or a rule that called back."""
    at = frame.parent
    while at is not None:
        if at.link is None or at.program.handler_at(at.index) is not None:
            return True
        at = at.parent
    return False


def _remember_origin(frame: Frame, signal: SymbolicRaise) -> None:
    """Keep the state before the raising instruction: a break while the handler runs goes back there, since the exception
    that the user sees must be the real one, with its traceback."""
    session, exception = frame.session, signal.value
    program = frame.program
    if type(exception) is not Obj or exception.real is not None:
        if not _raises_again(program.instructions[frame.index]):
            raise GraphBreak("FL005", "an exception that exists already is raised")
        return
    if ("raise", program.code, frame.index) in session.decisions:
        raise GraphBreak("FL005", "an exception that escapes its handler is raised here")
    known = frame.origins.get(id(exception))
    if known is None:
        known = Checkpoint(
            exception, frame.mark, frame.index, list(frame.slots), list(frame.stack), list(frame.caught)
        )
        frame.origins[id(exception)] = known
    if isinstance(exception.body, ExceptionBody) and not exception.body.raised:
        _require_no_context(session, exception.body)
        session.journal.set_field(exception.body, "raised", signal.origin or (program.code, frame.index))
        session.journal.append(session.raised, exception)
    frame.caught = [*frame.caught, known]


def _raises_again(instruction: Any) -> bool:
    """Whether an instruction raises what a handler of its frame handles: then no traceback grows."""
    return instruction.op in ("RERAISE", "CLEANUP_THROW") or instruction.op == "RAISE_VARARGS" and instruction.arg == 0


def _require_no_context(session: Any, body: ExceptionBody) -> None:
    """An exception has no context only where nobody handles one, the callers of the root included."""
    if body.context is NONE:
        session.handling()


def forget_origin(frame: Frame, exception: Value) -> None:
    """The handler of an exception is done."""
    frame.caught = [point for point in frame.caught if point.exception is not exception]


def split_origin(frame: Frame, exception: Value | None, part: Value) -> None:
    """The handler of an exception handles a part of it from here on (`except*`)."""
    frame.caught = [point._replace(exception=part) if point.exception is exception else point for point in frame.caught]


def may_be_left(frame: Frame) -> bool:
    """Whether a break may be at the frame's current instruction, whatever the instruction is: a group of the code begins there,
    and the prefix, which no resume function can take up, is behind it."""
    program, index = frame.program, frame.index
    return index >= program.start and program.group_of(index).first == index


def stop(frame: Frame, reason: Reason) -> Suspend:
    """The signal for a break at the frame's current instruction; takes back what the instruction did so far."""
    frame.session.rollback(frame.mark)
    suspended = Suspend(reason)
    suspended.chain.append(frame)
    return suspended


def break_here(frame: Frame, signal: GraphBreak) -> Suspend:
    """A graph break raised by the frame's current instruction."""
    return stop(frame, Reason(signal.kind, signal.details, signal.help, frame.session.where()))


def pass_through(frame: Frame, suspended: Suspend) -> Suspend:
    """A break of a frame below: this one waits for it where it can, and otherwise breaks itself at its own instruction."""
    if frame.link is not None and frame.generator is None:
        suspended.chain.append(frame)
        return suspended
    return stop(frame, suspended.reason)


def settle(chain: list[Frame]) -> list[Frame]:
    """The frames of a break, outermost first, in the state they resume from.

    A frame that is handling an exception made by the trace goes back to the instruction that raised it; what it had called
    since is forgotten with it.
    """
    outermost_first = list(reversed(chain))
    for position, frame in enumerate(outermost_first):
        if frame.caught:
            point = frame.caught[0]
            frame.session.rollback(point.mark)
            frame.index = point.index
            frame.slots = list(point.slots)
            frame.stack = list(point.stack)
            frame.caught = list(point.caught)
            frame.link = None
            return settle(list(reversed(outermost_first[: position + 1])))
    return outermost_first
