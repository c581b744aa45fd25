"""`torch.autograd.grad`: an operation of graphs that run as they are, since it asks autograd how their own operations depend on each other.

What it gives is told by doing all of it on fakes: the operations that the outputs come from are run again, with their history, and torch
derives.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import aliases, fakes, graph, inputs, own_code, unbacked
from frameloom.pytorch.applied import WithBody
from frameloom.pytorch.bodies import Operator
from frameloom.pytorch.casts import casting
from frameloom.pytorch.liveness import live_nodes
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
    found = _derive(state, target, [*of, *by, *filter(is_tensor, weights)], by)
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


def _derive(state: State, target: Derivation, operands: list[Node], by: list[Node]) -> list[Value]:
    """Record the operation; the gradients, None for an input that was not used."""
    for node in operands:
        aliases.require_history(state, node)
    live = live_nodes(state, operands)
    given = graph.used_inputs(live, operands)
    _require_leaves(state, given, by)
    told = list(dict.fromkeys([*operands, *filter(is_tensor, live), *given]))
    seen, found = _on_fakes(state, target, live, given, told, len(operands))
    node = state.session.record(target, tuple(operands), {}, tuple, None)
    state.session.journal.set_item(state.impure, node, True)  # what it lets go of cannot be derived again
    known = {id(fake): value for fake, value in zip(seen, told)}
    storages = {fakes.storage_of(fake): value for fake, value in zip(seen, told)}
    return [NONE if item is None else _gradient(state, node, index, item, known, storages) for index, item in enumerate(found)]


def _gradient(state: State, node: Node, index: int, found: torch.Tensor, known: dict[int, Node], storages: dict[int, Node]) -> Value:
    if id(found) in known:
        return known[id(found)]
    made = state.session.record(operator.getitem, (node, index), {}, torch.Tensor, fakes.fact_of(found))
    owner = storages.setdefault(fakes.storage_of(found), made)
    if owner is not made:
        aliases.share(state, made, owner, found.requires_grad and found._is_view(), False)
    known[id(found)] = made
    return made


def _require_leaves(state: State, given: list[Node], by: list[Node]) -> None:
    """Whatever an input comes from is not looked at: gradients must not flow through it, and nothing may be called where one arrives."""
    for node in given:
        if not is_tensor(node) or node.target is not INPUT:
            raise GRAD.refuse("it depends on a number that is known at run time only")
        if not state.entry_facts[node].requires_grad:
            continue
        inputs.guard_requires_grad(state.session, node)
        inputs.guard_leaf(state.session, node)
        if not state.entry_facts[node].is_leaf:
            raise GRAD.refuse("it depends on a tensor that was computed outside the graph")
        if node in by and not inputs.attribute_is_none(state.session, node, "_backward_hooks"):
            raise GRAD.refuse("a hook was put on an input before")


def _on_fakes(
    state: State, target: Derivation, live: list[Node], given: list[Node], told: list[Node], operands: int
) -> tuple[list, tuple]:
    """The fakes of the nodes `told`, the operands first, and what is derived of them."""
    if unbacked.count_made(state.shapes):
        raise GRAD.refuse("it depends on sizes that follow from data")
    module = graph.build_module(state, live, given, told)
    source = fakes.static_fakes() if state.shapes is None else state.shapes.fakes
    stand_ins = [source.make(state.entry_facts[node]) for node in given]
    with fakes.quiet(), casting(state.entry_autocast.casts), source.mode:
        with fakes.autograd_mode(state.entry_grad, False):
            seen = fakes.guarded_call(module.forward, tuple(stand_ins), {})
        with fakes.autograd_mode(state.grad, False):
            try:
                return list(seen), fakes.guarded_call(target, tuple(seen[:operands]), {})
            except fakes.OperationFailed as failure:
                raise GRAD.refuse(f"it refuses its arguments: {fakes.first_line(failure.error)}") from None
