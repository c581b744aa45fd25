"""Objects that only the root frame holds, and whose end shows: by a finaliser, or to weak references.

In plain Python such an object ends with the instruction that drops its last reference.  In a trace it would end when the entry's frame
does, behind all that the trace has read.  So the trace breaks before that instruction, wherever the reference was: in a variable, on the
stack, among the arguments of an inlined call, in a container or a cell that the trace made.  A frame without such objects pays nothing.

References are counted as CPython counts them (https://docs.python.org/3/library/sys.html#sys.getrefcount).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from frameloom.interpreter.frame import Frame
from frameloom.symbolic.displaced import MOST_SEEN, end_that_shows
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.layouts import held_by
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Obj

OF_A_FRAME = 4
"""References to an argument that only the frame holds: the frame's, the capture's tuple of arguments, a local variable, the question's."""

OF_AN_OBJECT = 3
"""References to what only one object holds: that object's, a local variable, the question's."""

BY_THE_QUESTION = 1
"""One more where another function asks: its parameter."""


def to_watch(names: tuple[str, ...], arguments: tuple, domain: Any) -> frozenset[int]:
    """The ids of such objects, given the names of a root's variables and its arguments, the first of them."""
    return frozenset(id(found) for found in _held_alone(names, arguments) if _end_shows(found, domain))


def _held_alone(names: tuple[str, ...], arguments: tuple) -> list[Any]:
    alone: list[Any] = []
    for index in range(len(arguments)):  # nothing that walks over them may hold one too
        found = arguments[index]
        if sys.getrefcount(found) > OF_A_FRAME:
            continue
        if not names[index].startswith("."):  # no name of the user's begins with a dot
            alone.append(found)
        elif type(found) is tuple:  # what a resume function goes on with
            alone += [item for item in found if sys.getrefcount(item) <= OF_AN_OBJECT]
    return alone


def _end_shows(found: Any, domain: Any) -> bool:
    try:
        shown = end_that_shows(
            [found], lambda at: domain.claims(type(at)) or at is not found and sys.getrefcount(at) > OF_AN_OBJECT + BY_THE_QUESTION
        )
    except GraphBreak:  # a class cannot be asked without running code of the program
        return True
    return shown is not MISSING


class Watching(dict):
    """Handlers of instructions by name, each followed by a look at whether the instruction let go of a watched object."""

    def __init__(self, handlers: Mapping[str, Callable], watched: frozenset[int]) -> None:
        self.handlers = handlers
        self.watched = watched

    def __missing__(self, op: str) -> Callable:
        handler = self.handlers[op]
        watched = self.watched

        def watching(frame: Frame, arg: Any) -> Any:
            before, state = _held(frame, watched), frame.snapshot()
            ended = handler(frame, arg)
            if ended is None and before and len(before) > len(held := _held(frame, watched)):
                frame.restore(state)
                classes = sorted({type.__repr__(type(before[at])) for at in before.keys() - held.keys()})
                raise GraphBreak("FL503", f"an object of {', '.join(classes)} ends here, and its end shows")
            return ended

        self[op] = watching
        return watching


def _held(frame: Frame, watched: frozenset[int]) -> dict[int, Any]:
    """The watched objects that a frame holds, or a caller of it in what stays when the call is over."""
    found: dict[int, Any] = {}
    waiting = [*frame.slots, *frame.stack]
    at = frame.parent
    while at is not None:
        waiting += at.slots
        waiting += at.stack if at.link is None else at.stack[: at.link.depth]
        at = at.parent
    peek = frame.session.observe.peek
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        real = peek(value)
        if real is not MISSING:
            if id(real) in watched:
                found[id(real)] = real
        elif type(value) is Obj and id(value) not in seen and len(seen) < MOST_SEEN:
            seen.add(id(value))
            waiting += held_by(value)
    return found
