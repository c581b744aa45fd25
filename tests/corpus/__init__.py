"""Functions of odd shapes, each with the calls to make of it: what breaking, resuming and capturing must leave as it is.

`load()` gives all that the running Python can compile. A case's `calls` are functions that give fresh arguments.
"""
from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A function and, for each call to make of it, what makes its (arguments, keywords)."""

    function: Callable[..., Any]
    calls: tuple[Callable[[], tuple[tuple[Any, ...], dict[str, Any]]], ...]

    @property
    def name(self) -> str:
        return self.function.__qualname__


CASES: list[Case] = []

#: What cases report besides their result.
LOG: list[Any] = []


def call(*arguments: Any, **keywords: Any) -> Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments that may be used again."""
    return lambda: (arguments, keywords)


def case(*calls: Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]) -> Callable[[Any], Any]:
    """Decorator: the function is a case, called so (once without arguments if nothing is given)."""

    def register(function: Any) -> Any:
        CASES.append(Case(function, calls or (call(),)))
        return function

    return register


MODULES = {"odd": (3, 11), "odd312": (3, 12)}


def load() -> list[Case]:
    """Every case for the running Python."""
    for name, since in MODULES.items():
        if sys.version_info >= since:
            importlib.import_module(f"{__name__}.{name}")
    return CASES
