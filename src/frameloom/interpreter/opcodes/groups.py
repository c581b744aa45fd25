"""`except*` (PEP 654)."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.exits import split_origin
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.groups import matched, raised_again
from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.exceptions import exception_classes
from frameloom.interpreter.registry import opcode
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const


@opcode("CHECK_EG_MATCH")
def check_eg_match(frame: Frame, arg: Any) -> None:
    """(exception, classes) becomes (rest, match); what matched is being handled from here on."""
    session = frame.session
    m = session.machine
    exception, wanted = frame.stack[-2:]
    classes = exception_classes(m, wanted)
    if any(issubclass(cls, BaseExceptionGroup) for cls in classes):
        raise m.error(TypeError, "catching ExceptionGroup with except* is not allowed. Use except instead.")
    match, rest = matched(m, exception, wanted, classes)
    if type(match) is not Const:
        split_origin(frame, session.handled, match)
        session.journal.set_field(session, "handled", match)
    frame.stack[-2:] = [rest, match]


@opcode("CALL_INTRINSIC_2")
def call_intrinsic_2(frame: Frame, name: str) -> None:
    """Internal functions of two arguments: that of `except*`; those of type parameters break."""
    if name != "prep_reraise_star":
        raise GraphBreak("FL001", "an internal function of CPython")
    m = frame.session.machine
    frame.stack[-2:] = [raised_again(m, frame.stack[-2], unpack(m, frame.stack[-1]))]
