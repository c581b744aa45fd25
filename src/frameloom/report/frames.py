"""What was made of one captured frame, as it is shown: source, checks, graph, effects, exit and breaks."""
from __future__ import annotations

import dataclasses
import linecache
from collections.abc import Iterator
from types import CodeType

from frameloom.diagnostics.location import Location
from frameloom.diagnostics.reports import BreakReport


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """A guard as it is shown: its text, and the user line that needed it.

    detail: it holds of classes, functions and modules, or of what look-ups pass by, rather than of values that the program
    reads.
    """

    text: str
    location: Location | None = None
    detail: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of the user's source."""

    number: int
    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class FrameExplanation:
    """What was made of one frame: of the function itself, or of the rest of it behind a break.

    name: qualified name.  filename, source: where it stands, and its lines.  checks: in the order in which the trace needed them.
    graph: readable text, empty where nothing was captured.  operations: how many call nodes it has.  effects: what is
    replayed behind the graph.  exit: how the frame ends.  breaks: innermost location first.  seconds: of the capture,
    backend included.
    """

    name: str
    filename: str
    source: tuple[SourceLine, ...] = ()
    checks: tuple[Check, ...] = ()
    graph: str = ""
    operations: int = 0
    effects: str = ""
    exit: str = ""
    breaks: tuple[BreakReport, ...] = ()
    seconds: float = 0.0

    @property
    def place(self) -> str:
        """`file:line` of the first line."""
        return Location(self.filename, self.source[0].number if self.source else None).place

    @property
    def summary(self) -> str:
        """The frame in one line."""
        return ", ".join([counted(self.operations, "operation"), counted(len(self.checks), "check"),
                          counted(len(self.breaks), "break"), f"captured in {self.seconds:.2f} s"])


def source_lines(code: CodeType) -> tuple[SourceLine, ...]:
    """The lines of the function that has `code`, decorators included; none where the source cannot be read."""
    numbers = sorted({number for number in _lines_of(code)})
    if not numbers:
        return ()
    texts = [linecache.getline(code.co_filename, number) for number in range(numbers[0], numbers[-1] + 1)]
    if not any(texts):
        return ()
    return tuple(SourceLine(number, text.rstrip("\r\n")) for number, text in enumerate(texts, numbers[0]))


def _lines_of(code: CodeType) -> Iterator[int]:
    yield code.co_firstlineno
    for start, end, _, _ in code.co_positions():
        yield from (number for number in (start, end) if number is not None and number >= code.co_firstlineno)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines_of(constant)


def counted(number: int, noun: str) -> str:
    """`1 graph`, `2 graphs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

