"""Which recorded operations must run: those whose results are used, and those with effects somebody can see."""

from __future__ import annotations

from frameloom.pytorch.applied import WithBody
from frameloom.pytorch.arguments import nodes_in
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.operations import FAIL_BY_VALUE, name_of
from frameloom.pytorch.state import State
from frameloom.symbolic.values import INPUT, Node


def live_nodes(state: State, outputs: list[Node]) -> list[Node]:
    """The operations to keep, in program order.

    A write to storage that no input and no kept operation shares is dropped with what it wrote to; an operation that may
    refuse its values is kept even where nobody reads its result, since eager would raise.
    """
    kept: set[Node] = set()
    needed: set[Node] = set(outputs)
    read: set[Node] = {state.root_of(node) for node in outputs} | _saved(state)
    for node in reversed(state.session.nodes):
        if node.tape != "graph" or node.target is INPUT:
            continue
        if node in needed or _has_effect(state, node, read) or may_fail(node):
            kept.add(node)
            for argument in nodes_in((node.args, node.kwargs), []):
                needed.add(argument)
                read.add(state.root_of(argument))
    return [node for node in state.session.nodes if node in kept]


def _saved(state: State) -> set[Node]:
    """The storages that derivatives may be computed from, where one is written to: derivatives are of what is there then, or are refused."""
    if not state.writes:
        return set()
    graded = [node for node in state.session.nodes if type(node.fact) is TensorFact and node.fact.requires_grad and node.target is not INPUT]
    return {state.root_of(argument) for node in graded for argument in nodes_in((node.args, node.kwargs), [])}


def _has_effect(state: State, node: Node, read: set[Node]) -> bool:
    if node in state.impure:
        return True
    return any(root.target is INPUT or root in read for root in state.writes.get(node, ()))


def may_fail(node: Node) -> bool:
    """Whether the operation may raise for values that its facts do not tell."""
    if isinstance(node.target, WithBody):
        return node.target.may_fail
    name = name_of(node.target)
    if name not in FAIL_BY_VALUE:
        return False
    if name in INDEXING:
        return any(type(n.fact) is TensorFact for n in nodes_in(node.args[1:2], []))
    if name in DIVISIONS:
        return not any(_is_inexact(n) for n in nodes_in(node.args, []))
    return True


INDEXING = frozenset({"getitem", "__getitem__", "setitem", "__setitem__"})
DIVISIONS = frozenset({"div", "floor_divide", "floordiv", "remainder", "mod", "fmod", "__floordiv__", "__mod__"})


def _is_inexact(node: Node) -> bool:
    fact = node.fact
    return type(fact) is TensorFact and (fact.dtype.is_floating_point or fact.dtype.is_complex)
