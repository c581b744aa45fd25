"""An explanation as one self-contained page: the user's source with breaks and checks at their lines, and the graphs."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import resources
from typing import NamedTuple

from frameloom.diagnostics.errors import MissingDependency
from frameloom.diagnostics.location import Location
from frameloom.diagnostics.reports import BreakReport
from frameloom.report.frames import Check, FrameExplanation

TEMPLATE = "page.html"


class Row(NamedTuple):
    """A source line with what stands at it."""

    number: int
    text: str
    checks: tuple[Check, ...]
    breaks: tuple[BreakReport, ...]


class Part(NamedTuple):
    """A frame as the template shows it.  checks, details: those of values, and the others.  breaks_elsewhere: at lines
    that are not the frame's own."""

    frame: FrameExplanation
    rows: tuple[Row, ...]
    checks: tuple[Check, ...]
    details: tuple[Check, ...]
    breaks_elsewhere: tuple[BreakReport, ...]


def render(title: str, summary: str, frames: Iterable[FrameExplanation], eager: Iterable[BreakReport] = ()) -> str:
    """The page as text.  Raises MissingDependency where jinja2 is not installed."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise MissingDependency("jinja2", "an explanation as HTML", extra="report") from None
    source = resources.files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    parts = [_part(frame) for frame in frames]
    return environment.from_string(source).render(title=title, summary=summary, parts=parts, eager=tuple(eager))


def _part(frame: FrameExplanation) -> Part:
    numbers = {line.number for line in frame.source}
    checks = tuple(check for check in frame.checks if not check.detail)
    own = {id(thing): line for thing in (*checks, *frame.breaks) if (line := _own_line(frame, thing)) in numbers}
    rows = tuple(Row(line.number, line.text, _at(checks, own, line.number), _at(frame.breaks, own, line.number))
                 for line in frame.source)
    return Part(frame, rows, checks, tuple(check for check in frame.checks if check.detail),
                tuple(report for report in frame.breaks if id(report) not in own))


def _at(things: tuple, own: dict[int, int], number: int) -> tuple:
    return tuple(thing for thing in things if own.get(id(thing)) == number)


def _own_line(frame: FrameExplanation, thing: Check | BreakReport) -> int | None:
    """The line of the frame's own file where `thing` belongs; for a break in an inlined call, the line of that call."""
    return next((location.lineno for location in _locations(thing) if location.filename == frame.filename
                 and _within(frame, location)), None)


def _within(frame: FrameExplanation, location: Location) -> bool:
    return bool(frame.source) and location.lineno is not None \
        and frame.source[0].number <= location.lineno <= frame.source[-1].number


def _locations(thing: Check | BreakReport) -> Iterator[Location]:
    if isinstance(thing, BreakReport):
        yield from thing.chain
    elif thing.location is not None:
        yield thing.location
