"""Autocast: looked at under guards, set by operations of the graph, and by one effect where the entry leaves it changed.

A graph gives back what it changed, so that the effect starts from the same settings whatever a backend made of the graph: some
run its switches at each call, others while they compile only.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import torch

from frameloom.pytorch import modes
from frameloom.pytorch.casts import KINDS, casts
from frameloom.pytorch.modes import Flag
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts.base import replay
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node

SET_ENABLED = torch.set_autocast_enabled
SET_DTYPE = torch.set_autocast_dtype
SET_CACHING = torch.set_autocast_cache_enabled
ENTER = torch.autocast_increment_nesting
LEAVE = torch.autocast_decrement_nesting
CLEAR = torch.clear_autocast_cache
SWITCHES = frozenset({SET_ENABLED, SET_DTYPE, SET_CACHING, ENTER, LEAVE, CLEAR})


def nesting() -> int:
    """How many regions are open on this thread."""
    ENTER()
    return LEAVE()


def is_nested() -> bool:
    """Whether a region is inside another, and casts are kept."""
    return nesting() > 1 and torch.is_autocast_cache_enabled()


CASTS = Flag(casts, "autocast dtypes")
CACHING = Flag(torch.is_autocast_cache_enabled, "torch.is_autocast_cache_enabled()")
NESTED = Flag(is_nested, "autocast regions are nested")
NESTING = Flag(nesting, "the nesting of autocast regions")


class DtypeOf:
    """Reads the dtype that operations on a type of device are, or would be, cast to."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self) -> torch.dtype:
        return torch.get_autocast_dtype(self.kind)


DTYPES = {kind: Flag(DtypeOf(kind), f"torch.get_autocast_dtype({kind!r})") for kind in KINDS}


class Autocast(NamedTuple):
    """What is known of the settings at one instruction; None where nobody asked.

    casts: (type of device, dtype) where operations are cast; dtypes: type of device -> dtype set for it; used: what `casts` was for
    operations since kept casts were dropped, up to when the trace had `since` nodes.
    """

    casts: tuple = ()
    dtypes: tuple = ()
    caching: bool | None = None
    nesting: int | None = None
    used: tuple = ()
    since: int = 0


def begin(state: State) -> None:
    """Note what is cast at entry; that nothing is, where nothing is, is guarded already."""
    found: tuple = ()
    if torch._C._is_any_autocast_enabled():
        modes.guard(state.session, CASTS)
        modes.guard(state.session, NESTED)
        found = casts()
    state.autocast = state.entry_autocast = Autocast(found, used=found)


def reason_for_eager() -> str | None:
    """Why capture would be meaningless now, or None: see `_check_kept`; what outer regions kept, nobody can ask."""
    return NESTED.text if torch._C._is_any_autocast_enabled() and is_nested() else None


def _check_kept(state: State, wanted: tuple) -> None:
    """Where a parameter was cast to one dtype and is kept, torch takes it for the cast to any other, up to the end of the outermost
    region.  Which ones were cast, facts do not tell: regions of different dtypes inside one are left to eager."""
    unknown = state.entry_autocast.nesting and not state.entry_autocast.casts and state.autocast.nesting
    other = any(kind == known and dtype is not used for kind, dtype in wanted for known, used in _used(state))
    if (other or unknown and wanted) and caching(state):
        raise GraphBreak("FL302", "regions of different dtypes may be inside one, and casts of parameters are kept")


def _look(state: State, flag: Flag, **parts: Callable[[Autocast, Any], Any]) -> None:
    """Ask a setting at entry, where the trace has not set it before."""
    modes.guard(state.session, flag)
    answer = flag.read()
    for name in ("autocast", "entry_autocast"):
        known = getattr(state, name)
        changed = known._replace(**{part: change(known, answer) for part, change in parts.items()})
        state.session.journal.set_field(state, name, changed)


def dtype_of(state: State, kind: str) -> torch.dtype:
    """The dtype of a type of device, enabled or not."""
    if kind not in dict(state.autocast.dtypes):
        _look(state, DTYPES[kind], dtypes=lambda known, answer: (*known.dtypes, (kind, answer)))
    return dict(state.autocast.dtypes)[kind]


def caching(state: State) -> bool:
    """Whether casts of parameters are kept for as long as a region is open."""
    if state.autocast.caching is None:
        _look(state, CACHING, caching=lambda known, answer: answer)
    return bool(state.autocast.caching)


def depth(state: State) -> int:
    """How many regions are open."""
    if state.autocast.nesting is None:
        _look(state, NESTING, nesting=lambda known, answer: answer)
    return int(state.autocast.nesting)  # type: ignore[arg-type]


def set_enabled(state: State, kind: str, wanted: bool) -> None:
    """Operations on a type of device are cast from here on, or not."""
    dtype = dtype_of(state, kind)
    others = {other: found for other, found in state.autocast.casts if other != kind}
    if wanted:
        others[kind] = dtype
    _become(state, state.autocast._replace(casts=_in_order(others)))
    _switch(state, SET_ENABLED, kind, wanted)


