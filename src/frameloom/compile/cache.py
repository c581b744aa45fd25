"""What is remembered of a code object between captures, and of an entry."""

from __future__ import annotations

import types
import weakref
from typing import Any

from frameloom.codegen.resume import ByCode
from frameloom.compile.trace import path_of
from frameloom.symbolic.declared import Declared
from frameloom.symbolic.guards import Guard, let_die, others_of, text_of
from frameloom.symbolic.layouts import REPLAYS
from frameloom.symbolic.mortal import still_there
from frameloom.symbolic.session import Session
from frameloom.symbolic.source import Source, without_ownership
from frameloom.symbolic.values import Const


class CodeRecord:
    """What earlier captures of one code object found out.

    decisions: answers that hold for every capture.  promoted: paths of numbers that are read at run time.  fruitless: captures in
    a row that held no operation.  again: how often it was captured because no entry fitted a call.  declared: what the program says of its
    arguments.
    """

    __slots__ = ("decisions", "promoted", "fruitless", "again", "declared")

    def __init__(self) -> None:
        self.decisions: frozenset = frozenset()
        self.promoted: set[tuple] = set()
        self.fruitless = 0
        self.again = 0
        self.declared: Declared | None = None


class Records:
    """The records of all code objects that one engine has met, without keeping those alive."""

    def __init__(self) -> None:
        self._known: ByCode[CodeRecord] = ByCode()

    def find(self, code: types.CodeType) -> CodeRecord | None:
        """The record of a code object, None where it has none yet."""
        return self._known.get(code)

    def of(self, code: types.CodeType) -> CodeRecord:
        """The record of a code object, a new one where it has none yet."""
        found = self._known.get(code)
        if found is None:
            found = CodeRecord()
            self._known.set(code, found)
        return found

    def clear(self) -> None:
        self._known = ByCode()


class EntryInfo:
    """What an entry says about itself when a call misses it: its guards, whose objects it does not own, and the paths of
    numbers that its code overwrites."""

    __slots__ = ("guards", "overwritten")

    def __init__(self, guards: tuple[Guard, ...], overwritten: frozenset) -> None:
        made: dict[Source, Source] = {}
        self.guards = tuple([_without_ownership(guard, made) for guard in guards])
        self.overwritten = overwritten

    def text(self, index: int) -> str:
        """The guard as a person reads it."""
        guard = self.guards[index]
        payload = still_there(guard.payload)
        if payload is None and type(guard.payload) is weakref.ref:
            return f"{guard.source} is an object that is gone"
        return text_of(guard._replace(payload=payload))


def _without_ownership(guard: Guard, made: dict[Source, Source]) -> Guard:
    source = without_ownership(guard.source, made)
    if source is not guard.source:
        guard = guard._replace(source=source)
    others = others_of(guard)
    if others:
        guard = guard._replace(payload=guard.payload._replace(others=_unowned(others, made)))
    elif guard.check == "SAME":
        return guard._replace(payload=without_ownership(guard.payload, made))
    elif guard.check == "DISTINCT":
        return guard._replace(payload=_unowned(guard.payload, made))
    return let_die(guard)


def _unowned(sources: tuple, made: dict[Source, Source]) -> tuple:
    return tuple([without_ownership(source, made) for source in sources])


_STEPS = {"attribute.set": "attribute", "dict.set": "dict_item", "cell.set": "contents"}


def overwritten(session: Session) -> frozenset:
    """The paths of numbers that the trace both guarded by value and wrote: a counter would miss its guard at every call."""
    found = set()
    for operation in session.operations:
        step = _STEPS.get(operation.kind)
        if step is None or REPLAYS[operation.kind].location is None:
            continue
        key = None if step == "contents" else operation.arguments[0]
        key = key.value if type(key) is Const else key
        source = _source_written(session, operation.target, step, key)
        guard = session.guards.get(("EQUAL", source)) if source is not None else None
        if guard is not None and type(guard.payload) in (int, float):
            found.add(path_of(source))
    return frozenset(found)


def _source_written(session: Session, target: Any, step: str, key: Any) -> Any:
    base = target.real.source
    if step == "dict_item" and base.base is None and base.step == "const" and base.key is session.root_globals:
        return session.sources.global_(key)
    try:
        return base.child(step, key)
    except TypeError:
        return None
