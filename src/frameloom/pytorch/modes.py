"""torch's global state: guarded where the graph depends on it, symbolic where the trace changes it."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import torch

from frameloom.pytorch import inputs
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts.base import replay
from frameloom.symbolic.signals import RestartCapture
from frameloom.symbolic.values import Const

SET_GRAD = torch._C._set_grad_enabled


class Flag(NamedTuple):
    """A piece of global state: how it is read, and how it is called in messages."""

    read: Callable[[], Any]
    text: str


ALWAYS = (
    Flag(torch.is_grad_enabled, "torch.is_grad_enabled()"),
    Flag(torch.is_inference_mode_enabled, "torch.is_inference_mode_enabled()"),
    Flag(torch._C._is_any_autocast_enabled, "autocast is enabled"),
    Flag(torch.get_default_dtype, "the default dtype"),
)
"""Guarded in every entry that has a graph."""

MEANINGLESS = (
    Flag(torch._C._len_torch_dispatch_stack, "a dispatch mode is active"),
    Flag(torch._C._len_torch_function_stack, "a torch function mode is active"),
    Flag(torch._C._functorch.maybe_current_level, "a functional transform is active"),
    Flag(torch._C._get_tracing_state, "torch.jit.trace is active"),
)
"""Modes under which each operation must be seen as it happens."""


def reason_for_eager() -> str | None:
    """Why capture would be meaningless now (FL910), or None."""
    for flag in MEANINGLESS:
        if flag.read() not in (0, None):
            return flag.text
    return None


def begin(state: State) -> None:
    """Note the modes at entry, guarded."""
    session = state.session
    for flag in (*ALWAYS, *MEANINGLESS):
        guard(session, flag)
    state.default_dtype = torch.get_default_dtype()
    state.grad = state.entry_grad = torch.is_grad_enabled()
    state.inference = torch.is_inference_mode_enabled()


def guard(session: Any, flag: Flag) -> None:
    """The flag has this value at each call."""
    session.guard("RETURNS", session.sources.const(flag.read), flag.read())


def set_grad(state: State, wanted: bool) -> None:
    """Gradients are recorded from here on, or not: state of the trace, and an operation of the graph."""
    if wanted is state.grad:
        return
    session = state.session
    if wanted and not state.entry_grad:
        for node in state.inputs:
            inputs.guard_requires_grad(session, node)
    session.journal.set_field(state, "grad", wanted)
    _note_effect(state, wanted)
    node = session.record(SET_GRAD, (wanted,), {}, type(None), None)
    session.journal.set_item(state.impure, node, True)


class Region(NamedTuple):
    """An open region of inference mode: the node that entered it, and the modes around it."""

    node: Any
    grad: bool
    inference: bool


class Unbroken(NamedTuple):
    """The decision that inference mode is not entered in a trace, since one that was broke inside."""

    what: str


UNBROKEN = Unbroken("inference mode")
ENTER_INFERENCE = torch.autograd.grad_mode._enter_inference_mode
EXIT_INFERENCE = torch.autograd.grad_mode._exit_inference_mode


def enter_inference(state: State, region: Any, mode: bool) -> None:
    """Inference mode is on from here, or off; with it gradients are off, or on."""
    journal = state.session.journal
    node = state.session.record(ENTER_INFERENCE, (mode,), {}, object, None)
    journal.set_item(state.impure, node, True)
    journal.set_item(state.regions, region, Region(node, state.grad, state.inference))
    journal.set_field(state, "inference", mode)
    journal.set_field(state, "grad", not mode)
    _note_effect(state, state.grad)


def leave_inference(state: State, region: Any) -> None:
    """The modes around the region are back."""
    journal = state.session.journal
    known = state.regions[region]
    node = state.session.record(EXIT_INFERENCE, (known.node,), {}, type(None), None)
    journal.set_item(state.impure, node, True)
    journal.delete_item(state.regions, region)
    journal.set_field(state, "inference", known.inference)
    journal.set_field(state, "grad", known.grad)
    _note_effect(state, state.grad)


def at_break(state: State) -> None:
    """A break inside a region of inference mode: there is no operation that enters it again in the middle."""
    if state.regions:
        raise RestartCapture(UNBROKEN)


def _note_effect(state: State, wanted: bool) -> None:
    """The real mode must be the trace's when the entry is left: one effect, and none where it is what it was at entry."""
    session = state.session
    others = [operation for operation in session.operations if operation.kind != EFFECT]
    if len(others) != len(session.operations):
        session.journal.replace(session.operations, others)
    if wanted is not state.entry_grad:
        session.effect(EFFECT, wanted)


EFFECT = "torch.grad_mode"


@replay(EFFECT)
def _replay(build: Any, wanted: bool) -> None:
    build.call_effect(SET_GRAD, Const(wanted))
