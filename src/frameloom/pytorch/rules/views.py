"""Questions whether a tensor is a view: the trace knows what its own operations share, and autograd what they were given."""

from __future__ import annotations

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import guards, inputs
from frameloom.pytorch.facts import TensorFact
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import INPUT, Const, Node, Value


@rule(torch._C.TensorBase.__dict__["_is_view"])
def _is_view(m: Machine, tensor: Value) -> Value:
    if type(tensor) is not Node or type(tensor.fact) is not TensorFact or tensor.fact.inference:
        raise GraphBreak("FL308", "whether a tensor is a view is asked")  # in inference mode autograd does not know
    if tensor.target is not INPUT:
        view = m.session.torch.views.get(tensor)
        return Const(view is not None and view.base is not None)  # what is detached shares memory, and is none
    answer = inputs.object_of(tensor)._is_view()
    m.session.guard("CALL", tensor.real.source, (guards.is_view_is, answer, "{}._is_view()"))
    return Const(answer)
