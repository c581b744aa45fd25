"""What is told about one break, one eager run or one recompile, as data and as a message of one screen.

The first line of a message is stable, and tools key on its code.  `docs/breaks/` has a page for each code.
"""
from __future__ import annotations

import dataclasses
import textwrap
from typing import Any

from frameloom.diagnostics.breaks import BREAKS, BreakKind
from frameloom.diagnostics.location import Location, excerpt, header, users_first

RESUMES = "the rest continues in a resume function"
REFUSED = "fullgraph=True asks for one graph, so nothing was compiled"
LONGEST_VALUE = 60
WIDTH = 110


@dataclasses.dataclass(frozen=True, slots=True)
class BreakReport:
    """One graph break, or one reason for running eagerly (`kind.eager`).

    kind: the row of `BREAKS`.  chain: locations, the innermost first, then the frames it was inlined into; empty where no
    code is to blame.  detail: what is special here, shown behind the carets.  captured: graph nodes recorded before.
    then: what happens to the rest.  notes: further facts, a line each.  help: advice in place of the kind's own.
    """

    kind: BreakKind
    chain: tuple[Location, ...] = ()
    detail: str = ""
    captured: int = 0
    then: str = RESUMES
    notes: tuple[str, ...] = ()
    help: str = ""

    @classmethod
    def of(cls, code: str, *args: Any, **kwargs: Any) -> BreakReport:
        """A report of the kind that has `code`.  Raises KeyError for a code that is not in the table."""
        return cls(BREAKS[code], *args, **kwargs)

    @property
    def title(self) -> str:
        """The stable first line: `graph break FL201: branch depends on tensor data`."""
        event = "running eager" if self.kind.eager else "graph break"
        return f"{event} {self.kind.code}: {self.kind.title}"

    @property
    def location(self) -> Location | None:
        """The innermost location that is the user's own code; the innermost of all where only libraries are involved."""
        return users_first(self.chain)[1][0] if self.chain else None

    def summary(self) -> str:
        """The message in one line: title, place, detail and notes."""
        place = f" at {self.location}" if self.chain else ""
        return "; ".join([f"{self.title}{place}" + (f": {self.detail}" if self.detail else ""), *self.notes])

    def render(self) -> str:
        """The message: title, place, excerpt with carets, what was captured, help and page."""
        library, chain = users_first(self.chain)
        facts = [("", note) for note in (*_inside(library), *self.notes)]
        if not self.kind.eager:
            plural = "" if self.captured == 1 else "s"
            facts.append(("captured so far", f"{self.captured} graph node{plural}; {self.then}"))
        facts.append(("help", self.help or self.kind.help))
        facts.append(("see", f" {self.kind.page}   (frameloom explain {self.kind.code})"))
        return _message(self.title, chain, self.detail, facts)

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data for the event log."""
        return {"code": self.kind.code, "title": self.kind.title, "detail": self.detail, "captured": self.captured,
                "chain": [location._asdict() for location in self.chain]}


@dataclasses.dataclass(frozen=True, slots=True)
class RecompileReport:
    """Why a call found no entry and the function is captured again.

    function: its qualified name.  entries, limit: how many it has, and may have.  check: the kind of guard that failed.
    path: what it guarded, as the user would write it.  old, new: printed values, made without running the user's code.
    chain: the user line that needed the guard, innermost first.  help: what to do about it.  changed: what changed, in words;
    by default the check and the path say it.  label: what is shown behind the carets.  time: which recompile of the function it is.
    done: what the new capture does about it.
    """

    function: str
    entries: int
    limit: int
    check: str
    path: str
    old: str
    new: str
    chain: tuple[Location, ...] = ()
    help: str = ""
    changed: str = ""
    label: str = ""
    time: int = 1
    done: str = ""

    @property
    def title(self) -> str:
        """The stable first line: `recompile of f: value of n changed`."""
        return f"recompile of {self.function}: {self.changed or f'{self.check} of {self.path} changed'}"

    @property
    def reason(self) -> str:
        """What `stats()` counts under: the check and what it guarded."""
        return f"{self.check} {self.path}"

    def render(self) -> str:
        """The message: what changed, the user line that read it, old and new value, and what to do."""
        library, chain = users_first(self.chain)
        facts = [("was", shortened(self.old)), ("now", shortened(self.new)), *(("", note) for note in _inside(library)),
                 ("entries", f"{self.entries} of at most {self.limit}; beyond that the function runs eagerly (FL902)")]
        if self.done:
            facts.append((f"recompile {self.time}", self.done))
        if self.help:
            facts.append(("help", self.help))
        return _message(self.title, chain, self.label, facts)

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data for the event log."""
        data = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {**data, "chain": [location._asdict() for location in self.chain]}


def shortened(text: str) -> str:
    """`text` on one line, cut in the middle where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_VALUE else f"{line[:LONGEST_VALUE - 15]} ... {line[-10:]}"


def _inside(library: tuple[Location, ...]) -> list[str]:
    """Where it happened inside a library that the user's line calls: the statement, and how far below."""
    shown = [location for location in library if not location.of_this_package]
    if not shown:
        return []
    below = "" if len(shown) == 1 else f", {len(shown)} calls below"
    text = shortened(shown[0].text)
    return [f"inside {shown[0]}{below}" + (f":  {text}" if text else "")]


def _message(title: str, chain: tuple[Location, ...], label: str, facts: list[tuple[str, str]]) -> str:
    lines = [title]
    shown: list[str] = []
    if chain:
        lines += header(chain)
        shown = excerpt(chain[0], label)
        lines += shown
    margin = len(shown[0]) - len(" |") if shown else 1
    if label and not shown:
        facts = [("", label), *facts]
    for name, text in facts:
        lines += _fact(f"{'':{margin}} = ", name, text)
    return "\n".join(lines)


def _fact(lead: str, name: str, text: str) -> list[str]:
    first = f"{lead}{name}: " if name else lead
    wrapped = textwrap.wrap(text, WIDTH - len(first), break_long_words=False, break_on_hyphens=False,
                            drop_whitespace=True) or [""]
    if text.startswith(" "):
        wrapped[0] = " " + wrapped[0].lstrip()
    return [first + wrapped[0], *(" " * len(first) + line for line in wrapped[1:])]
