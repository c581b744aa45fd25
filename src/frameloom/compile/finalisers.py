"""Whether code of the program's runs when an object dies."""

from __future__ import annotations

import gc
import types
from typing import Any

from frameloom.symbolic.observe import mro_of, namespace_of

MOST_LOOKED_AT = 100
LIVE_ON: frozenset[type] = frozenset(
    {type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType, types.FrameType}
)
"""Kinds of objects that are not followed: what they hold is held by others too."""


def may_run_code(found: Any) -> bool:
    """Whether an object, or one of the nearest that it holds, has a finaliser in Python or is a generator with handlers that is
    under way."""
    waiting: list[Any] = [found]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_LOOKED_AT:
        at = waiting.pop(0)
        if id(at) in seen or not LIVE_ON.isdisjoint(mro_of(type(at))):
            continue
        seen.add(id(at))
        if _runs_code(at):
            return True
        if gc.is_tracked(at):
            waiting.extend(gc.get_referents(at))
    return False


def _runs_code(found: Any) -> bool:
    if type(found) is types.GeneratorType:
        return found.gi_suspended and bool(found.gi_code.co_exceptiontable)
    return any("__del__" in namespace_of(base) for base in mro_of(type(found)))
