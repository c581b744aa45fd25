"""Expressions over numbers that are read at run time: data for guards, Python for their checks, text for people."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from frameloom.symbolic.graph import PURE
from frameloom.symbolic.guards import CHECKS, Check, literal
from frameloom.symbolic.source import Missing, Source

SYMBOLS: dict[Callable, str] = {}
"""function that gives the same for the same numbers -> how it is written"""


def computes(symbols: dict[Callable, str]) -> None:
    """Make functions of numbers known by how they are written: they give the same for the same numbers, and do nothing else."""
    SYMBOLS.update(symbols)
    PURE.update(symbols)


class Leaf(NamedTuple):
    """The place of a number in an expression."""

    index: int


class Plain(NamedTuple):
    """A constant in an expression: the class and the text keep 1, 1.0, True, 0.0 and -0.0 apart."""

    cls: type
    text: str
    value: Any


def plain(value: Any) -> Plain:
    """The constant of a value."""
    return Plain(type(value), literal(value), value)


class Outcome(NamedTuple):
    """What the numbers of some sources come out as: `found` is what the comparison `expression` gives for them.

    others: the sources of all numbers but the first.  classes: the classes of all of them.
    """

    others: tuple[Source, ...]
    classes: tuple[type, ...]
    expression: tuple
    found: bool

    def tell(self, names: Sequence[str]) -> str:
        """The condition in words of the program; `names` are those of the numbers."""
        function, *operands = self.expression
        whole = all(cls is int for cls in self.classes)
        if not self.found and whole and function in OPPOSITES:
            return text_of((OPPOSITES[function], *operands), names)
        return text_of(self.expression, names) if self.found else f"not {text_of(self.expression, names)}"


OPPOSITES = {
    operator.lt: operator.ge, operator.ge: operator.lt, operator.gt: operator.le, operator.le: operator.gt,
    operator.eq: operator.ne, operator.ne: operator.eq,
}


def comes_out(first: Any, payload: Outcome, scope: Any) -> bool:
    """Whether the numbers of a call give the outcome."""
    try:
        numbers = [first, *[source.read(scope) for source in payload.others]]
    except Missing:
        return False
    if any(type(number) is not cls for number, cls in zip(numbers, payload.classes)):
        return False
    return compiled(payload.expression)(*numbers) is payload.found


CHECKS["OUTCOME"] = Check(comes_out, lambda name, payload, *others: payload.tell([name, *others]), several=True)


@functools.lru_cache(maxsize=4096)
def compiled(expression: Any) -> Callable:
    """A function of the numbers in the places of an expression."""
    held: dict[str, Any] = {}
    count = 0

    def hold(value: Any) -> str:
        name = f"held{len(held)}"
        held[name] = value
        return name

    def leaf(index: int) -> str:
        nonlocal count
        count = max(count, index + 1)
        return f"n{index}"

    body = _spelt(expression, leaf, lambda constant: hold(constant.value), hold)
    names = ", ".join(f"n{index}" for index in range(count))
    return eval(f"lambda {names}: {body}", held)  # noqa: S307  text made here, from operators


def text_of(expression: Any, names: Sequence[str]) -> str:
    """An expression as a person reads it."""
    text = _spelt(expression, names.__getitem__, lambda constant: constant.text, SYMBOLS.__getitem__)
    return text[1:-1] if text.startswith("(") else text


def _spelt(expression: Any, leaf: Callable[[int], str], constant: Callable[[Plain], str], called: Callable[[Callable], str]) -> str:
    if type(expression) is Leaf:
        return leaf(expression.index)
    if type(expression) is Plain:
        return constant(expression)
    function, *operands = expression
    first, *rest = [_spelt(operand, leaf, constant, called) for operand in operands]
    symbol = SYMBOLS[function]
    if symbol[0].isalpha():
        return f"{called(function)}({', '.join([first, *rest])})"
    return f"({first} {symbol} {rest[0]})" if rest else f"({symbol}{first})"
