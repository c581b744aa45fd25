"""The two signals of a trace.  They are unrelated classes on purpose: nobody catches one by catching the other."""

from __future__ import annotations

from typing import Any


class GraphBreak(Exception):
    """The instruction being run cannot be captured; the trace keeps what came before and breaks here.

    kind: the FL code of a row of diagnostics.breaks; details: one clause that names what was met.
    """

    def __init__(self, kind: str, details: str = "", help: str | None = None) -> None:
        super().__init__(f"{kind}: {details}")
        self.kind = kind
        self.details = details
        self.help = help


class SymbolicRaise(Exception):
    """The user's program raises; `value` is the exception as a Value.  `origin` is the place (code, index) of an inlined frame that it
    has left, if a break can be made there."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.origin: Any = None

    def __str__(self) -> str:
        return repr(self.value)


class Suspend(Exception):
    """A break on its way out of the inlined frames; `chain` is filled innermost first by the frames it passes."""

    def __init__(self, reason: Any) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.chain: list = []


class RestartCapture(Exception):
    """Law 4's one case: an answer that cannot be rolled back.  `decision` is added to the next try's decisions."""

    def __init__(self, decision: Any) -> None:
        super().__init__(repr(decision))
        self.decision = decision
