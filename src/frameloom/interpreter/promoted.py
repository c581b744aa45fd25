"""Numbers that are read at run time, and what is computed of them, where the trace must know something of them after all."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from frameloom.interpreter.expressions import SYMBOLS, Leaf, Outcome, plain
from frameloom.interpreter.machine import Machine
from frameloom.symbolic.values import INPUT, Const, Node, Value

NUMBERS = frozenset({int, float, bool})


def known_number(m: Machine, node: Node) -> Value:
    """The value, in this call, of a number on the host tape, guarded by what it is computed of.  The node itself where that is something
    that only running code knows."""
    if node.real is not None:
        return m.specialise(node)
    found = computed(m.session, node)
    if found is None:
        return node
    for leaf in found.leaves:
        m.specialise(leaf)
    return Const(found.value)


Machine.known_number = known_number

MOST_OUTCOMES = 16
"""A number of which more is asked is rather guarded by its value."""


def known_comparison(m: Machine, function: Callable, a: Value, b: Value) -> Const | None:
    """The outcome, in this call, of a comparison with what is computed of promoted numbers: that is guarded, and not the numbers.
    None where it is not that."""
    first, second = computed(m.session, a), computed(m.session, b)
    if first is None or second is None or not (first.leaves or second.leaves):
        return None
    leaves = _together(first.leaves, second.leaves)
    found = function(first.value, second.value)
    if first.size > MOST_OPERATIONS or second.size > MOST_OPERATIONS:
        for leaf in leaves:
            m.specialise(leaf)
    elif not _is_guarded(m, leaves):
        expression = (function, expression_of(a, leaves), expression_of(b, leaves))
        sources = [leaf.real.source for leaf in leaves]
        payload = Outcome(tuple(sources[1:]), tuple([leaf.cls for leaf in leaves]), expression, found)
        m.session.guard("OUTCOME", sources[0], payload)
    return Const(found)


def _is_guarded(m: Machine, leaves: tuple[Node, ...]) -> bool:
    """Whether the values of all these numbers are guarded; they are where a loop asks them over and over."""
    open_ = [leaf for leaf in leaves if ("EQUAL", leaf.real.source) not in m.session.guards]
    for leaf in open_:
        key = ("outcomes", leaf.real.source)
        if m.remember(key, m.memory.get(key, 0) + 1) > MOST_OUTCOMES:
            for asked in open_:
                m.specialise(asked)
            return True
    return not open_


def holds(m: Machine, function: Callable, a: Value, b: Value) -> bool | None:
    """Whether a comparison holds in this call, which is guarded; None where only running code knows."""
    if type(a) is Const and type(b) is Const:
        return function(a.value, b.value)
    found = known_comparison(m, function, a, b)
    return None if found is None else found.value


MOST_OPERATIONS = 100
"""Numbers of which more is computed than this, written out as an expression, are guarded by value where something is asked of that."""


class Computed(NamedTuple):
    """What is computed of promoted numbers: the value in this call, those numbers, and how many operations it takes as an expression."""

    value: Any
    leaves: tuple[Node, ...]
    size: int


def computed(session: Any, value: Value) -> Computed | None:
    """What a value is computed of; None where that is anything but promoted numbers and constants.  Remembered for each node: loops
    make long chains of them, and operations on one number twice make trees that are never written out."""
    known = session.computed
    pending = [value]
    while pending:
        last = pending[-1]
        if last not in known:
            waiting = [other for other in _operands(last) if other not in known]
            if waiting:
                pending += waiting
                continue
            known[last] = _computed(session, last)
        pending.pop()
    return known[value]


def _operands(value: Value) -> tuple:
    followed = type(value) is Node and value.tape == "host" and value.target in SYMBOLS and not value.kwargs
    return value.args if followed else ()


def _computed(session: Any, value: Value) -> Computed | None:
    if type(value) is Const:
        return Computed(value.value, (), 0)
    if type(value) is Node and value.tape == "host" and value.target is INPUT:
        return Computed(session.observe.peek_number(value), (value,), 0)
    parts = [session.computed[operand] for operand in _operands(value)]
    if not parts or None in parts:
        return None
    leaves: tuple[Node, ...] = ()
    for part in parts:
        leaves = _together(leaves, part.leaves)
    return Computed(value.target(*[part.value for part in parts]), leaves, 1 + sum(part.size for part in parts))


def _together(first: tuple[Node, ...], second: tuple[Node, ...]) -> tuple[Node, ...]:
    """All of these numbers, each once."""
    return first if first == second else tuple(dict.fromkeys((*first, *second)))


def expression_of(value: Value, leaves: tuple[Node, ...]) -> Any:
    """The same as data: a function and its operands."""
    if type(value) is Const:
        return plain(value.value)
    if value.real is not None:
        return Leaf(leaves.index(value))
    return (value.target, *[expression_of(operand, leaves) for operand in value.args])


# -- which operations give a number, whatever the numbers are ----------------------------------------------------------
#
# What could raise must stay in the program's own `try`, so an operation is only recorded under assumptions, guarded, under
# which it cannot.


def is_total(m: Machine, symbol: str, a: Value, b: Value) -> bool:
    """Whether an operation on promoted numbers gives a number of one class, under what is guarded now."""
    if a.cls not in NUMBERS or b.cls not in NUMBERS:
        return False
    return symbol in TOTAL and TOTAL[symbol](m, a, b)


LARGE = 2**63
"""Whole numbers up to here become floats without ado."""


def within(m: Machine, value: Value, most: int | float = LARGE, least: int | float | None = None) -> bool:
    """Whether a number lies between two bounds, `-most` by default, which is guarded.  A number that is drawn is taken to: what draws
    says how large."""
    if least is not None and holds(m, operator.ge, value, Const(least)) is False:
        return False
    size = value if least is not None or type(value) is Const else Node("host", abs, (value,), {}, value.cls, None, None)
    return holds(m, operator.le, size, Const(most)) is not False and (type(size) is not Const or abs(size.value) <= most)


def _mixes(m: Machine, a: Value, b: Value) -> bool:
    """Whether a whole number that meets a float becomes one."""
    if float not in (a.cls, b.cls):
        return True
    return all(value.cls is float or within(m, value) for value in (a, b))


def _divides(m: Machine, a: Value, b: Value) -> bool:
    return holds(m, operator.ne, b, Const(0)) is True and _mixes(m, a, b)


def _divides_truly(m: Machine, a: Value, b: Value) -> bool:
    return _divides(m, a, b) and (float in (a.cls, b.cls) or within(m, a) and within(m, b))


def _are_whole(m: Machine, a: Value, b: Value) -> bool:
    return float not in (a.cls, b.cls)


def _shifts(m: Machine, a: Value, b: Value) -> bool:
    return _are_whole(m, a, b) and type(b) is Const and 0 <= b.value <= 64


MOST_POWER = 8
MODERATE = 1e30
"""Numbers up to here, and down to its inverse, have powers up to MOST_POWER."""


def _has_power(m: Machine, a: Value, b: Value) -> bool:
    if type(b) is Const:
        return _has_known_power(m, a, b.value)
    if type(a) is not Const or b.cls is not int or type(a.value) not in (int, float):
        return False
    base = abs(a.value)
    if not base <= MODERATE:  # or it is no number
        return False
    most = LARGE if type(a.value) is float and base <= 1 else 600 / math.log2(base) if base > 2 else 600
    return holds(m, operator.le, Const(0), b) is True and holds(m, operator.le, b, Const(int(most))) is True


def _has_known_power(m: Machine, a: Value, power: int | float) -> bool:
    if not abs(power) <= MOST_POWER:
        return False
    if type(power) is int and power >= 0:
        return a.cls is int or a.cls is float and within(m, a, MODERATE)
    return a.cls is not bool and within(m, a, MODERATE, 1 / MODERATE)


TOTAL: dict[str, Callable[[Machine, Value, Value], bool]] = {
    **dict.fromkeys(("+", "-", "*"), _mixes),
    **dict.fromkeys(("//", "%"), _divides),
    "/": _divides_truly,
    **dict.fromkeys(("&", "|", "^"), _are_whole),
    **dict.fromkeys(("<<", ">>"), _shifts),
    "**": _has_power,
}
"""operator -> whether it gives a number: total(m, a, b)"""
