"""`torch.autograd.grad`: an operation of graphs that run as they are, since it asks autograd how their own operations depend on each other.

What it gives is told by doing all of it on fakes (`replayed.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import aliases, inputs, own_code, replayed
from frameloom.pytorch.applied import WithBody
from frameloom.pytorch.bodies import Operator
from frameloom.pytorch.state import State
from frameloom.pytorch.structure import LEAF, Shape, is_tensor, put_together, taken_apart
from frameloom.symbolic.values import FALSE, INPUT, NONE, TRUE, Const, Node, Value

GRAD = Operator("FL306", "torch.autograd.grad")


class Flags(NamedTuple):
    """The settings of a call, as `torch.autograd.grad` takes them."""

    retain_graph: bool | None
    create_graph: bool
    allow_unused: bool | None
    is_grads_batched: bool
    materialize_grads: bool


class Derivation(WithBody):
    """Derives, of its operands, the first `outputs` by the next `inputs`; the others are gradients, for the outputs in `weighted`."""

    kind, title, may_fail, draws = GRAD.kind, GRAD.title, True, False

    def __init__(self, outputs: int, inputs: int, weighted: tuple[bool, ...], flags: Flags) -> None:
        self.outputs = outputs
        self.inputs = inputs
        self.weighted = weighted
        self.flags = flags
        self.__name__ = self.__qualname__ = "autograd_grad"

    def __call__(self, *operands: Any) -> tuple:
        outputs, by = operands[: self.outputs], operands[self.outputs : self.outputs + self.inputs]
        left = iter(operands[self.outputs + self.inputs :])
        weights = [next(left) if is_given else None for is_given in self.weighted]
        return torch.autograd.grad(outputs, by, weights, **self.flags._asdict())


@rule(torch.autograd.grad)
def _grad(
    m: Machine, outputs: Value, inputs: Value, grad_outputs: Value = NONE, retain_graph: Value = NONE, create_graph: Value = FALSE,
    only_inputs: Value = TRUE, allow_unused: Value = NONE, is_grads_batched: Value = FALSE, materialize_grads: Value = FALSE,
) -> Value:
    state = m.session.torch
    flags = (retain_graph, create_graph, allow_unused, is_grads_batched, materialize_grads)
    if not all(type(flag) is Const for flag in flags) or type(only_inputs) is not Const or not only_inputs.value:
        raise GRAD.refuse("its settings are known at run time only")
    of, _ = _sequence(m, outputs, "an output")
    by, shape = _sequence(m, inputs, "an input")
    weights = _weights(m, grad_outputs, len(of))
    _require_own_history(state, bool(create_graph.value) or any(node.target is not INPUT for node in by))
    target = Derivation(len(of), len(by), tuple(map(is_tensor, weights)), Flags(*[flag.value for flag in flags]))
    operands = [*of, *by, *filter(is_tensor, weights)]
    for node in operands:
        aliases.require_history(state, node)
    found = replayed.record(state, GRAD, target, operands, lambda given: _require_leaves(state, given, by))
    return put_together(m.session, Shape(tuple, (LEAF,) * len(found)) if shape.cls is not dict else shape, iter(found))


def _sequence(m: Machine, value: Value, what: str) -> tuple[list[Node], Shape]:
    """The tensors that an argument names: one, or a plain container of some."""
    leaves, shape = taken_apart(m.session, value, GRAD.kind)
    if not leaves or not all(map(is_tensor, leaves)) or len(shape.parts) not in (0, len(leaves)):
        raise GRAD.refuse(f"{what} is no tensor")
    return leaves, shape


def _weights(m: Machine, value: Value, size: int) -> list[Value]:
    """For each output the gradient that it comes with, or None."""
    if _is_none(value):
        return [NONE] * size
    leaves, shape = taken_apart(m.session, value, GRAD.kind)
    if len(leaves) != size or len(shape.parts) not in (0, size) or not all(_is_none(leaf) or is_tensor(leaf) for leaf in leaves):
        raise GRAD.refuse("the gradients of outputs are no tensors")
    return leaves


def _is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None


def _require_own_history(state: State, within: bool) -> None:
    """Break where autograd cannot be asked of the operations of the graph.

    within: whether behind a break it could not either: the graph's results would have one function of autograd between them, which leads
    to its inputs only, and has no derivative.
    """
    if state.bodies or state.tries or state.regions_open:
        raise GRAD.refuse("it is called in a function that an operation of torch runs")
    if state.inference:
        raise GRAD.refuse("inference mode is on")
    if state.hooked:
        raise GRAD.refuse("hooks were put on tensors before")
    if within:
        own_code.insist(state)
    elif not own_code.require(state):
        raise GRAD.refuse("this backend makes backward graphs of its own")


def _require_leaves(state: State, given: list[Node], by: list[Node]) -> None:
    """Whatever an input comes from is not looked at: gradients must not flow through it, and nothing may be called where one arrives."""
    for node in given:
        if not is_tensor(node) or not state.entry_facts[node].requires_grad:
            continue
        inputs.guard_requires_grad(state.session, node)
        inputs.guard_leaf(state.session, node)
        if not state.entry_facts[node].is_leaf:
            raise GRAD.refuse("it depends on a tensor that was computed outside the graph")
        if node in by and not inputs.attribute_is_none(state.session, node, "_backward_hooks"):
            raise GRAD.refuse("a hook was put on an input before")
