"""Questions about strides.

Where a dimension has one element or none, any stride is as good as another, and torch's fake kernels do not always choose the
one that the real kernels choose.  So the strides of such a result are not told; those of inputs are, since they are guarded.
"""

from __future__ import annotations

from typing import Any

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import method
from frameloom.pytorch import record
from frameloom.pytorch.facts import TensorFact
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import INPUT, Node, Value

BASE = torch._C.TensorBase
STRIDE = BASE.__dict__["stride"]


@method(BASE, "stride")
def _stride(m: Machine, tensor: Value, *args: Value, **kwargs: Value) -> Any:
    if type(tensor) is Node and type(tensor.fact) is TensorFact and tensor.target is not INPUT:
        if any(type(size) is int and size < 2 for size in tensor.fact.sizes):
            raise GraphBreak("FL206", "the stride of a dimension of one element")
    return record.apply(m.session.torch, STRIDE, [tensor, *args], kwargs)
