"""`flex_attention`: attention whose scores a function of the program changes.

Torch's function checks its arguments and makes a default mask in Python, which is inlined.  Outside of any graph it then has torch's own
compiler make a graph of one operator; here the operator is called in the graph that is being made, with captured functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch._higher_order_ops import utils
from torch._higher_order_ops.flex_attention import FlexAttentionHOP
from torch._higher_order_ops.flex_attention import flex_attention as operator
from torch.nn.attention.flex_attention import flex_attention

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import named_rule, rule
from frameloom.pytorch import bodies
from frameloom.pytorch.bodies import Body, Given, Operator
from frameloom.pytorch.facts import TensorFact, fact
from frameloom.pytorch.structure import is_tensor, taken_apart
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.values import NONE, TRUE, Const, Value

FLEX = Operator("FL314", "flex_attention")

bodies.breaks_as_one(flex_attention, FLEX)


def in_this_graph(*_: Any) -> None:
    """The backend that torch's functions are given in a trace: none."""
    raise AssertionError("it exists in traces only")


def without_another_compiler() -> Iterator[Any]:
    """In place of the context in which torch has its own compiler called."""
    yield in_this_graph


@rule(utils.setup_compilation_env.__wrapped__)
def _setup(m: Machine) -> Value:
    return m.invoke(m.observe.constant(without_another_compiler), [], {})


@rule(torch.compile)
def _compile(m: Machine, model: Value = NONE, **kwargs: Value) -> Any:
    backend = kwargs.get("backend")
    if backend is None or backend is not m.observe.constant(in_this_graph):
        return NotImplemented
    return model


@named_rule("torch._dynamo.eval_frame", "is_dynamo_supported")
def _is_supported(m: Machine) -> Value:
    """Whether torch's own compiler could do it: there is nothing that it would be asked to do."""
    return TRUE


@rule(FlexAttentionHOP.__call__)
def _flex_attention(
    m: Machine, op: Value, query: Value, key: Value, value: Value, score_mod: Value, block_mask: Value, scale: Value, kernel_options: Value
) -> Value:
    session = m.session
    if not all(map(is_tensor, (query, key, value))):
        raise FLEX.refuse("an argument is no plain tensor")
    *mask, mask_mod = tuple_.items(session, block_mask.body)
    parts = [session.observe.resolve(part) for part in mask]
    if not all(is_tensor(part) or type(part) is Const for part in parts):
        raise FLEX.refuse("a mask that is made of something else than tensors and numbers")
    score = _scalar(query.fact.dtype, query.fact.device, query.fact.requires_grad)
    indices = [_scalar(torch.int32, query.fact.device) for _ in range(4)]
    changed, masked = _capture(m, score_mod, [score, *indices]), _capture(m, mask_mod, indices)
    scaled = m.need_constant(scale, FLEX.kind, "a scale known at run time only")
    options = _constants(m, kernel_options)
    tensors = [part for part in parts if is_tensor(part)]
    places, constants = [*map(is_tensor, parts)], [None if is_tensor(part) else part.value for part in parts]
    ends = (3, 3 + len(tensors), 3 + len(tensors) + len(changed.lifted))
    score_graph, mask_graph = changed.module, masked.module

    def change(*operands: Any) -> Any:
        return score_graph.forward(*operands)[0]

    def keep(*operands: Any) -> Any:
        return mask_graph.forward(*operands)[0]

    def run(*operands: Any) -> tuple:
        left = iter(operands[ends[0] : ends[1]])
        blocks = [next(left) if is_one else constant for is_one, constant in zip(places, constants)]
        return tuple(
            operator(
                *operands[:3], change, (*blocks, keep), scaled, {**options}, tuple(operands[ends[1] : ends[2]]), tuple(operands[ends[2] :])
            )
        )

    operands = [query, key, value, *tensors, *changed.lifted, *masked.lifted]
    return m.tuple(bodies.perform(m, FLEX, operands, run, [changed, masked]))


def _scalar(dtype: torch.dtype, device: torch.device, requires_grad: bool = False) -> TensorFact:
    return fact(dtype, device, (), (), requires_grad)


def _capture(m: Machine, function: Value, facts: list[TensorFact]) -> Body:
    """A function of one score and its place, which gives one tensor."""
    journal, state = m.session.journal, m.session.torch
    before = state.getitem
    journal.set_field(state, "getitem", element)
    body = bodies.capture(m, FLEX, function, facts, lambda stand_ins: Given([*stand_ins], {}))
    journal.set_field(state, "getitem", before)
    if not body.all_tensors or body.shape.cls is not None or body.facts[0].sizes:
        raise FLEX.refuse("its function does not give one number for each score")
    return body


def element(tensor: torch.Tensor, index: Any) -> torch.Tensor:
    """`tensor[index]` in a function that the operator runs, where a tensor without dimensions is no number: the operator runs it under
    a mode that sees to it, and there is none where only facts are asked for."""
    indices = [*index] if type(index) is tuple else [index]
    if torch._C._len_torch_function_stack() or not all(type(one) is int or isinstance(one, torch.Tensor) for one in indices):
        return tensor[index]
    return torch.ops.aten.index(tensor, [torch.tensor(one) if type(one) is int else one for one in indices])


def _constants(m: Machine, kernel_options: Value) -> dict:
    """The options of kernels, all of them constants."""
    leaves, shape = taken_apart(m.session, kernel_options, FLEX.kind)
    if shape.cls is not dict or not all(type(leaf) is Const for leaf in leaves):
        raise FLEX.refuse("options of kernels that are no constants")
    return dict(zip(shape.keys, [leaf.value for leaf in leaves]))
