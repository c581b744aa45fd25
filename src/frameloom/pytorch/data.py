"""`.data` of tensors: an alias that autograd does not know of, and the one way to give a tensor the memory of another.

A write through the alias is one that no count of versions shows: what autograd has saved is not protected from it, and derivatives are of what is
written.  So behind operations with gradients it is made in graphs that run as they are only, and so is the tensor's change of memory.  Elsewhere
backends that write to the input itself are kept from counting.
"""

from __future__ import annotations

from typing import Any, Callable

import torch

from frameloom.pytorch import own_code
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.state import State, View
from frameloom.symbolic.signals import GraphBreak, RestartCapture
from frameloom.symbolic.values import INPUT, Const, Node, Value


READ_OUTSIDE = "the backend's aliases count versions"
"""The decision of captures that begin again, and break where the alias is made."""


def read(state: State, node: Node) -> Value:
    """`node.data`."""
    if state.bodies:
        raise GraphBreak("FL310", ".data of a tensor is read in the function of an operator")
    if READ_OUTSIDE in state.session.decisions:
        raise GraphBreak("FL310", ".data of a tensor is read and then written to, and this backend makes code of its own of the graph")
    found = state.session.machine.domain.apply(state.session, getattr, [node, Const("data")], {})
    state.session.journal.set_item(state.unversioned, found, True)
    return found


def replace(state: State, node: Node, value: Value) -> None:
    """`node.data = value`: the object has the other's memory from here on, sizes and strides with it; aliases of its own stay behind."""
    reason = _why_not(state, node, value)
    if reason is not None:
        raise GraphBreak("FL310", f".data of a tensor is replaced{reason}")
    journal = state.session.journal
    made = state.session.record(set_data, (node, value), {}, type(None), None)
    journal.set_item(state.impure, made, True)
    root = state.root_of(value)
    if root is node:  # its own memory, by way of an alias
        if node in state.views:
            journal.delete_item(state.views, node)
    else:
        journal.set_item(state.views, node, View(root, None, False))
        if node not in state.members.get(root, ()):
            journal.set_item(state.members, root, (*state.members.get(root, ()), node))
    state.session.set_fact(node, value.fact.replace(requires_grad=node.fact.requires_grad, is_leaf=node.fact.is_leaf))


def _why_not(state: State, node: Node, value: Value) -> str | None:
    """What stands against it, as the end of a message."""
    if type(value) is not Node or type(value.fact) is not TensorFact or type(node.fact) is not TensorFact:
        return " by an object that is no plain tensor"
    one, other = node.fact, value.fact
    if (one.dtype, one.device) != (other.dtype, other.device):
        return " by one of another dtype or device"
    if any((fact.conj, fact.neg, fact.inference) != (False, False, False) for fact in (one, other)):
        return " in inference mode, or is to be read otherwise"
    if state.bodies or state.tries or state.regions_open or state.inference or state.dual:
        return " in the function of an operator"
    if node.target is not INPUT and one.requires_grad:
        return ", of one that was computed"
    if _has_views(state, node) or state.root_of(node) in state.hooked:
        return ", of one with views or hooks"
    return None if own_code.require(state) else ", and this backend makes code of its own of the graph"


def _has_views(state: State, node: Node) -> bool:
    """Whether autograd knows of the tensor as a view, or of views of it."""
    view = state.views.get(node)
    if view is not None and view.base is not None:
        return True
    return any(state.views[other].base is node for other in state.members.get(state.root_of(node), ()) if other in state.views)


def set_data(tensor: torch.Tensor, data: torch.Tensor) -> None:
    """An operation of the graph."""
    tensor.data = data


def written(state: State, node: Node, root: Node) -> None:
    """Memory is written to through this tensor; the capture begins again where derivatives would be of what was there before."""
    journal = state.session.journal
    view = state.views.get(node)
    if (node if view is None or view.base is None else view.base) not in state.unversioned:
        journal.set_item(state.silent, root, False)
        return
    if _is_graded(state) and not own_code.require(state):
        raise RestartCapture(READ_OUTSIDE)
    if state.silent.get(root) is None:
        journal.set_item(state.silent, root, True)


def _is_graded(state: State) -> bool:
    """Whether autograd may have saved a tensor for an operation of the trace."""
    nodes = state.session.nodes
    return any(node.target is not INPUT and type(node.fact) is TensorFact and node.fact.requires_grad for node in nodes)


def uncounted(state: State, given: list[Node], outputs: list[Node], function: Callable) -> Callable:
    """The function of a backend of its own code: it counts no version of inputs that are written to by way of `.data` alone, nor do aliases
    that it gives back share theirs."""
    own = [index for index, node in enumerate(given) if state.silent.get(node)]
    aliases = [index for index, node in enumerate(outputs) if node in state.unversioned]
    if not own and not aliases:
        return function

    def run(*found: Any) -> Any:
        with torch.autograd._unsafe_preserve_version_counter(tuple([found[index] for index in own])):
            results = list(function(*found))
        for index in aliases:
            results[index] = results[index].data
        return results

    return run
