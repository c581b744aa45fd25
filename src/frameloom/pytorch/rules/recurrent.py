"""Recurrent layers: one operation of the graph, and a break for backends that would take it apart step by step.

AOTAutograd makes of a layer the operations of every step in time: thousands of nodes for a sequence of a hundred, and another graph for
each length; where it keeps CPU's own kernel, the backward graph that it makes of an LSTM fails.
"""

from __future__ import annotations

from typing import Any

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Value

LAYERS = ("lstm", "gru", "rnn_tanh", "rnn_relu")


def _whole(name: str) -> None:
    @rule(getattr(torch._VF, name))
    def layer(m: Machine, *args: Value, **kwargs: Value) -> Any:
        if m.session.torch.makes_backward:
            raise GraphBreak("FL322", f"torch.{name}")
        return NotImplemented


for _name in LAYERS:
    _whole(_name)
