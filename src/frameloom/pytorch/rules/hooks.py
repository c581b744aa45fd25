"""Hooks on tensors: `register_hook`, `register_post_accumulate_grad_hook`, `retain_grad`, and the handles that remove hooks; and those that
modules put around their calls.

A module with backward hooks hands its tensors through a function of autograd of torch's, and puts its hooks on that: torch's own Python,
which is inlined in graphs that run as they are.  The function is an operation, and `grad_fn` of its results an object behind the graph.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.graph import _MultiHandle, register_multi_grad_hook
from torch.utils.hooks import RemovableHandle

from frameloom.interpreter.attributes import OWN_NAMES
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import attributes, grad_functions, hooks
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.structure import taken_apart
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Node, Value

OWN_NAMES[_MultiHandle] = frozenset({"handles"})
OWN_NAMES[RemovableHandle] = frozenset({"hooks_dict_ref", "id", "extra_dict_ref"})


@hooks.registers
def put_hook(tensor: torch.Tensor, hook: Any) -> RemovableHandle:
    """Called by compiled code."""
    return tensor.register_hook(hook)


@hooks.registers
def put_hook_behind(tensor: torch.Tensor, hook: Any) -> RemovableHandle:
    """Called by compiled code."""
    return tensor.register_post_accumulate_grad_hook(hook)


@hooks.registers
def keep_gradient(tensor: torch.Tensor) -> None:
    """Called by compiled code."""
    tensor.retain_grad()


@rule(torch.Tensor.register_hook)
def _register_hook(m: Machine, self: Value, hook: Value) -> Value:
    return hooks.put(m.session.torch, put_hook, self, hook)


@rule(torch.Tensor.register_post_accumulate_grad_hook)
def _register_behind(m: Machine, self: Value, hook: Value) -> Value:
    if type(self) is Node and type(self.fact) is TensorFact and not attributes.read(m.session.torch, self, "is_leaf").value:
        raise GraphBreak("FL308", "a hook behind the accumulation of gradients is put on a result")
    return hooks.put(m.session.torch, put_hook_behind, self, hook)


@rule(torch._C.TensorBase.retain_grad)
def _retain_grad(m: Machine, self: Value) -> Value:
    hooks.put(m.session.torch, keep_gradient, self)
    return NONE


@hooks.registers
def put_hook_on_several(hook: Any, mode: str, *tensors: torch.Tensor) -> RemovableHandle:
    """Called by compiled code."""
    return register_multi_grad_hook(tensors, hook, mode=mode)


@rule(register_multi_grad_hook)
def _register_on_several(m: Machine, tensors: Value, fn: Value, *, mode: Value = Const("all")) -> Value:
    """Mode `all` counts the functions of autograd of this moment; behind the graph they are the same."""
    state = m.session.torch
    found, shape = taken_apart(m.session, tensors, "FL308")
    if shape.cls not in (tuple, list) or len(shape.parts) != len(found) or type(mode) is not Const:
        raise GraphBreak("FL308", "a hook is put on what is no sequence of tensors")
    for tensor in found:
        hooks.require_hookable(state, tensor)
    node = m.session.record(put_hook_on_several, (fn, mode, *found), {}, _MultiHandle, None, tape="host")
    for tensor in found:
        m.session.journal.set_item(state.hooked, state.root_of(tensor), True)
    return node


@rule(RemovableHandle.remove, _MultiHandle.remove)
def _remove(m: Machine, self: Value) -> Value:
    if type(self) is not Node or self.target not in hooks.REGISTERING:
        return NotImplemented
    hooks.remove(m.session.torch, self)
    return NONE


FUNCTION = torch.nn.modules._functions.BackwardHookFunction
BEHIND = FUNCTION._backward_cls
OWN_NAMES[BEHIND] = frozenset()


@rule(torch.utils.hooks.BackwardHook, torch.utils.hooks.BackwardHook.setup_input_hook, torch.utils.hooks.BackwardHook.setup_output_hook)
def _around_a_module(m: Machine, *args: Value) -> Any:
    grad_functions.require_hooks(m.session.torch)
    return NotImplemented


@hooks.registers
def put_hook_on_function(function: Any, hook: Any) -> RemovableHandle:
    """Called by compiled code."""
    return function.register_hook(hook)


@rule(torch._C._FunctionBase.register_hook)
def _register_on_function(m: Machine, self: Value, hook: Value) -> Value:
    if type(self) is not Node or self.target is not grad_functions.function_of:
        return NotImplemented
    return m.session.record(put_hook_on_function, (self, hook), {}, RemovableHandle, None, tape="host")


@rule(torch._C._FunctionBase.name)
def _name_of_function(m: Machine, self: Value) -> Value:
    return Const(BEHIND.__name__) if type(self) is Node and self.target is grad_functions.function_of else NotImplemented
