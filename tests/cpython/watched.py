"""A compiler that counts what it captures, and keeps the faults of its own: a test may swallow what it raises."""

from __future__ import annotations

import sys
import traceback
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

from frameloom.compile.hook import Compiler, Settings
from frameloom.compile.pipeline import Capture
from frameloom.native import Entry
from frameloom.symbolic.domain import Domain


class Figures:
    """What happened: captures, breaks by kind, faults as text; `symbolic` instructions, counted at each run of an entry."""

    def __init__(self) -> None:
        self.captures = 0
        self.breaks: Counter[str] = Counter()
        self.faults: list[str] = []
        self._alive: list[tuple[weakref.ref[Entry], int]] = []
        self._seen: dict[weakref.ref[Entry], int] = {}
        self._symbolic = 0

    def entry(self, entry: Entry, instructions: int) -> None:
        """An entry whose every run stands for so many instructions."""
        reference = weakref.ref(entry)
        self._alive.append((reference, instructions))
        self._seen[reference] = 1
        self._symbolic += instructions

    def summary(self) -> dict[str, Any]:
        """All of it as data; entries that die between two summaries may have run more often than is told."""
        alive = []
        for reference, instructions in self._alive:
            entry = reference()
            if entry is None:
                del self._seen[reference]
                continue
            alive.append((reference, instructions))
            hits = max(1, entry.hits)
            self._symbolic += instructions * (hits - self._seen[reference])
            self._seen[reference] = hits
        self._alive = alive
        return {
            "captures": self.captures, "breaks": dict(self.breaks), "faults": list(self.faults), "symbolic": self._symbolic
        }


ROOM = 400
"""Calls that a capture may need below it: with less a RecursionError is the program's doing."""


def room() -> int:
    """How many more calls the interpreter allows."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    return sys.getrecursionlimit() - depth


class Watched(Compiler):
    """Runs every frame by its entry, and fills `figures`; `instructions()` tells how many the last trace has run."""

    def __init__(self, domain: Domain, figures: Figures, instructions: Callable[[], int] = lambda: 0) -> None:
        self.figures = figures
        self.instructions = instructions
        super().__init__(Settings(domain, replay=True, on_capture=self.count))

    def count(self, capture: Capture) -> None:
        figures, trace = self.figures, capture.trace
        figures.captures += 1
        figures.entry(capture.entry, self.instructions())
        if trace.is_break:
            figures.breaks[trace.exit.reason.kind] += 1
        trace.session.close()

    def compile(self, *frame: Any) -> Any:
        try:
            return super().compile(*frame)
        except Exception as error:
            if isinstance(error.__cause__ or error, RecursionError) and room() < ROOM:
                self.figures.breaks["FL905"] += 1
                return None
            shown = "".join(traceback.format_exception(error.__cause__ or error))
            self.figures.faults.append(f"{frame[1].co_qualname}: {shown}")
            return None
