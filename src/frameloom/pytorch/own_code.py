"""Graphs whose operations must run one by one, as they are, since autograd is asked of what lies inside.

A backend with a backward graph of its own has a single function of autograd for all of a graph.  Which a backend does is seen by what it
gives back: where it is not the graph's own code, the capture begins again, and breaks where it would need that.  Where eager's results can be
had in no other way, the backend is not asked at all.
"""

from __future__ import annotations

from typing import Any

from frameloom.pytorch.state import State
from frameloom.symbolic.signals import RestartCapture

OWN_BACKWARD = "the backend makes backward graphs of its own"
"""The decision of captures that begin again."""


def require(state: State) -> bool:
    """Ask that the graph run as it is; False where the backend is known not to do so."""
    if state.makes_backward or OWN_BACKWARD in state.session.decisions:
        return False
    state.session.journal.set_field(state, "as_it_is", True)
    return True


def insist(state: State) -> None:
    """Have the graph run as it is, whatever the backend."""
    if not require(state):
        state.session.journal.set_field(state, "uncompiled", True)


def check(state: State, module: Any, made: Any) -> None:
    """Begin the capture again where the graph must run as it is and the backend gave back something else than the module's own code."""
    if state.as_it_is and made is not module and getattr(made, "__self__", None) is not module:
        raise RestartCapture(OWN_BACKWARD)
