"""From the outcome of an operation to recorded nodes and symbolic values."""

from __future__ import annotations

import operator
from typing import Any, Callable

import torch

from frameloom.pytorch import aliases, own_code
from frameloom.pytorch.applied import WithBody
from frameloom.pytorch.arguments import Arguments
from frameloom.pytorch.facts import SizeFact
from frameloom.pytorch.outcomes import (
    ArgumentResult,
    ConstantResult,
    Outcome,
    SequenceResult,
    SizeResult,
    TensorResult,
)
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.values import Const, Node, Value


def perform(state: State, function: Callable, call: Arguments, outcome: Outcome, impure: bool) -> Value:
    """Record the operation where it does or makes something, and give its result."""
    session = state.session
    if outcome.is_query and not impure:
        return VALUES[type(outcome.result)](state, outcome.result, None, call)
    result = outcome.result
    if type(result) is TensorResult:
        if result.alias is None and result.fact.requires_grad and result.fact.is_leaf:
            own_code.insist(state)  # gradients are asked of the leaf itself, which is inside the graph
        node = session.record(function, call.args, call.kwargs, result.cls, result.fact)
        if result.alias is not None:
            aliases.share(state, node, call.nodes[result.alias], result.differentiable, result.safe and not isinstance(function, WithBody))
        value: Value = node
    elif type(result) is SizeResult:
        node = session.record(function, call.args, call.kwargs, int, SizeFact(result.size))
        value = node
    else:
        node = session.record(function, call.args, call.kwargs, object, None)
        value = VALUES[type(result)](state, result, node, call)
    if outcome.written:
        aliases.write(state, node, outcome, call.nodes)
    if outcome.random or outcome.fresh or impure:
        session.journal.set_item(state.impure, node, True)
    return value


def _argument(state: State, result: ArgumentResult, producer: Any, call: Arguments) -> Value:
    return call.nodes[result.index]


def _constant(state: State, result: ConstantResult, producer: Any, call: Arguments) -> Value:
    return Const(result.value)


def _item(state: State, result: Any, producer: Node, index: int, call: Arguments) -> Value:
    """One entry of a sequence that `producer` makes."""
    session = state.session
    kind = type(result)
    if kind is TensorResult:
        node = session.record(operator.getitem, (producer, index), {}, result.cls, result.fact)
        if result.alias is not None:
            aliases.share(state, node, call.nodes[result.alias], result.differentiable, result.safe and not isinstance(producer.target, WithBody))
        return node
    if kind is SizeResult:
        return session.record(operator.getitem, (producer, index), {}, int, SizeFact(result.size))
    if kind is SequenceResult:
        inner = session.record(operator.getitem, (producer, index), {}, object, None) if producer is not None else None
        return _sequence(state, result, inner, call)
    return VALUES[kind](state, result, producer, call)


def _sequence(state: State, result: SequenceResult, producer: Any, call: Arguments) -> Value:
    items = [_item(state, item, producer, index, call) for index, item in enumerate(result.items)]
    if result.cls is list:
        return state.session.alloc(list, ListBody(items))
    return state.session.alloc(result.cls, TupleBody(items))


VALUES: dict[type, Callable] = {
    ArgumentResult: _argument,
    ConstantResult: _constant,
    SequenceResult: _sequence,
}


def size_tuple(state: State, node: Node) -> Value:
    """`node.shape`: a fresh torch.Size."""
    items = [size_of(state, node, i) for i in range(len(node.fact.sizes))]
    return state.session.alloc(torch.Size, TupleBody(items))


def size_of(state: State, node: Node, dimension: int) -> Value:
    """One size of a tensor: a constant, or a node where it is symbolic."""
    size = node.fact.sizes[dimension]
    if type(size) is int:
        return Const(size)
    key = (node, node.fact, dimension)
    known = state.sizes.get(key)
    if known is None:
        known = state.session.record(SIZE, (node, dimension), {}, int, SizeFact(size))
        state.session.journal.set_item(state.sizes, key, known)
    return known


SIZE = torch._C.TensorBase.__dict__["size"]
