"""Questions about `__torch_function__`: tensors of a trace are plain, so only objects of other classes may override."""

from __future__ import annotations

from typing import Iterable

import torch

from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.values import FALSE, TRUE, Const, Node, Obj, Value, boolean

PLAIN = frozenset({torch.Tensor, torch.nn.Parameter, tuple, list, dict, str, int, float, bool, type(None)})


def overrides(m: Machine, values: Iterable[Value]) -> bool:
    """Whether one of the values is of a class with a `__torch_function__` of its own."""
    for value in values:
        if type(value) is Const or value.cls in PLAIN or type(value) is Node:
            continue
        if type(value) is Obj and m.observe.peek_type(value.cls, "__torch_function__") is not MISSING:
            return True
    return False


@rule(torch._C._has_torch_function_unary, torch._C._has_torch_function_variadic)
def _variadic(m: Machine, *values: Value) -> Value:
    return boolean(overrides(m, values))


@rule(torch._C._has_torch_function)
def _iterable(m: Machine, values: Value) -> Value:
    return boolean(overrides(m, unpack(m, values)))


@rule(torch._C._is_torch_function_enabled)
def _enabled(m: Machine) -> Value:
    return TRUE


@rule(torch._C._is_torch_function_all_disabled, torch._C._is_torch_function_mode_enabled)
def _disabled(m: Machine) -> Value:
    return FALSE


@rule(torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack)
def _stack(m: Machine) -> Value:
    return Const(0)


@rule(torch.overrides.is_tensor_like)
def _is_tensor_like(m: Machine, value: Value) -> Value:
    return boolean(issubclass(value.cls, torch.Tensor) or overrides(m, [value]))


@rule(torch.is_tensor)
def _is_tensor(m: Machine, obj: Value) -> Value:
    return boolean(issubclass(obj.cls, torch.Tensor))
