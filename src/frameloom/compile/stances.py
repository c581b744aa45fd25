"""What compiled callables do for a while: as always, run as they are, or go on with the entries that they have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

from frameloom import config
from frameloom.diagnostics import events
from frameloom.diagnostics.errors import WrongOption
from frameloom.diagnostics.reports import BreakReport
from frameloom.native import watch_stance

STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile")

_stance: ContextVar[str] = ContextVar("frameloom.stance", default="default")
_eager: ContextVar[bool] = ContextVar("frameloom.eager", default=False)

current: Callable[[], str] = _stance.get
"""The stance in force in the running context."""


def captures_nothing() -> bool:
    """Whether a call that no entry fits runs as it is."""
    return current() in ("force_eager", "eager_on_recompile")


def fails_on_recompile() -> bool:
    """Whether a call that fits none of the entries that its function has is an error."""
    return current() == "fail_on_recompile" or config.current().error_on_recompile


class set_stance:  # noqa: N801  used like a function
    """What compiled callables do from here on, in the running context (other threads go on as before).

    stance: "default"; "force_eager": they run as if they were not compiled; "eager_on_recompile": nothing new is captured, a call that
    no entry fits runs eagerly; "fail_on_recompile": such a call raises RecompileError if its function has entries.

    As a statement it holds until another is set, as a context manager for a block, as a decorator for each call of a function.
    Raises WrongOption for any other name.
    """

    def __init__(self, stance: str) -> None:
        if stance not in STANCES:
            raise WrongOption(f"no stance {stance!r}; there are {', '.join(map(repr, STANCES))}")
        self.stance = stance
        self._tokens: tuple[Token, Token] | None = None
        self._set()

    def _set(self) -> None:
        if self.stance == "force_eager":
            watch_stance(_eager)
            events.eager(BreakReport.of("FL916", (), "set_stance('force_eager')"), tell=False)
        self._tokens = _stance.set(self.stance), _eager.set(self.stance == "force_eager")

    def _give_back(self) -> None:
        if self._tokens is not None:
            stance, eager = self._tokens
            self._tokens = None
            _stance.reset(stance)
            _eager.reset(eager)

    def __enter__(self) -> set_stance:
        if self._tokens is None:
            self._set()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._give_back()

    def __call__(self, function: Callable) -> Callable:
        """The function, with this stance in force while it runs."""
        self._give_back()

        @functools.wraps(function)
        def under_stance(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance):
                return function(*args, **kwargs)

        return under_stance
