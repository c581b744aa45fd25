"""`torch.inference_mode`: its Python is inlined down to the C guard object, which a region of the trace stands for.

A region has no operation that enters it again in the middle.  So where a trace breaks inside one, the capture begins anew and
breaks before it.
"""

from __future__ import annotations

from typing import Any

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import modes
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Obj, Value


class InferenceRegion:
    """Stands for torch's own guard object inside a trace."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        enter_region(self, self.mode)

    def __exit__(self, *exception: Any) -> None:
        leave_region(self)


def enter_region(region: InferenceRegion, mode: bool) -> None:
    """Its rule does it."""
    raise AssertionError("a region of inference mode exists in traces only")


def leave_region(region: InferenceRegion) -> None:
    """Its rule does it."""
    raise AssertionError("a region of inference mode exists in traces only")


@rule(torch._C._InferenceMode)
def _make(m: Machine, mode: Value) -> Value:
    if modes.UNBROKEN in m.session.decisions:
        raise GraphBreak("FL319", "inference mode is entered, and what follows breaks inside it")
    return m.invoke(m.observe.constant(InferenceRegion), [mode], {})


@rule(enter_region)
def _enter(m: Machine, region: Obj, mode: Value) -> Value:
    wanted = bool(m.need_constant(mode, "FL201", "inference mode is set from a tensor"))
    modes.enter_inference(m.session.torch, region, wanted)
    return NONE


@rule(leave_region)
def _leave(m: Machine, region: Obj) -> Value:
    modes.leave_inference(m.session.torch, region)
    return NONE
