"""Whole numbers of the host that meet a tensor operation: symbolic, so that the graph serves other numbers too."""

from __future__ import annotations

import operator
from typing import Any

from frameloom.pytorch.facts import SizeFact
from frameloom.pytorch.sizes import Size, lift_size
from frameloom.symbolic.values import INPUT, Const, Node

FOLLOWED = frozenset({operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg})


def host_number(state: Any, node: Node) -> SizeFact | None:
    """The symbolic number of a host node, or None where it has none: no whole number, drawn, or computed otherwise."""
    if node.cls is not int:
        return None
    known = state.numbers.get(node)
    if known is None:
        known = state.numbers[node] = state.number_input(state, node) if node.target is INPUT else _computed(state, node)
    return known


def _computed(state: Any, node: Node) -> SizeFact | None:
    if node.target not in FOLLOWED or node.kwargs:
        return None
    numbers = [_number(state, argument) for argument in node.args]
    if any(number is None for number in numbers):
        return None
    size = lift_size(node.target(*numbers))
    return SizeFact(size) if type(size) is Size else None


def _number(state: Any, value: Any) -> Any:
    if type(value) is Const:
        return value.value if type(value.value) is int else None
    found = host_number(state, value)
    return None if found is None else found.size.number
