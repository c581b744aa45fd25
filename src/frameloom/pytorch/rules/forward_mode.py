"""`torch.autograd.forward_ad`: torch's Python is inlined down to entering and leaving the level, and making and taking apart dual numbers.

These are operations of graphs that run as they are, whatever the backend.  A break on the level leaves the program there, as eager has it.
"""

from __future__ import annotations

from torch._functorch import predispatch
from torch.autograd import forward_ad

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import dual, own_code, record, replayed
from frameloom.pytorch.bodies import Operator
from frameloom.pytorch.state import State
from frameloom.pytorch.structure import is_tensor
from frameloom.symbolic.values import NONE, Const, Value

LEVEL, MAKE, TAKE_APART = (Operator("FL303", name) for name in ("dual_level", "make_dual", "unpack_dual"))


@rule(predispatch._enter_dual_level)
def _enter(m: Machine) -> Value:
    state = m.session.torch
    if state.bodies or state.tries or state.regions_open or state.dual or dual.is_around():
        raise LEVEL.refuse("it is entered inside another one, or in a function that an operation of torch runs")
    own_code.insist(state)  # what another backend makes of operations has no derivative of this mode
    _switch(state, dual.ENTER, True)
    return Const(dual.LEVEL)


@rule(predispatch._exit_dual_level)
def _exit(m: Machine, *, level: Value) -> Value:
    if not m.session.torch.dual:
        raise LEVEL.refuse("it was entered outside of the graph")
    _switch(m.session.torch, dual.LEAVE, False)
    return NONE


def _switch(state: State, target: dual.OfLevel, on: bool) -> None:
    node = state.session.record(target, (), {}, object, None)
    state.session.journal.set_item(state.impure, node, True)
    state.session.journal.set_field(state, "dual", on)


@rule(forward_ad._maybe_load_decompositions)
def _load_decompositions(m: Machine) -> Value:
    """What the operations need that run as functions of scripts; the real ones see to it."""
    return NONE


@rule(predispatch._make_dual)
def _make(m: Machine, tensor: Value, tangent: Value, *, level: Value) -> Value:
    state = m.session.torch
    if not state.dual or not is_tensor(tensor) or not is_tensor(tangent):
        raise MAKE.refuse("its level was entered outside of the graph, or it is given something that is no tensor")
    return record.apply(state, dual.MAKE, [tensor, tangent], {}, exact=True)


@rule(predispatch._unpack_dual)
def _take_apart(m: Machine, tensor: Value, *, level: Value) -> Value:
    state = m.session.torch
    if not state.dual or not is_tensor(tensor):
        raise TAKE_APART.refuse("its level was entered outside of the graph, or it is given something that is no tensor")
    return m.tuple(replayed.record(state, TAKE_APART, dual.TAKE_APART, [tensor], lambda given: None))
