"""What programs are made with: the names that are bound, and the tables of statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

SIMPLE: dict[str, Callable] = {}
"""kind -> strategy(scope) of a statement's lines; statements without a body"""

NESTED: dict[str, Callable] = {}
"""the same for those that hold other statements, or define something"""


class Scope:
    """Names that are surely bound, by kind."""

    def __init__(self, depth: int = 0) -> None:
        self.numbers = ["flag", "box.n", "other.n"]
        self.arrays = ["a", "b"]
        self.lists = ["xs"]
        self.depth = depth
        self.fresh = 0
        self.in_loop = False
        self.in_group = False

    def inner(self) -> "Scope":
        made = Scope(self.depth + 1)
        made.numbers, made.arrays, made.lists = list(self.numbers), list(self.arrays), list(self.lists)
        made.fresh = self.fresh + 10
        made.in_loop, made.in_group = self.in_loop, self.in_group
        return made

    def name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}_{self.depth}"


def indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines] or ["    pass"]


def simple(function: Callable) -> Callable:
    """Decorator: the function draws a statement of its name."""
    made = SIMPLE[function.__name__] = st.composite(function)
    return made


def nested(function: Callable) -> Callable:
    """Decorator: the same for a statement that holds others."""
    made = NESTED[function.__name__] = st.composite(function)
    return made


DEEPEST = 2


@st.composite
def statement(draw: Any, scope: Scope) -> list[str]:
    """The lines of one statement of any kind."""
    table = {**SIMPLE, **NESTED} if scope.depth < DEEPEST else SIMPLE
    return draw(table[draw(st.sampled_from(list(table)))](scope))


def block(scope: Scope, most: int = 3) -> Any:
    """The lines of a few statements."""
    return st.lists(statement(scope), min_size=1, max_size=most).map(lambda parts: [l for part in parts for l in part])
