"""Whole numbers of the host that meet a tensor operation: symbolic, so that the graph serves other numbers too."""

from __future__ import annotations

import operator
from typing import Any

from frameloom.interpreter.promoted import MOST_OPERATIONS, computed, expression_of
from frameloom.pytorch.facts import SizeFact
from frameloom.pytorch.sizes import Size, lift_size
from frameloom.symbolic.values import INPUT, Const, Node

FOLLOWED = frozenset(
    {operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg, operator.pos, operator.abs, abs}
)
"""Operations that torch's symbolic numbers do as Python's do."""


def host_number(state: Any, node: Node) -> SizeFact | None:
    """The symbolic number of a host node, or None where it has none: no whole number, drawn, or one that torch does not take."""
    if node.cls is not int:
        return None
    known = state.numbers.get(node)
    if known is None:
        known = state.numbers[node] = state.number_input(state, node) if node.target is INPUT else _followed(state, node) or _given(state, node)
    return known


def _given(state: Any, node: Node) -> SizeFact | None:
    """A number of its own for what only Python computes, before the graph runs: a guard computes it too."""
    found = computed(state.session, node)
    if found is None or not found.leaves or found.size > MOST_OPERATIONS or not fits(found.value):
        return None
    state.given.add(node)
    numbers = tuple([state.session.observe.peek_number(leaf) for leaf in found.leaves])
    sources = tuple([leaf.real.source for leaf in found.leaves])
    return state.number_computed(state, found.value, expression_of(node, found.leaves), sources, numbers)


def _followed(state: Any, node: Node) -> SizeFact | None:
    if node.target not in FOLLOWED or node.kwargs:
        return None
    numbers = [_number(state, argument) for argument in node.args]
    if any(number is None for number in numbers):
        return None
    size = lift_size(node.target(*numbers))
    if type(size) is not Size or not fits(size.number.node.hint):
        return None
    state.shapes.limit(size)
    return SizeFact(size)


def _number(state: Any, value: Any) -> Any:
    if type(value) is Const:
        return value.value if type(value.value) is int and fits(value.value) else None
    found = host_number(state, value)
    return None if found is None else found.size.number


LARGE = 2**63


def fits(number: int) -> bool:
    """Whether torch takes a whole number."""
    return -LARGE <= number < LARGE


def in_graph(state: Any, node: Node) -> Node:
    """The node that stands in the graph for a host node with a symbolic number: the number itself where it is read at entry, or where
    Python alone computes it; what else is computed of it is computed in the graph, so that compilers see what it follows from."""
    if node.target is INPUT or node in state.given:
        return node
    known = state.twins.get(node)
    if known is None:
        args = tuple([value.value if type(value) is Const else in_graph(state, value) for value in node.args])
        known = state.session.record(node.target, args, {}, int, host_number(state, node))
        state.session.journal.set_item(state.twins, node, known)
    return known
