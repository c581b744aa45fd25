"""`record_function` while nobody profiles: a label that nobody reads.

Under a profiler it breaks, and the real one labels what runs.  That no profiler is on is guarded.  A region that was entered in a
trace says so by its own flag that its end has nothing to report, so the real `__exit__` is right too where a trace ends inside.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.profiler import record_function

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import modes
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Value

ENABLED = modes.Flag(torch._C._autograd._profiler_enabled, "a profiler is on")


def make(region: Any, name: str, args: str | None = None) -> None:
    """As `record_function.__init__`."""
    region.name = name
    region.args = args
    region.run_callbacks_on_exit = True
    region.record = None
    region._cupti_monitor_external_id = None


def enter(region: Any) -> Any:
    """As `record_function.__enter__` without a profiler; a region may be entered within itself."""
    depth = getattr(region, "_entered", 0)
    if region.record is not None or not (depth or region.run_callbacks_on_exit):
        return entered_really()
    region._entered = depth + 1
    region.run_callbacks_on_exit = False
    return region


def leave(region: Any, *exception: Any) -> None:
    """As `record_function.__exit__` of a region that `enter` entered."""
    depth = getattr(region, "_entered", 0)
    if region.record is not None or not depth:
        return entered_really()
    if depth > 1:
        region._entered = depth - 1
        return
    del region._entered
    region.run_callbacks_on_exit = True


def entered_really() -> None:
    """Its rule breaks."""
    raise AssertionError("a region that was entered under a profiler exists outside traces only")


@rule(entered_really)
def _entered_really(m: Machine) -> Value:
    raise GraphBreak("FL319", "record_function was entered under a profiler")


def _without_profiler(method: Any, meaning: Any) -> None:
    @rule(method)
    def traced(m: Machine, *args: Value, **kwargs: Value) -> Value:
        modes.guard(m.session, ENABLED)
        if ENABLED.read():
            raise GraphBreak("FL319", f"{method.__qualname__} under a profiler")
        return m.invoke(m.observe.constant(meaning), list(args), kwargs)


_without_profiler(record_function.__init__, make)
_without_profiler(record_function.__enter__, enter)
_without_profiler(record_function.__exit__, leave)
