"""What was made of a function: one `Explanation` for a call, with a part for each frame that was captured."""
from __future__ import annotations

import dataclasses
from typing import Any

from frameloom.diagnostics.reports import BreakReport
from frameloom.report import html, text
from frameloom.report.frames import FrameExplanation, counted


@dataclasses.dataclass(frozen=True, slots=True)
class Explanation:
    """What one call of a compiled function was made into.

    title: names the function.  frames: in the order of their capture.  result: what the call returned.  eager: why something
    ran eagerly that might have been captured.
    `str()` gives the text, `html(path)` writes a page.
    """

    title: str
    frames: tuple[FrameExplanation, ...]
    result: Any = None
    eager: tuple[BreakReport, ...] = ()

    @property
    def graphs(self) -> int:
        return sum(bool(frame.graph) for frame in self.frames)

    @property
    def breaks(self) -> tuple[BreakReport, ...]:
        return tuple(report for frame in self.frames for report in frame.breaks)

    @property
    def summary(self) -> str:
        """The call in one line."""
        return ", ".join([counted(len(self.frames), "frame"), counted(self.graphs, "graph"),
                          counted(sum(frame.operations for frame in self.frames), "operation"),
                          counted(len(self.breaks), "break"),
                          f"captured in {sum(frame.seconds for frame in self.frames):.2f} s"])

    def __str__(self) -> str:
        return text.render(self.title, self.summary, self.frames, self.eager)

    def html(self, path: str) -> None:
        """Write the explanation as one self-contained page.  Raises OSError, and MissingDependency without jinja2."""
        page = html.render(self.title, self.summary, self.frames, self.eager)
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
