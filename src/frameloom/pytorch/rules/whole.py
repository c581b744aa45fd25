"""Functions of torch written in Python that are recorded as one operation each.

They do nothing but compute tensors from tensors and constants, so running them on fakes tells all, and the graph calls them as
the program did.  Inlining them would give the same graph in smaller pieces, more slowly.
"""

from __future__ import annotations

import types
from typing import Any

import torch
import torch.nn.functional as F

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.symbolic.values import Node, Obj, Value

FUNCTIONS = (
    torch.einsum, torch.functional.norm, torch.stft, torch.istft, torch.cdist, torch.tensordot, torch.cartesian_prod,
    torch.block_diag, torch.broadcast_tensors, torch.atleast_1d, torch.atleast_2d, torch.atleast_3d, torch.meshgrid,
    torch.split, torch.chain_matmul, F.interpolate, F.grid_sample, F.affine_grid, F.layer_norm, F.group_norm,
    F.rms_norm, F.gelu, F.silu, F.softmax, F.log_softmax, F.embedding, F.relu, F.cross_entropy, F.mse_loss, F.l1_loss,
    F.smooth_l1_loss, F.normalize, F.cosine_similarity, F.glu, F.unfold, F.fold, F.pad, F.mish, F.hardswish, F.leaky_relu,
    F.elu, F.selu, F.sigmoid, F.tanh, F.softmin, F.hardsigmoid, F.relu6,
)

METHODS = ("norm", "split", "unflatten", "stft", "istft", "__reversed__")
"""Those whose code object is theirs alone: a rule goes by the code."""


def _record_whole(function: Any) -> None:
    @rule(function)
    def recorded(m: Machine, *args: Value, **kwargs: Value) -> Any:
        if not (any(map(_has_node, args)) or any(map(_has_node, kwargs.values()))):
            return NotImplemented
        return m.domain.apply(m.session, function, list(args), dict(kwargs))


def _has_node(value: Value) -> bool:
    """Whether an argument is a tensor of the trace, or a sequence that may hold some."""
    return type(value) is Node or type(value) is Obj and issubclass(value.cls, (list, tuple))


for _function in FUNCTIONS:
    if isinstance(_function, types.FunctionType):
        assert _function.__closure__ is None, _function  # a rule goes by the code, which closures share
        _record_whole(_function)
for _name in METHODS:
    _found = vars(torch.Tensor).get(_name)
    if isinstance(_found, types.FunctionType):
        _record_whole(_found)
