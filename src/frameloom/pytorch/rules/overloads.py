"""Calls of `torch.ops.<namespace>.<name>`: operators of the dispatcher, custom ones included, go to the graph as they are."""

from __future__ import annotations

from typing import Any

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import record
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Value


@rule(torch._ops.OpOverload.__call__, torch._ops.OpOverloadPacket.__call__)
def _call(m: Machine, *args: Value, **kwargs: Value) -> Any:
    operator = m.observe.known(args[0])
    if operator is MISSING:
        raise GraphBreak("FL101", "an operator that is computed")
    return record.apply(m.session.torch, operator, list(args[1:]), kwargs)


@rule(torch._ops.HigherOrderOperator.__call__)
def _call_higher(m: Machine, *args: Value, **kwargs: Value) -> Any:
    raise GraphBreak("FL314", f"an operator of class {args[0].cls.__qualname__}")
