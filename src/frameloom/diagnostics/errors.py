"""The exceptions that frameloom raises to its user, public as `frameloom.errors`.

Exceptions of the user's own program never become one of these: they come out as themselves.
"""
from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from frameloom.diagnostics.location import Location, excerpt, header

if TYPE_CHECKING:
    from frameloom.diagnostics.reports import BreakReport, RecompileReport


class FrameloomError(Exception):
    """Base of every exception that frameloom itself raises."""


class GraphBreakError(FrameloomError):
    """A function compiled with `fullgraph=True` cannot be captured whole.

    report: the `BreakReport` of the place; `code` is its FL code.
    """

    def __init__(self, report: BreakReport) -> None:
        super().__init__(report)
        self.report = report

    @property
    def code(self) -> str:
        return self.report.kind.code

    def __str__(self) -> str:
        return self.report.render()


class BackendError(FrameloomError):
    """A backend raised, or returned something that cannot be called.

    backend: the name it was asked by, or the callable's qualified name.
    cause: the exception that it raised, also `__cause__`.
    """

    def __init__(self, backend: str, cause: BaseException) -> None:
        super().__init__(backend, cause)
        self.backend = backend
        self.cause = cause
        self.__cause__ = cause

    def __str__(self) -> str:
        text = str(self.cause).strip()
        first = text.splitlines()[0] if text else "no message"
        return f"backend {self.backend!r} failed: {type(self.cause).__name__}: {first}"


class SizeFixed(FrameloomError):
    """The program fixes a size that `mark_dynamic` says varies.

    size: the size as the program writes it.  value: what it is fixed to.  chain: the places that ask for it, innermost first.
    """

    def __init__(self, size: str, value: int, chain: tuple[Location, ...]) -> None:
        super().__init__(size, value, chain)
        self.size = size
        self.value = value
        self.chain = chain

    def __str__(self) -> str:
        lines = [f"{self.size} is marked dynamic, and the program fixes it to {self.value}"]
        if self.chain:
            lines += [*header(self.chain), *excerpt(self.chain[0], f"{self.size} is asked for its value here")]
        lines.append("  = help: ask no more of the size than holds for all, or mark it with maybe_mark_dynamic")
        return "\n".join(lines)


class RecompileError(FrameloomError):
    """A call fits none of the entries of its function, and the stance or `config.error_on_recompile` makes that an error.

    report: the `RecompileReport` of the guard that failed, None where it cannot be told.
    """

    def __init__(self, report: RecompileReport | None) -> None:
        super().__init__(report)
        self.report = report

    def __str__(self) -> str:
        return "a call fits no entry" if self.report is None else self.report.render()


class RecompileLimitReached(FrameloomError):
    """A function, or all that one `compile` call captures, was captured as often as the settings allow, and
    `config.fail_on_recompile_limit` makes that an error.

    report: the `BreakReport` of FL902.
    """

    def __init__(self, report: BreakReport) -> None:
        super().__init__(report)
        self.report = report

    def __str__(self) -> str:
        return self.report.render()


class InternalError(FrameloomError):
    """frameloom found itself in the wrong: a stage made something that its verifier refuses, or an invariant is broken.

    It reaches a user only with `strict`; otherwise the call runs eagerly and a report file is named.
    """


class NotCompilable(FrameloomError, TypeError):
    """What was given to `compile` is not something whose calls can be compiled."""


class UnknownBackend(FrameloomError, ValueError):
    """No backend has this name.  The message names those that exist, the nearest first."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        super().__init__(f"no backend named {name!r}{_suggestion(name, self.known)}")

    def __reduce__(self) -> tuple[type, tuple[str, tuple[str, ...]]]:
        return type(self), (self.name, self.known)


class WrongOption(FrameloomError, ValueError):
    """An argument of a public function has a value that it cannot have."""


class MissingDependency(FrameloomError, ImportError):
    """A package that is needed for what was asked is not installed.  The message is one line and says what to install."""

    def __init__(self, package: str, purpose: str, extra: str | None = None) -> None:
        what = f"frameloom[{extra}]" if extra else package
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install '{what}'")
        self.package = package
        self.arguments = (package, purpose, extra)

    def __reduce__(self) -> tuple[type, tuple[str, str, str | None]]:
        return type(self), self.arguments


class UnknownCode(FrameloomError, LookupError):
    """No break kind has this code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

    def __str__(self) -> str:
        return f"no break kind {self.code!r}; `frameloom explain` lists them all"


def _suggestion(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    shown = near + [other for other in known if other not in near]
    more = f", and {len(shown) - 8} more" if len(shown) > 8 else ""
    return f"; there are {', '.join(shown[:8])}{more}" if shown else ""
