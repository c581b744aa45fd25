"""`.grad` of inputs: read once under a guard, then part of the trace; what was set is an effect when the entry is left."""

from __future__ import annotations

from typing import Any

import torch

from frameloom.pytorch import inputs
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts.base import replay
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, INPUT, NONE, Const, Node, Value

EFFECT = "tensor.grad"


def read(state: State, node: Node) -> Value:
    """`node.grad`.  Of a tensor made in the trace nobody has computed a gradient yet."""
    found = state.gradients.get(node)
    if found is not None:
        return found
    if node.target is INPUT and node.fact.is_leaf:
        found = inputs.gradient(state.session, node)
        state.session.journal.set_item(state.gradients, node, found)
        return found
    if node.fact.is_leaf:
        return NONE
    raise GraphBreak("FL306", "grad of a tensor that is no leaf is read")


def write(state: State, node: Node, value: Value) -> None:
    """`node.grad = value`, or `del node.grad`, which sets None."""
    if value is ABSENT:
        value = NONE
    if node.target is not INPUT or not _fits(node, value):
        raise GraphBreak("FL308", ".grad of a tensor is set")
    state.session.journal.set_item(state.gradients, node, value)
    state.session.operation(EFFECT, node, value)


def _fits(node: Node, value: Value) -> bool:
    """Whether torch takes this gradient for sure: it looks at class, sizes, dtype and device, and refuses the tensor itself."""
    if type(value) is Const:
        return value.value is None
    if type(value) is not Node or value is node or value.cls is not torch.Tensor or type(value.fact) is not TensorFact:
        return False
    own, given = node.fact, value.fact
    return (own.sizes, own.dtype, own.device) == (given.sizes, given.dtype, given.device) and not given.inference


@replay(EFFECT)
def _replay(build: Any, target: Node, value: Value) -> None:
    build.set_descriptor(inputs.GRAD, target, value)
