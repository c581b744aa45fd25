"""A grammar of small programs: functions over numbers, toy arrays, containers, objects and closures, with breaks.

Every program ends, whatever it is given, and stays small: loops run over short containers, recursion is not made, and what loops
could double again and again is cut before.  Names are used only after
they are surely bound, except on purpose, where eager Python decides what happens.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import calls, compound_statements, containers, generators, library, objects, simple_statements, unwinding  # noqa: F401
from .scope import Scope, indent, statement

HEADER = "def program(a, b, box, xs, table, flag, other):\n"


@st.composite
def programs(draw: Any) -> str:
    """The source of one program."""
    scope = Scope()
    lines = draw(st.lists(statement(scope), min_size=2, max_size=7))
    flat = [line for part in lines for line in part]
    result = ", ".join([*scope.numbers[3:], *scope.arrays, *scope.lists])
    return HEADER + "\n".join(indent([*flat, f"return [{result}]"])) + "\n"
