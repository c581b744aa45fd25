"""Settings of torch that decide what operations are made of: looked at under guards, set by operations of the graph, and by one
effect where the entry leaves them changed.

A graph gives back what it changed, as it does with autocast: some backends run its switches at each call, others while they compile
only.  So only settings that are read where an operation is taken apart are set inside a graph; those that kernels read as they run
are not.  Compilers leave the default dtype to factories of tensors, which ask for it as they run, and make no notes of where functions
of autograd come from: these are set in graphs that run as they are only.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, NamedTuple

import torch

from frameloom.pytorch import modes, own_code
from frameloom.pytorch.modes import Flag
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts.base import replay
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node


class Setting(NamedTuple):
    """A piece of global state: the C functions that read and set it, and the class of what it holds.

    in_graphs: whether an operation of the graph may change it to something else; as_it_is: that only in graphs that run as they are.
    """

    read: Callable[[], Any]
    set: Callable[[Any], Any]
    cls: type
    in_graphs: bool
    as_it_is: bool = False

    @property
    def name(self) -> str:
        return self.read.__name__.removeprefix("_get_").removeprefix("get_")


def anomaly() -> tuple[bool, bool]:
    """Whether autograd keeps track of where its functions were made, and whether it looks for numbers that are none."""
    return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


def set_anomaly(found: tuple[bool, bool]) -> None:
    torch.set_anomaly_enabled(*found)


def _rows() -> Iterator[Setting]:
    yield Setting(torch.get_default_dtype, torch._C._set_default_dtype, torch.dtype, True, True)
    yield Setting(anomaly, set_anomaly, tuple, True, True)
    for name in ("flash", "mem_efficient", "math", "cudnn", "overrideable"):
        yield Setting(*_pair(f"_get_{name}_sdp_enabled", f"_set_sdp_use_{name}"), bool, True)
    yield Setting(*_pair("_get_float32_matmul_precision", "_set_float32_matmul_precision"), str, False)
    for name in ("cudnn_enabled", "cudnn_benchmark", "cudnn_deterministic", "cudnn_allow_tf32", "cublas_allow_tf32", "mkldnn_enabled"):
        yield Setting(*_pair(f"_get_{name}", f"_set_{name}"), bool, False)


def _pair(*names: str) -> tuple[Any, Any]:
    read, write = [getattr(torch._C, name) for name in names]
    return read, write


SETTINGS = tuple(_rows())
DEFAULT_DTYPE, ANOMALY, *ATTENTION = SETTINGS[:7]
"""What decides of which kernel attention is made."""
SETTERS = {setting.set: setting for setting in SETTINGS}


def value_of(state: State, setting: Setting) -> Any:
    """What a setting holds at the present instruction."""
    if setting not in state.settings:
        modes.guard(state.session, Flag(setting.read, f"torch's setting {setting.name}"))
        found = setting.read()
        state.session.journal.set_item(state.settings, setting, found)
        state.session.journal.set_item(state.entry_settings, setting, found)
    return state.settings[setting]


def change(state: State, setting: Setting, wanted: Any) -> None:
    """The setting holds `wanted` from here on; breaks where it cannot in a graph."""
    if type(wanted) is not setting.cls:
        raise GraphBreak("FL317", f"torch's setting {setting.name} is given an object of class {type(wanted).__name__}")
    if wanted == value_of(state, setting):
        return
    if not setting.in_graphs or setting is DEFAULT_DTYPE and not wanted.is_floating_point or setting.as_it_is and not own_code.require(state):
        raise GraphBreak("FL317", f"torch's setting {setting.name} is changed")
    state.session.journal.set_item(state.settings, setting, wanted)
    if setting is DEFAULT_DTYPE:
        state.session.journal.set_field(state, "default_dtype", wanted)
    _switch(state, setting, wanted)
    _note_effect(state)


def of_attention(state: State) -> tuple:
    """What the facts of attention depend on besides its arguments."""
    return tuple([value_of(state, setting) for setting in ATTENTION])


@contextlib.contextmanager
def as_known(state: State) -> Iterator[None]:
    """The real settings are those of the trace for a while."""
    changed = _difference(state.settings, state.entry_settings)
    before = [(setting, setting.read()) for setting, _ in changed]
    try:
        _apply(changed)
        yield
    finally:
        _apply(before)


@contextlib.contextmanager
def as_entered(state: State) -> Iterator[None]:
    """The real settings are behind it what they were at entry, whatever operations of the graph were run inside."""
    try:
        yield
    finally:
        _apply(list(state.entry_settings.items()))


def _switch(state: State, setting: Setting, wanted: Any) -> None:
    node = state.session.record(setting.set, (wanted,), {}, type(None), None)
    state.session.journal.set_item(state.impure, node, True)


def _difference(now: dict[Setting, Any], then: dict[Setting, Any]) -> list[tuple[Setting, Any]]:
    return [(setting, found) for setting, found in now.items() if found != then[setting]]


def _apply(changes: list[tuple[Setting, Any]]) -> None:
    for setting, found in changes:
        setting.set(found)


# -- what is left changed ---------------------------------------------------------------------------------------------

EFFECT = "torch.settings"


class Change:
    """Makes settings what a trace made of them."""

    def __init__(self, changes: list[tuple[Setting, Any]]) -> None:
        self.changes = changes

    def __call__(self) -> None:
        _apply(self.changes)


def _note_effect(state: State) -> None:
    """One effect, none where all is as it was at entry."""
    session = state.session
    others = [operation for operation in session.operations if operation.kind != EFFECT]
    if len(others) != len(session.operations):
        session.journal.replace(session.operations, others)
    changes = _difference(state.settings, state.entry_settings)
    if changes:
        session.effect(EFFECT, Change(changes))


@replay(EFFECT)
def _replay(build: Any, made: Change) -> None:
    build.call_effect(made)


# -- graphs -----------------------------------------------------------------------------------------------------------


def give_back(state: State) -> None:
    """Close the graph with the settings that it found."""
    for setting, found in _difference(state.entry_settings, state.settings):
        _switch(state, setting, found)


def switches(node: Node) -> bool:
    """Whether an operation of the graph only changes a setting."""
    try:
        return node.target in SETTERS
    except TypeError:
        return False


def keeping(entry: dict[Setting, Any], function: Callable) -> Callable:
    """A graph that changes settings leaves them as it found them if it fails too."""
    found = list(entry.items())

    def run(*given: Any) -> Any:
        try:
            return function(*given)
        except BaseException:
            _apply(found)
            raise

    return run
