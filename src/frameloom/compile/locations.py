"""Positions of a trace as locations in the user's source."""

from __future__ import annotations

import itertools
import types
from typing import Any

from frameloom.diagnostics.location import Location, definition


def location_of(program: Any, index: int) -> Location:
    """The place of one instruction."""
    code = program.code
    line, end_line, column, end_column = program.instructions[index].position
    return Location(code.co_filename, line, column, end_line, end_column, code.co_qualname)


def chain_of(where: Any) -> tuple[Location, ...]:
    """The places of an instruction and of the calls that it was inlined through, innermost first."""
    found = []
    while where is not None:
        program, index, where = where
        found.append(location_of(program, index))
    return tuple(found)


def caller(frame: types.FrameType | None) -> tuple[Location, ...]:
    """The place in the user's own code from which the running frame is called; empty where only libraries call."""
    while frame is not None:
        code = frame.f_code
        line, end_line, column, end_column = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None))
        found = Location(code.co_filename, line, column, end_line, end_column, code.co_qualname)
        if not found.of_library:
            return (found,)
        frame = frame.f_back
    return ()


def first_line(code: Any) -> Location:
    """The place of a function: the line of its `def`, behind its decorators."""
    return definition(code.co_filename, code.co_firstlineno, code.co_qualname)
