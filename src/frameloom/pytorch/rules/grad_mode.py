"""Recording of gradients: asked and set by C functions; the context managers around them are Python and are inlined."""

from __future__ import annotations

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import method, refuse, rule
from frameloom.pytorch import attributes, modes
from frameloom.symbolic.values import NONE, TRUE, Value, boolean


@rule(torch.is_grad_enabled)
def _is_grad_enabled(m: Machine) -> Value:
    return boolean(m.session.torch.grad)


@rule(torch._C._set_grad_enabled)
def _set_grad_enabled(m: Machine, mode: Value) -> Value:
    modes.set_grad(m.session.torch, bool(m.need_constant(mode, "FL201", "the grad mode is set from a tensor")))
    return NONE


@rule(torch.is_inference_mode_enabled)
def _is_inference_mode_enabled(m: Machine) -> Value:
    return boolean(m.session.torch.inference)


refuse("FL319", "forward-mode differentiation is switched", torch._C._set_fwd_grad_enabled)
refuse("FL319", "views are made with multithreading switched", torch._C._set_multithreading_enabled)


@method(torch._C.TensorBase, "requires_grad_")
def _requires_grad(m: Machine, tensor: Value, wanted: Value = TRUE) -> Value:
    """Where nothing changes or a result becomes a leaf; else it breaks."""
    attributes.set_requires_grad(m.session.torch, tensor, wanted)
    return tensor
