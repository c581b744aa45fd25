"""Where a call stands in the program: what warnings and logging write down about their callers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from frameloom.interpreter.frame import Frame
from frameloom.interpreter.machine import Machine
from frameloom.symbolic.signals import GraphBreak


class Caller(NamedTuple):
    """The place of a call: file, line, name of the function, its globals."""

    filename: str
    line: int
    function: str
    globals: dict


def caller(m: Machine, level: int, is_internal: Callable[[str], bool]) -> Caller:
    """The `level`-th frame outwards that is not internal, from the running one; breaks beyond the root of the trace."""
    frame: Frame | None = m.session.frame
    while frame is not None:
        if not is_internal(frame.program.code.co_filename):
            level -= 1
            if level <= 0:
                return _place(frame)
        frame = frame.parent
    raise GraphBreak("FL108", "the place of a call outside the compiled function")


def _place(frame: Frame) -> Caller:
    code = frame.program.code
    position: Any = frame.program.instructions[frame.index].position
    return Caller(code.co_filename, position.lineno or code.co_firstlineno, code.co_name, frame.globals)
