"""The loop: runs a frame's canonical instructions until it returns, yields, raises or breaks."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.endings import Watching
from frameloom.interpreter.exits import break_here, land, may_be_left, pass_through
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.registry import HANDLERS, REFUSALS
from frameloom.symbolic.signals import GraphBreak, Suspend, SymbolicRaise


def run(session: Any, frame: Frame) -> Any:
    """Run `frame` until it ends; gives "return" or "yield", the value being `frame.result`.

    Raises SymbolicRaise where the user's exception leaves the frame, Suspend where the trace breaks in it or below it.
    """
    caller = session.frame
    frame.parent = caller
    session.frame = frame
    instructions = frame.program.instructions
    undo = session.journal._undo
    watched = session.machine.watched
    handlers = Watching(HANDLERS, watched) if watched else HANDLERS
    count, room = 0, session.most_instructions - session.instructions
    try:
        while True:
            try:
                while True:
                    index = frame.next
                    frame.index = index
                    frame.mark = len(undo)
                    instruction = instructions[index]
                    frame.next = index + 1
                    count += 1
                    if count > room and may_be_left(frame):
                        raise GraphBreak("FL007", f"{session.most_instructions:,} instructions have been run")
                    ended = handlers[instruction[0]](frame, instruction[1])
                    if ended is not None:
                        return ended
            except SymbolicRaise as signal:
                session.frame = frame
                try:
                    landed = land(frame, signal)
                except GraphBreak as refused:
                    raise break_here(frame, refused) from None
                if not landed:
                    raise  # from here, so that no frame of the host holds the signal that holds it
            except GraphBreak as signal:
                session.frame = frame
                raise break_here(frame, signal) from None
            except Suspend as signal:
                session.frame = frame
                raise pass_through(frame, signal) from None
            frame.link = None
    finally:
        session.instructions += count
        session.frame = caller


def refuse_unknown(frame: Frame, arg: Any) -> None:
    """Handler of every opcode in the table of refusals."""
    refusal = REFUSALS[frame.program.instructions[frame.index].op]
    raise GraphBreak(refusal.kind, refusal.because)


def install_refusals() -> None:
    """Give each refused opcode the handler that breaks."""
    for name in REFUSALS:
        HANDLERS.setdefault(name, refuse_unknown)
