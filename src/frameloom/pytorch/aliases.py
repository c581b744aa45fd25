"""Tensors that share storage, and what writing to one of them does to the facts of the others."""

from __future__ import annotations

from collections import Counter

from frameloom.pytorch import data
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.inputs import check_apart, require_no_view
from frameloom.pytorch.outcomes import Outcome
from frameloom.pytorch.overlap import require_clear
from frameloom.pytorch.state import State, View
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import INPUT, Node


def share(state: State, node: Node, argument: Node, differentiable: bool, safe: bool) -> None:
    """A new node shares the storage of `argument`; see `state.View`."""
    journal = state.session.journal
    known = state.views.get(argument)
    root = argument if known is None else known.root
    base = None
    if differentiable and not state.inference:
        base = argument if known is None or known.base is None else known.base
    safe = safe and base is not None and state.grad and (known is None or known.base is None or known.safe)
    journal.set_item(state.views, node, View(root, base, safe))
    journal.set_item(state.members, root, (*state.members.get(root, ()), node))
    if base is not None and base.fact.requires_grad and not node.fact.requires_grad:
        state.session.set_fact(node, node.fact.replace(requires_grad=True))


def write(state: State, operation: Node, outcome: Outcome, nodes: list[Node]) -> None:
    """The operation wrote to some of its arguments: new facts for them and for those that share their storage."""
    session = state.session
    require_clear(state, operation, outcome, nodes)
    tensors = [node for node in nodes if type(node.fact) is TensorFact]
    graded = state.grad and any(node.fact.requires_grad for node in tensors)
    roots = []
    for index in outcome.written:
        node = nodes[index]
        root = state.root_of(node)
        roots.append(root)
        if root.target is INPUT:
            check_apart(state, root)
        data.written(state, node, root)
        if root in state.hooked and state.grad:
            raise GraphBreak("FL308", "a tensor that a hook was put on is written to")
        if graded and node.fact.dtype.is_floating_point | node.fact.dtype.is_complex:
            _join_the_graph(state, node, root)
        session.journal.set_item(state.written, root, True)
    for index, changed in outcome.changed:
        node = nodes[index]
        if state.makes_backward and _extents(changed) != _extents(node.fact):
            raise GraphBreak("FL310", "a tensor is resized, under a backend that takes writes out of the graph")
        session.set_fact(node, changed.replace(requires_grad=node.fact.requires_grad, is_leaf=node.fact.is_leaf))
    session.journal.set_item(state.writes, operation, tuple(roots))


def _extents(known: TensorFact) -> Counter:
    """The sizes that tell how much memory a tensor needs, in any order; symbolic ones by what is known of them now."""
    sizes = [size if type(size) is int else size.number.node.expr for size in known.sizes]
    return Counter([size for size in sizes if size != 1])


def _join_the_graph(state: State, node: Node, root: Node) -> None:
    """What is written to with gradients recorded becomes a result of the write, and so do its base and the base's views."""
    for member in check_writable(state, node, root):
        if not member.fact.requires_grad or member.fact.is_leaf:
            state.session.set_fact(member, member.fact.replace(requires_grad=True, is_leaf=False))


def check_writable(state: State, node: Node, root: Node) -> list[Node]:
    """The tensors that the write makes results; a break where autograd would refuse it, or follow it in a way that facts do
    not tell."""
    view = state.views.get(node)
    base = node if view is None or view.base is None else view.base
    if base.fact.requires_grad and base.fact.is_leaf:
        raise GraphBreak("FL308", "a leaf that requires grad is written to while gradients are recorded")
    family = [other for other in state.members.get(root, ()) if state.views[other].base is base]
    if not all(state.views[other].safe for other in family):
        raise GraphBreak("FL308", "a view that autograd does not follow is written to while gradients are recorded")
    if base.target is INPUT:
        require_no_view(state.session, base)
    return [base, *family]


def require_history(state: State, node: Node) -> None:
    """Break where autograd itself refuses to go on: at a view made without gradients whose base requires grad and was written to
    since."""
    view = state.views.get(node)
    if view is None or view.safe or view.base is None or view.root not in state.written:
        return
    if view.base.fact.requires_grad:
        raise GraphBreak("FL308", "a view made without gradients is used after its base was written to")
