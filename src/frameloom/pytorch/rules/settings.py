"""Settings of torch: asked and set by C functions; what is around them is Python and is inlined."""

from __future__ import annotations

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import record, settings
from frameloom.pytorch.settings import Setting
from frameloom.symbolic.values import NONE, TRUE, Const, Value

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


@rule(torch.is_anomaly_enabled)
def _is_anomaly_enabled(m: Machine) -> Value:
    return Const(settings.value_of(m.session.torch, settings.ANOMALY)[0])


@rule(torch.is_anomaly_check_nan_enabled)
def _is_check_nan_enabled(m: Machine) -> Value:
    return Const(settings.value_of(m.session.torch, settings.ANOMALY)[1])


@rule(torch.set_anomaly_enabled)
def _set_anomaly_enabled(m: Machine, enabled: Value, check_nan: Value = TRUE) -> Value:
    wanted = tuple([m.need_constant(flag, "FL317", COMPUTED) for flag in (enabled, check_nan)])
    if not all(type(flag) is bool for flag in wanted):
        return NotImplemented
    settings.change(m.session.torch, settings.ANOMALY, wanted)
    return NONE


ATTENTION = torch.nn.functional.scaled_dot_product_attention


@rule(ATTENTION)
def _attention(m: Machine, *args: Value, **kwargs: Value) -> Value:
    """Which kernel it is made of is decided by settings, and so are the strides of its result."""
    return record.apply(m.session.torch, ATTENTION, list(args), kwargs)
