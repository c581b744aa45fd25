"""Functions of autograd as objects: they exist behind the graph only, and are known of one function of torch's."""

from __future__ import annotations

import operator
from typing import Any

from torch.nn.modules._functions import BackwardHookFunction

from frameloom.pytorch import own_code
from frameloom.pytorch.applied import Applied
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts.effect import AFTER_GRAPH
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node


def require_hooks(state: State) -> None:
    """Break where a module's backward hooks cannot be put on functions of the graph."""
    if state.bodies or state.tries or not own_code.require(state):
        raise GraphBreak("FL316", "a backward hook is put around a module's call")


def behind(state: State, tensor: Node) -> Node | None:
    """`grad_fn` of a result of torch's function that module hooks hang on, as it is behind the graph; None of any other tensor."""
    producer = tensor.args[0] if tensor.target is operator.getitem else tensor
    if type(producer.target) is not Applied or producer.target.cls is not BackwardHookFunction or not own_code.require(state):
        return None
    node = state.functions.get(tensor)
    if node is None:
        node = state.session.record(function_of, (tensor,), {}, BackwardHookFunction._backward_cls, None, tape="host")
        state.session.journal.set_item(state.functions, tensor, node)
        state.session.journal.set_item(state.hooked, state.root_of(tensor), True)
    return node


def function_of(tensor: Any) -> Any:
    """Called by compiled code."""
    return tensor.grad_fn


AFTER_GRAPH.add(function_of)
