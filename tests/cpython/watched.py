"""A compiler that counts what it captures, and keeps the faults of its own: a test may swallow what it raises."""

from __future__ import annotations

import traceback
from typing import Any

from frameloom.compile.hook import Compiler, Settings
from frameloom.compile.pipeline import Capture
from frameloom.symbolic.domain import Domain


class Watched(Compiler):
    """Runs every frame by its entry; `figures` receives counts: captures, instructions, breaks by kind, and faults as text."""

    def __init__(self, domain: Domain, figures: dict[str, Any]) -> None:
        self.figures = figures
        figures.update(captures=0, instructions=0, breaks={}, faults=[])
        super().__init__(Settings(domain, replay=True, on_capture=self.count))

    def count(self, capture: Capture) -> None:
        figures, trace = self.figures, capture.trace
        figures["captures"] += 1
        figures["instructions"] += trace.session.instructions
        if trace.is_break:
            kind = trace.exit.reason.kind
            figures["breaks"][kind] = figures["breaks"].get(kind, 0) + 1
        trace.session.close()

    def compile(self, *frame: Any) -> Any:
        try:
            return super().compile(*frame)
        except Exception as error:
            shown = "".join(traceback.format_exception(error.__cause__ or error))
            self.figures["faults"].append(f"{frame[1].co_qualname}: {shown}")
            return None
