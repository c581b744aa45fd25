"""Objects that the program lets go of by name: what dies with them runs code at that very moment, or is seen by weak references.

A trace goes on as if the object lived until the frame ends.  That is right only where nobody can tell.
"""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.frame import Frame
from frameloom.symbolic.displaced import SHARED, end_that_shows, shows, takes_weak_references
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.real import stands_on
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.source import Source
from frameloom.symbolic.values import Lazy, Obj, Value


def let_go(frame: Frame, slot: int) -> None:
    """A slot stops holding its value: break where that may be the end of an object whose death shows."""
    if not frame.program.slots[slot].name.startswith("."):  # no name of the user's begins with a dot
        _let_go(frame, frame.slots[slot])


def drop(frame: Frame) -> None:
    """The value on top of the stack is dropped: the same."""
    value = frame.stack[-1]
    if type(value) is Obj or type(value) is Lazy:
        _let_go(frame, value)


def _let_go(frame: Frame, value: Value) -> None:
    if type(value) is not Obj and type(value) is not Lazy or value.real is None or frame.parent is not None:
        return
    source = value.real.source
    if not _is_own(frame, source) or _held_elsewhere(frame, value):
        return
    found = frame.session.observe.peek(value)
    if type(found) in ATOMS or stands_on(found, *SHARED) or frame.session.domain.claims(type(found)):
        return
    if end_that_shows([found], lambda at: False) is not MISSING:
        raise GraphBreak("FL503", f"an object of class {type.__repr__(type(found))} is let go of, and its end shows")
    if takes_weak_references(type(found)):
        frame.session.guard("CALL", source, (_unseen, None, "nobody sees the end of {}"))


def _is_own(frame: Frame, source: Source) -> bool:
    """Whether the root was given the object itself, or in a tuple that it has let go of (what a resume function goes on with)."""
    if source.base is None:
        return source.step == "local"
    if source.step != "item" or source.base.base is not None or source.base.step != "local":
        return False
    return not any(getattr(place, "source", None) is source.base for place in frame.slots)


def _held_elsewhere(frame: Frame, value: Value) -> bool:
    places = (*frame.slots, *frame.stack)
    return sum(place is value or type(place) is Lazy and place.real is value.real for place in places) > 1


def _unseen(found: Any, _: None) -> bool:
    """The guard: no weak reference to the object is there, and its class has no finaliser."""
    return not shows(found)
