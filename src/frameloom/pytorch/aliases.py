"""Tensors that share storage, and what writing to one of them does to the facts of the others."""

from __future__ import annotations

from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.inputs import require_no_view
from frameloom.pytorch.outcomes import Outcome
from frameloom.pytorch.state import State, View
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import INPUT, Node


def share(state: State, node: Node, base: Node, safe: bool) -> None:
    """A new node shares the storage of `base`; `safe` tells whether autograd lets writes through it."""
    journal = state.session.journal
    known = state.views.get(base)
    root = base if known is None else known.root
    safe = safe and (known is None or known.safe) and state.grad and not state.inference
    journal.set_item(state.views, node, View(root, safe))
    journal.set_item(state.members, root, (*state.members.get(root, ()), node))


def write(state: State, operation: Node, outcome: Outcome, nodes: list[Node]) -> None:
    """The operation wrote to some of its arguments: new facts for them and for those that share their storage."""
    session = state.session
    tensors = [node for node in nodes if type(node.fact) is TensorFact]
    graded = state.grad and any(node.fact.requires_grad for node in tensors)
    roots = []
    for index in outcome.written:
        node = nodes[index]
        root = state.root_of(node)
        roots.append(root)
        if graded and node.fact.dtype.is_floating_point | node.fact.dtype.is_complex:
            _join_the_graph(state, node, root)
        session.journal.set_item(state.written, root, True)
    for index, changed in outcome.changed:
        node = nodes[index]
        session.set_fact(node, changed.replace(requires_grad=node.fact.requires_grad, is_leaf=node.fact.is_leaf))
    session.journal.set_item(state.writes, operation, tuple(roots))


def _join_the_graph(state: State, node: Node, root: Node) -> None:
    """What is written to with gradients recorded becomes a result of the write, and so does all that shares its storage."""
    check_writable(state, node, root)
    for member in (root, *state.members.get(root, ())):
        if not member.fact.requires_grad or member.fact.is_leaf:
            state.session.set_fact(member, member.fact.replace(requires_grad=True, is_leaf=False))


def check_writable(state: State, node: Node, root: Node) -> None:
    """Break where autograd would refuse the write, or would follow it in a way that facts do not tell."""
    if root.fact.requires_grad and root.fact.is_leaf:
        raise GraphBreak("FL308", "a leaf that requires grad is written to while gradients are recorded")
    members = state.members.get(root, ())
    if not all(state.views[member].safe for member in members):
        raise GraphBreak("FL308", "a view that autograd does not follow is written to while gradients are recorded")
    if root.target is INPUT:
        require_no_view(state.session, root)
