"""Hooks that a trace puts on tensors: put on the real ones behind the graph, in program order.

A hook is asked while gradients flow, which is after the trace: so it may be put on its tensor as late as that.  On an input it is put
whatever the backend; the result of an operation leads to what the program computes of it only where a backend runs the graph's
operations as they are (`own_code.py`): else the capture breaks at the hook.
"""

from __future__ import annotations

from typing import Any, Callable

from torch.utils.hooks import RemovableHandle

from frameloom.pytorch import aliases, attributes, inputs, own_code
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts.effect import AFTER_GRAPH
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import INPUT, Node, Value


def put(state: State, register: Callable, tensor: Value, *others: Value) -> Node:
    """Call `register(tensor, *others)` behind the graph; its result is a handle that removes the hook."""
    require_hookable(state, tensor)
    node = state.session.record(register, (tensor, *others), {}, RemovableHandle, None, tape="host")
    state.session.journal.set_item(state.hooked, state.root_of(tensor), True)
    return node


def require_hookable(state: State, tensor: Value) -> None:
    """Break where a hook cannot be put on the tensor behind the graph as well as here."""
    if type(tensor) is not Node or type(tensor.fact) is not TensorFact:
        raise GraphBreak("FL308", "a hook is put on an object that is no plain tensor")
    if not attributes.read(state, tensor, "requires_grad").value:
        raise GraphBreak("FL308", "a hook is put on a tensor that does not require grad")
    if tensor.target is INPUT:
        inputs.guard_leaf(state.session, tensor)
        if state.root_of(tensor) in state.written:
            raise GraphBreak("FL308", "a hook is put on an input that was written to")
    elif not own_code.require(state):
        raise GraphBreak("FL308", "a hook is put on a result, and this backend makes backward graphs of its own")
    aliases.require_history(state, tensor)


def remove(state: State, handle: Node) -> None:
    """Take back the hook, behind what put it."""
    state.session.record(removed, (handle,), {}, type(None), None, tape="host")


def removed(handle: RemovableHandle) -> None:
    """Remove a hook; called by compiled code."""
    handle.remove()


def registers(function: Callable) -> Callable:
    """Decorator: compiled code calls this function to put a hook on a tensor."""
    REGISTERING.add(function)
    AFTER_GRAPH.add(function)
    return function


REGISTERING: set[Any] = set()
AFTER_GRAPH.add(removed)
