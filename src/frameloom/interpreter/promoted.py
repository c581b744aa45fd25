"""Numbers that are read at run time, and what is computed of them, where the trace must know a value after all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frameloom.interpreter.machine import Machine
from frameloom.symbolic.values import INPUT, Const, Node, Value

SYMBOLS: dict[Callable, str] = {}
"""function of an operation on numbers that gives the same for the same -> how it is written; filled by the operators"""


class Leaf:
    """The place of the number in an expression."""

    def __repr__(self) -> str:
        return "{}"


LEAF = Leaf()


def known_number(m: Machine, node: Node) -> Value:
    """The value, in this call, of a number on the host tape, guarded by what it is computed of.  The node itself where that is something
    that only running code knows."""
    if node.real is not None:
        return m.specialise(node)
    leaves = _leaves([node])
    if leaves is None:
        return node
    for leaf in leaves:
        m.specialise(leaf)
    return Const(_evaluate(m, node))


def known_comparison(m: Machine, function: Callable, a: Value, b: Value) -> Const | None:
    """The outcome, in this call, of a comparison with what is computed of one promoted number: that is guarded, and not the number.
    None where it is not that."""
    leaves = _leaves([a, b])
    if leaves is None or len(leaves) != 1:
        return None
    expression = (function, _expression(a), _expression(b))
    found = _applied(expression, m.observe.peek_number(leaves[0]))
    payload = (_comes_out, (expression, found), f"{_text(expression)} is {found}")
    m.session.guard("CALL", leaves[0].real.source, payload)
    return Const(found)


Machine.known_number = known_number


def _leaves(values: list[Value]) -> list[Node] | None:
    """The promoted numbers that values are computed of, each once; None where there is anything else that is not constant."""
    found: dict[int, Node] = {}
    pending = list(values)
    while pending:
        value = pending.pop()
        if type(value) is Const:
            continue
        if type(value) is not Node or value.tape != "host":
            return None
        if value.target is INPUT:
            found[id(value)] = value
        elif value.target in SYMBOLS and not value.kwargs:
            pending.extend(value.args)
        else:
            return None
    return list(found.values())


def _evaluate(m: Machine, value: Value) -> Any:
    if type(value) is Const:
        return value.value
    if value.real is not None:
        return m.observe.peek_number(value)
    return value.target(*(_evaluate(m, operand) for operand in value.args))


def _expression(value: Value) -> Any:
    """The same as data: a function and its operands, constants in pairs with their class."""
    if type(value) is Const:
        return (type(value.value), value.value)
    if value.real is not None:
        return LEAF
    return (value.target, *map(_expression, value.args))


def _comes_out(number: Any, payload: tuple[Any, bool]) -> bool:
    """The guard of a comparison."""
    expression, outcome = payload
    return _applied(expression, number) is outcome


def _applied(expression: Any, number: Any) -> Any:
    if expression is LEAF:
        return number
    function, *operands = expression
    if isinstance(function, type):
        return operands[0]
    return function(*(_applied(operand, number) for operand in operands))


def _text(expression: Any) -> str:
    if expression is LEAF:
        return "{}"
    function, *operands = expression
    if isinstance(function, type):
        return repr(operands[0])
    first, *rest = map(_text, operands)
    if not rest:
        return f"{SYMBOLS[function]}({first})"
    return f"({first} {SYMBOLS[function]} {rest[0]})"
