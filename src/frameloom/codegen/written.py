"""Sources as the program writes them, for messages, explanations and the names of a graph's inputs."""

from __future__ import annotations

from types import CodeType
from typing import Any

from frameloom.bytecode.flow import PREVIOUS, VALUE
from frameloom.codegen.resume import HIDDEN, awaited_code, state_of
from frameloom.symbolic.source import STEPS, Source

INTERMEDIATE = "<intermediate value>"
HANDLED = "the exception handled here"
STATE = "the state of a suspended call"


def written(source: Source, where: Any = None) -> str:
    """A source as the program writes it: globals and variables of closures by their names alone.

    where: an instruction of the trace that has the source.  With it, what a resume function got from suspended frames goes by
    the names that it has there.
    """
    base = source.base
    if base is None:
        return source.key if source.step in ("global", "builtin", "cell") else str(source)
    resumed = _resumed(source, where)
    if resumed is not None:
        return resumed
    if source.step == "code" or source.step == "contents" and (base.step == "cell" or _resumed(base, where) is not None):
        return written(base, where)
    return STEPS[source.step].text(written(base, where), source.key)


def is_state(source: Source, where: Any) -> bool:
    """Whether a source names what suspended frames consist of, and nothing that the program knows."""
    if source.base is None:
        return source.step == "local" and source.key == HIDDEN
    return _resumed(source, where) == STATE or source.step in ("code", "globals") and _resumed(source.base, where) is not None


def _resumed(source: Source, where: Any) -> str | None:
    """The name of an item of the state that a resume function was given, None for any other source."""
    keys: list[int] = []
    at = source
    while at.base is not None:
        if at.step != "item":
            return None
        keys.append(at.key)
        at = at.base
    if at.step != "local" or at.key != HIDDEN or where is None:
        return None
    return _named(_root_code(where), keys[::-1])


def _root_code(where: Any) -> CodeType:
    program, _, parent = where
    return program.code if parent is None else _root_code(parent)


def _named(code: CodeType, keys: list[int]) -> str | None:
    """What the keys, one below the other, name in the state that the resume code was given."""
    state = state_of(code)
    if state is None or not keys:
        return None
    taken = [kind for kind in state.shape.stack if kind in (VALUE, PREVIOUS)]
    first, inner = keys[0], awaited_code(code)
    if first < len(taken) or inner is None:
        beyond = len(keys) > 1
        return None if beyond else HANDLED if first < len(taken) and taken[first] == PREVIOUS else INTERMEDIATE
    if len(keys) == 1:
        return STATE
    if keys[1] == 0:
        return inner.co_qualname if len(keys) == 2 else None
    name = inner.co_varnames[keys[1] - 1]
    if name == HIDDEN:
        return STATE if len(keys) == 2 else _named(inner, keys[2:])
    return name if len(keys) == 2 else None
