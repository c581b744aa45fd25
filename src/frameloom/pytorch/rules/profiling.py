"""`record_function`: while nobody profiles, a label that nobody reads; under a profiler, operations of graphs that run as they are.

Whether a profiler is on is guarded.  A region that was entered in a trace without one says so by its own flag that its end has nothing to
report, so the real `__exit__` is right too where a trace ends inside.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.autograd.profiler import record_function

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import modes, own_code
from frameloom.pytorch.state import State
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Node, Value

ENABLED = modes.Flag(torch._C._autograd._profiler_enabled, "a profiler is on")
MONITOR = "torch.profiler._cupti_monitor"


def is_monitored() -> bool:
    """Whether CUDA's own monitor is told of regions; its module is there once a region was entered."""
    monitor = sys.modules.get(MONITOR)
    return monitor is not None and monitor._monitor_singleton is not None


MONITORED = modes.Flag(is_monitored, "a monitor of CUDA is on")


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


# -- under a profiler -------------------------------------------------------------------------------------------------


def open_region(name: str, args: str | None) -> Any:
    """Begin to label what runs; an operation of the graph."""
    return torch.ops.profiler._record_function_enter_new(name, args)


def close_region(record: Any) -> None:
    """The end of what `open_region` began."""
    torch.ops.profiler._record_function_exit._RecordFunction(record)


def enter_profiled(region: Any) -> Any:
    """As `record_function.__enter__`."""
    region.record = open_region(region.name, region.args)
    return region


def leave_profiled(region: Any, *exception: Any) -> None:
    """As `record_function.__exit__`."""
    if region.run_callbacks_on_exit:
        close_region(region.record)


@rule(open_region)
def _open_region(m: Machine, name: Value, args: Value) -> Value:
    state = m.session.torch
    label = [m.need_constant(part, "FL319", "the label of a region is known at run time only") for part in (name, args)]
    if type(label[0]) is not str or type(label[1]) not in (str, type(None)):
        raise GraphBreak("FL319", "the label of a region is no text")
    if state.bodies or state.tries or state.regions_open or not own_code.require(state):
        raise GraphBreak("FL319", "record_function under a profiler, in a graph that does not run as it is")
    return _operation(state, open_region, tuple(label), torch._C.ScriptObject)


@rule(close_region)
def _close_region(m: Machine, record: Value) -> Value:
    if type(record) is not Node or record.target is not open_region or not own_code.require(m.session.torch):
        return m.invoke(m.observe.constant(entered_really), [], {})
    _operation(m.session.torch, close_region, (record,), type(None))
    return NONE


def _operation(state: State, target: Any, operands: tuple, cls: type) -> Node:
    node = state.session.record(target, operands, {}, cls, None)
    state.session.journal.set_item(state.impure, node, True)
    return node


def _meaning(method: Any, unprofiled: Any, profiled: Any) -> None:
    @rule(method)
    def traced(m: Machine, *args: Value, **kwargs: Value) -> Value:
        modes.guard(m.session, ENABLED)
        modes.guard(m.session, MONITORED)
        if MONITORED.read():
            raise GraphBreak("FL319", f"{method.__qualname__} under a monitor of CUDA")
        return m.invoke(m.observe.constant(profiled if ENABLED.read() else unprofiled), list(args), kwargs)


_meaning(record_function.__init__, make, make)
_meaning(record_function.__enter__, enter, enter_profiled)
_meaning(record_function.__exit__, leave, leave_profiled)
