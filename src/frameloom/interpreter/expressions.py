"""Expressions over numbers that are read at run time: data for guards, Python for their checks, text for people."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from frameloom.symbolic.graph import PURE
from frameloom.symbolic.guards import CHECKS, Check
from frameloom.symbolic.literals import literal
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
        return text_of(self.expression if self.found else (operator.not_, self.expression), names)


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
    try:
        return compiled(payload.expression)(*numbers) is payload.found
    except (ArithmeticError, ValueError):
        return False


CHECKS["OUTCOME"] = Check(comes_out, lambda name, payload, *others: payload.tell([name, *others]), several=True)


@functools.lru_cache(maxsize=4096)
def compiled(expression: Any) -> Callable:
    """A function of the numbers in the places of an expression, and of more that it does not look at."""
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

    body = _spelt(expression, leaf, lambda constant: hold(constant.value), hold).text
    names = "".join(f"n{index}, " for index in range(count))
    return eval(f"lambda {names}*others: {body}", held)  # noqa: S307  text made here, from operators


def text_of(expression: Any, names: Sequence[str]) -> str:
    """An expression as a person reads it."""
    return _spelt(expression, names.__getitem__, lambda constant: constant.text, symbol_of).text


class Spelt(NamedTuple):
    """Text of an expression, and how strongly it holds together: an operand that does so less than its operator is put in parentheses."""

    text: str
    strength: int

    def within(self, strength: int) -> str:
        """The text as an operand of an operator of that strength."""
        return self.text if self.strength >= strength else f"({self.text})"


ATOM, PREFIX, POWER, COMPARISON = 20, 13, 14, 6
STRENGTHS = {
    **dict.fromkeys(("*", "/", "//", "%", "@"), 12), **dict.fromkeys(("+", "-"), 11), **dict.fromkeys(("<<", ">>"), 10), "&": 9, "^": 8, "|": 7,
    **dict.fromkeys(("<", "<=", "==", "!=", ">", ">="), COMPARISON),
}
"""Python's precedence of operators with two operands, but for `**`"""


def _spelt(expression: Any, leaf: Callable[[int], str], constant: Callable[[Plain], str], called: Callable[[Callable], str]) -> Spelt:
    if type(expression) is Leaf:
        text = leaf(expression.index)
        return Spelt(text, ATOM if text.isidentifier() or text[-1] in "])" else PREFIX)
    if type(expression) is Plain:
        text = constant(expression)
        return Spelt(text, PREFIX if text.startswith("-") else ATOM)
    function, *operands = expression
    spelt = [_spelt(operand, leaf, constant, called) for operand in operands]
    special = CONTROL.get(function)
    if special is not None:
        return special(*spelt)
    symbol = symbol_of(function)
    if symbol[0].isalpha():
        return Spelt(f"{called(function)}({', '.join([operand.text for operand in spelt])})", ATOM)
    if len(spelt) == 1:
        return Spelt(f"{symbol}{spelt[0].within(PREFIX)}", PREFIX)
    left, right = spelt
    if symbol == "**":
        return Spelt(f"{left.within(ATOM)} ** {right.within(ATOM)}", POWER)
    strength = STRENGTHS[symbol]
    return Spelt(f"{left.within(strength + (strength == COMPARISON))} {symbol} {right.within(strength + 1)}", strength)


def symbol_of(function: Callable) -> str:
    """How a function is written."""
    return SYMBOLS.get(function) or function.__name__


# -- what is computed only where it is asked ------------------------------------------------------------------------------


def every(*conditions: Any) -> Any:
    """`a and b and ...`; in an expression what stands behind a false one is not computed."""
    return functools.reduce(lambda a, b: a and b, conditions)


def some(*conditions: Any) -> Any:
    """`a or b or ...`; in an expression what stands behind a true one is not computed."""
    return functools.reduce(lambda a, b: a or b, conditions)


def chosen(condition: Any, a: Any, b: Any) -> Any:
    """`a if condition else b`; in an expression only the one of both is computed."""
    return a if condition else b


CONTROL: dict[Callable, Callable[..., Spelt]] = {
    every: lambda *operands: Spelt(" and ".join([operand.within(5) for operand in operands]), 4),
    some: lambda *operands: Spelt(" or ".join([operand.within(4) for operand in operands]), 3),
    chosen: lambda condition, a, b: Spelt(f"{a.within(3)} if {condition.within(3)} else {b.within(2)}", 2),
    operator.not_: lambda operand: Spelt(f"not {operand.within(5)}", 5),
}
"""function -> how it is written of its operands"""
