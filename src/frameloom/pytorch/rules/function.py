"""`torch.autograd.Function`: where no gradient will be asked for, `apply` is its `forward` with a plain context."""

from __future__ import annotations

from typing import Any

import torch

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import modes, record
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import FALSE, Node, Obj, Value


class ForwardContext:
    """The context of a forward whose backward never runs: it keeps what it is given."""

    def __init__(self, needs_input_grad: tuple) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        pass

    def mark_non_differentiable(self, *tensors: Any) -> None:
        pass

    def set_materialize_grads(self, value: bool) -> None:
        pass


@rule(torch.autograd.Function.apply.__func__)
def _apply(m: Machine, cls: Value, *args: Value, **kwargs: Value) -> Value:
    state = m.session.torch
    if kwargs:
        raise GraphBreak("FL301", "autograd.Function.apply with keyword arguments")
    if state.grad and any(_requires_grad(value) for value in args):
        raise GraphBreak("FL301", f"{cls.real.source}.apply" if cls.real is not None else "apply")
    before = state.grad
    modes.set_grad(state, False)
    result = _forward(m, cls, args)
    result = _as_results(m, state, result, args)
    modes.set_grad(state, before)
    return result


def _requires_grad(value: Value) -> bool:
    return type(value) is Node and type(value.fact) is TensorFact and value.fact.requires_grad


def _forward(m: Machine, cls: Value, args: tuple[Value, ...]) -> Value:
    needs = m.tuple([FALSE for _ in args])
    context = m.invoke(m.observe.constant(ForwardContext), [needs], {})
    forward = get_attribute(m, cls, "forward")
    if not _has_setup(m, cls):
        return m.invoke(forward, [context, *args], {})
    result = m.invoke(forward, list(args), {})
    if any(item is given for item in _parts(m, result) for given in args):
        raise GraphBreak("FL301", "an argument is given back as it is, where the context is set up apart")
    m.invoke(get_attribute(m, cls, "setup_context"), [context, m.tuple(list(args)), result], {})
    return result


def _has_setup(m: Machine, cls: Value) -> bool:
    own = m.observe.type_lookup(m.observe.known(cls), "setup_context")
    base = m.observe.type_lookup(torch.autograd.function._SingleLevelFunction, "setup_context")
    return own is not base


def _parts(m: Machine, result: Value) -> list[Value]:
    if type(result) is Obj and isinstance(result.body, TupleBody):
        return tuple_.items(m.session, result.body)
    return [result]


def _as_results(m: Machine, state: State, result: Value, args: tuple[Value, ...]) -> Value:
    """An argument that is given back comes as a view of itself, as autograd wraps it."""
    if type(result) is Obj and isinstance(result.body, TupleBody):
        items = [_as_result(state, item, args) for item in tuple_.items(m.session, result.body)]
        return m.tuple(items)
    return _as_result(state, result, args)


def _as_result(state: State, value: Value, args: tuple[Value, ...]) -> Value:
    if type(value) is Node and any(value is given for given in args):
        return record.apply(state, VIEW_AS, [value, value], {})
    return value


VIEW_AS = torch._C.TensorBase.__dict__["view_as"]
