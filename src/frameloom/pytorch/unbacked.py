"""Numbers and sizes that follow from data: a symbol without a value of this call stands for each, where the settings ask for that.

What torch must assume about such a symbol to tell the facts of a result is no guard, since no guard could look: it is asserted by the
graph itself.  A graph whose assertion fails is run again eagerly, like any other that raises.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, free_unbacked_symbols
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis

from frameloom.pytorch.facts import SizeFact, TensorFact
from frameloom.pytorch.results import SIZE
from frameloom.pytorch.sizes import Size
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node

ASSERT = torch.ops.aten._assert_scalar.default


def count_made(shapes: Any) -> int:
    """How many symbols that follow from data a trace has made."""
    return 0 if shapes is None else shapes.environment.unbacked_symint_counter


def settle_pending(shapes: Any) -> None:
    """Tell torch that the new symbols are bound: the facts of the recorded operation hold them."""
    shapes.environment.pending_fresh_unbacked_symbols.clear()


@contextlib.contextmanager
def decided() -> Iterator[None]:
    """A question whose answer follows from data breaks."""
    try:
        yield
    except GuardOnDataDependentSymNode as error:
        raise GraphBreak("FL209", f"whether {error.cond} follows from data") from None


def follows_from_data(expression: Any) -> bool:
    """Whether an expression has symbols for which this call has no value."""
    return bool(free_unbacked_symbols(expression))


def insert_assertions(environment: Any, graph: fx.Graph, made: dict[Node, fx.Node]) -> bool:
    """Assert at the end of a graph what was assumed of symbols that follow from data; gives whether anything was.

    made: nodes of the trace -> those of the graph.
    """
    wanted = list(dict.fromkeys(noted.expr for group in environment.deferred_runtime_asserts.values() for noted in group))
    wanted += _bounds(environment)
    if not wanted:
        return False
    places = {symbol: place for node in made for symbol, place in _places(node)}
    for expression in wanted:
        if any(symbol not in places for symbol in expression.free_symbols):
            continue  # of an operation that is not in the graph, as is all that follows from it
        held = {symbol: fx.Proxy(_read(graph, made, *places[symbol])) for symbol in expression.free_symbols}
        answer = sympy_interp(PythonReferenceAnalysis, held, expression)
        graph.call_function(ASSERT, (answer.node, f"{expression} does not hold"))
    return True


def _bounds(environment: Any) -> list:
    """The bounds of symbols that follow from data, beyond those of every size."""
    found = []
    for symbol, bounds in environment.var_to_range.items():
        if not follows_from_data(symbol):
            continue
        if bounds.lower.is_Integer:
            found.append(symbol >= bounds.lower)
        if bounds.upper.is_Integer:
            found.append(symbol <= bounds.upper)
    return found


def _places(node: Node) -> Iterator[tuple[Any, tuple]]:
    """The symbols that a node of the trace tells, each with the node and the dimension."""
    fact = node.fact
    if type(fact) is SizeFact and fact.size.expression.is_Symbol:
        yield fact.size.expression, (node, None)
    if type(fact) is TensorFact:
        for dimension, size in enumerate(fact.sizes):
            if type(size) is Size and size.expression.is_Symbol:
                yield size.expression, (node, dimension)


def _read(graph: fx.Graph, made: dict[Node, fx.Node], node: Node, dimension: int | None) -> fx.Node:
    return made[node] if dimension is None else graph.call_method(SIZE.__name__, (made[node], dimension))
