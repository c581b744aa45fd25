"""An explanation as plain text."""
from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from frameloom.diagnostics.reports import BreakReport
from frameloom.report.frames import Check, FrameExplanation, counted


def render(title: str, summary: str, frames: Iterable[FrameExplanation], eager: Iterable[BreakReport] = ()) -> str:
    """An explanation as text: why something ran eagerly, and for each frame its checks, graph, effects, exit and breaks."""
    blocks = [f"{title}: {summary}", *(report.render() for report in eager), *("\n".join(_frame(frame)) for frame in frames)]
    return "\n\n".join(blocks)


def _frame(frame: FrameExplanation) -> Iterator[str]:
    yield f"{frame.name}  {frame.place}"
    yield f"  {frame.summary}"
    parts = {"checks": "\n".join(_checks(frame.checks)), "graph": frame.graph, "effects": frame.effects, "exit": frame.exit}
    for title, text in parts.items():
        if text.strip():
            yield f"  {title}"
            yield textwrap.indent(text.rstrip("\n"), "    ")
    for report in frame.breaks:
        yield textwrap.indent(report.render(), "  ")


def _checks(checks: tuple[Check, ...]) -> Iterator[str]:
    listed = [check for check in checks if not check.detail]
    width = max((len(check.text) for check in listed if len(check.text) <= 80), default=0)
    for check in listed:
        yield f"{check.text:<{width}}  {check.location.place}" if check.location else check.text
    if len(listed) < len(checks):
        yield f"and {counted(len(checks) - len(listed), 'check')} of classes, functions, modules and what look-ups pass by"
