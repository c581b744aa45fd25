"""`torch.autograd.Function`: where no gradient will be asked for, `apply` is its `forward` with a plain context.

Where gradients are recorded, `apply` is one operation of the graph, and torch runs the program's own `forward` and `backward`.  A
backend may run them while it compiles only.  So both are traced first, and what they look at is guarded; that trace is taken
back.  Where they do more than compute tensors from their arguments, the call breaks.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.nn.modules._functions import BackwardHookFunction

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import application, attributes, grad_functions, modes, record
from frameloom.pytorch.applied import Applied
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import FALSE, NONE, Const, Node, Obj, Value


OWN = frozenset(dir(torch.autograd.Function))
"""What a real context has, beside what the program puts there."""


class ForwardContext:
    """The context in a trace: it keeps what it is given."""

    def __init__(self, name: str, needs_input_grad: tuple) -> None:
        self._name = name
        self.needs_input_grad = needs_input_grad
        self.saved_tensors = ()
        self._without_gradient: tuple = ()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        pass

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._without_gradient = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self._materialize = value

    def mark_dirty(self, *tensors: Any) -> None:
        dirty(self)

    def __getattr__(self, name: str) -> Any:
        if name in OWN:
            return beyond(name)
        raise AttributeError(f"'{self._name}' object has no attribute '{name}'")


def dirty(context: ForwardContext) -> None:
    """Its rule breaks where forward is inlined, since who else shares the tensors decides what they are afterwards."""
    raise AssertionError("contexts of this class exist in traces only")


def beyond(name: str) -> Any:
    """Its rule breaks."""
    raise AssertionError("contexts of this class exist in traces only")


@rule(dirty)
def _dirty(m: Machine, context: Value) -> Value:
    if not m.session.torch.tries:
        raise GraphBreak("FL301", "mark_dirty without gradients")
    return NONE


@rule(beyond)
def _beyond(m: Machine, name: Value) -> Value:
    raise GraphBreak("FL301", f"{name.value} of a context")


@rule(torch.autograd.Function.apply.__func__)
def _apply(m: Machine, cls: Value, *args: Value, **kwargs: Value) -> Value:
    state = m.session.torch
    if state.bodies:
        raise GraphBreak("FL301", "an autograd.Function inside a function that an operation of torch is given")
    if kwargs:
        raise GraphBreak("FL301", "autograd.Function.apply with keyword arguments")
    if cls.real is not None and m.observe.known(cls) is BackwardHookFunction and state.grad:
        grad_functions.require_hooks(state)
        return record.apply(state, Applied(BackwardHookFunction), list(args), {}, exact=True)
    if state.grad and any(_requires_grad(value) for value in args):
        return application.apply(m, cls, args, functools.partial(_both_ways, m, cls, args))
    before = state.grad
    modes.set_grad(state, False)
    result = _forward(m, cls, args)
    result = _as_results(m, state, result, args)
    modes.set_grad(state, before)
    return result


def _requires_grad(value: Value) -> bool:
    return type(value) is Node and type(value.fact) is TensorFact and value.fact.requires_grad


def _both_ways(m: Machine, cls: Value, args: tuple[Value, ...]) -> None:
    """Run forward and backward, as autograd would, for what they look at."""
    context, result = _run_forward(m, cls, args)
    zeros = bool(m.need_constant(get_attribute(m, context, "_materialize"), "FL301", "set_materialize_grads"))
    without = () if zeros else tuple_.items(m.session, get_attribute(m, context, "_without_gradient").body)
    gradients = [NONE if item in without else application.gradient_of(m.session.torch, item) for item in _parts(m, result)]
    for name in ("clear_saved_tensors_on_access", "boxed_grads_call"):
        if m.need_constant(get_attribute(m, cls, name), "FL301", name):
            raise GraphBreak("FL301", f"{name} of a function")
    own = m.observe.type_lookup(m.observe.known(cls), "vjp")
    name = "backward" if own is m.observe.type_lookup(torch.autograd.Function, "vjp") else "vjp"
    m.invoke(get_attribute(m, cls, name), [context, *gradients], {})


def _forward(m: Machine, cls: Value, args: tuple[Value, ...]) -> Value:
    return _run_forward(m, cls, args)[1]


def _run_forward(m: Machine, cls: Value, args: tuple[Value, ...]) -> tuple[Value, Value]:
    needs = m.tuple([_needs_gradient(m, value) for value in args])
    name = Const(m.observe.known(cls).__name__ + "Backward")
    context = m.invoke(m.observe.constant(ForwardContext), [name, needs], {})
    forward = get_attribute(m, cls, "forward")
    if not _has_setup(m, cls):
        return context, m.invoke(forward, [context, *args], {})
    result = m.invoke(forward, list(args), {})
    if not m.session.torch.tries and any(item is given for item in _parts(m, result) for given in args):
        raise GraphBreak("FL301", "an argument is given back as it is, where the context is set up apart")
    m.invoke(get_attribute(m, cls, "setup_context"), [context, m.tuple(list(args)), result], {})
    return context, result


def _needs_gradient(m: Machine, value: Value) -> Value:
    """Whether an argument requires grad, be gradients recorded or not."""
    if type(value) is Node and type(value.fact) is TensorFact:
        return attributes.read(m.session.torch, value, "requires_grad")
    return FALSE


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
