"""Settings of torch: asked and set by C functions; what is around them is Python and is inlined."""

from __future__ import annotations

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import record, settings
from frameloom.pytorch.settings import Setting
from frameloom.symbolic.values import NONE, Const, Value

COMPUTED = "a setting of torch is computed by the graph"


def _rules_of(setting: Setting) -> None:
    @rule(setting.read)
    def read(m: Machine) -> Value:
        return Const(settings.value_of(m.session.torch, setting))

    @rule(setting.set)
    def change(m: Machine, wanted: Value) -> Value:
        settings.change(m.session.torch, setting, m.need_constant(wanted, "FL317", COMPUTED))
        return NONE


for _setting in settings.SETTINGS:
    _rules_of(_setting)

ATTENTION = torch.nn.functional.scaled_dot_product_attention


@rule(ATTENTION)
def _attention(m: Machine, *args: Value, **kwargs: Value) -> Value:
    """Which kernel it is made of is decided by settings, and so are the strides of its result."""
    return record.apply(m.session.torch, ATTENTION, list(args), kwargs)