def set_dtype(state: State, kind: str, dtype: torch.dtype) -> None:
    """The dtype that operations on a type of device are, or would be, cast to."""
    dtype_of(state, kind)
    dtypes = {**dict(state.autocast.dtypes), kind: dtype}
    active = {other: dtypes.get(other, found) for other, found in state.autocast.casts}
    _become(state, state.autocast._replace(casts=_in_order(active), dtypes=tuple(dtypes.items())))
    _switch(state, SET_DTYPE, kind, dtype)


def set_caching(state: State, wanted: bool) -> None:
    """Casts of parameters are kept from here on, or not."""
    caching(state)
    _become(state, state.autocast._replace(caching=wanted))
    _switch(state, SET_CACHING, wanted)


def nest(state: State, step: int) -> int:
    """A region is entered (1) or left (-1); gives how many are open then."""
    found = depth(state) + step
    _become(state, state.autocast._replace(nesting=found))
    _switch(state, ENTER if step > 0 else LEAVE)
    return found


def clear(state: State) -> None:
    """Casts that were kept are dropped, those that running code keeps too."""
    state.session.journal.set_field(state, "autocast_cleared", True)
    state.session.journal.set_field(state, "autocast", state.autocast._replace(used=(), since=len(state.session.nodes)))
    _switch(state, CLEAR)
    _note_effect(state)


def _used(state: State) -> tuple:
    """What parameters may have been cast to and kept."""
    now = state.autocast
    if not now.casts or all(map(switches, state.session.nodes[now.since :])):
        return now.used
    return tuple(dict.fromkeys((*now.used, *now.casts)))


def _in_order(found: dict[str, torch.dtype]) -> tuple:
    return tuple([(kind, found[kind]) for kind in KINDS if kind in found])


def _become(state: State, wanted: Autocast) -> None:
    if wanted.casts != state.autocast.casts:
        depth(state)
        _check_kept(state, wanted.casts)
        wanted = wanted._replace(used=_used(state), since=len(state.session.nodes))
    state.session.journal.set_field(state, "autocast", wanted)
    _note_effect(state)


def _switch(state: State, function: Callable, *arguments: Any) -> None:
    node = state.session.record(function, arguments, {}, type(None), None)
    state.session.journal.set_item(state.impure, node, True)


# -- what is left changed ---------------------------------------------------------------------------------------------


def difference(now: Autocast, then: Autocast) -> list[tuple]:
    """The calls, each a function and its arguments, that make settings `now` of settings `then`."""
    found: list[tuple] = []
    before, after = dict(then.casts), dict(now.casts)
    found += [(SET_ENABLED, kind, kind in after) for kind in KINDS if (kind in before) is not (kind in after)]
    dtypes = dict(then.dtypes)
    found += [(SET_DTYPE, kind, dtype) for kind, dtype in now.dtypes if dtypes[kind] is not dtype]
    if now.caching is not then.caching:
        found.append((SET_CACHING, now.caching))
    steps = (now.nesting or 0) - (then.nesting or 0)
    found += [(ENTER if steps > 0 else LEAVE,)] * abs(steps)
    return found


class Change:
    """Makes the settings, on the thread that runs, what a trace made of them."""

    def __init__(self, calls: list[tuple]) -> None:
        self.calls = calls

    def __call__(self) -> None:
        for function, *arguments in self.calls:
            function(*arguments)


def _note_effect(state: State) -> None:
    """One effect, none where all is as it was at entry."""
    session = state.session
    others = [operation for operation in session.operations if operation.kind != EFFECT]
    if len(others) != len(session.operations):
        session.journal.replace(session.operations, others)
    calls = difference(state.autocast, state.entry_autocast)
    if state.autocast_cleared:
        calls.insert(0, (CLEAR,))
    if calls:
        session.effect(EFFECT, Change(calls))


EFFECT = "torch.autocast"


@replay(EFFECT)
def _replay(build: Any, change: Change) -> None:
    build.call_effect(change)


# -- graphs -----------------------------------------------------------------------------------------------------------


def give_back(state: State) -> None:
    """Close the graph with the settings that it found."""
    for function, *arguments in difference(state.entry_autocast, state.autocast):
        _switch(state, function, *arguments)


def switches(node: Node) -> bool:
    """Whether an operation of the graph only changes these settings."""
    try:
        return node.target in SWITCHES
    except TypeError:
        return False


def restore(wanted: Autocast) -> None:
    """Make the settings those wanted, behind a call that failed."""
    caching_now = None if wanted.caching is None else CACHING.read()
    nesting_now = None if wanted.nesting is None else nesting()
    dtypes = tuple([(kind, torch.get_autocast_dtype(kind)) for kind, _ in wanted.dtypes])
    Change(difference(wanted, Autocast(casts(), dtypes, caching_now, nesting_now)))()


def keeping(wanted: Autocast, function: Callable) -> Callable:
    """A graph that changes settings leaves them as it found them if it fails too."""

    def run(*given: Any) -> Any:
        try:
            return function(*given)
        except BaseException:
            restore(wanted)
            raise

    return run
