"""Why a call fitted no entry: the guard that failed, the old value and the new one, and what to do about it."""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterator
from typing import Any

from frameloom import config
from frameloom.compile.cache import EntryInfo
from frameloom.compile.locations import chain_of, first_line
from frameloom.diagnostics.reports import RecompileReport
from frameloom.symbolic.guards import PLAIN_KEYS, Guard
from frameloom.symbolic.source import Missing, Scope

NOTHING = "nothing there"


class Miss:
    """One guard that failed: `guard` (without ownership of its payload), and what its source reads now."""

    __slots__ = ("guard", "found", "text")

    def __init__(self, guard: Guard, found: Any, text: str) -> None:
        self.guard = guard
        self.found = found
        self.text = text


def scope_of(function: types.FunctionType, code: types.CodeType, arguments: tuple) -> Scope:
    """What the roots of sources mean in a call."""
    closure = dict(zip(code.co_freevars, function.__closure__ or ()))
    return Scope(dict(zip(code.co_varnames, arguments)), closure, function.__globals__, vars(builtins))


def first_miss(misses: tuple, scope: Scope) -> Miss | None:
    """The guard that failed in the entry that was tried first."""
    for entry, index in misses:
        info = entry.info
        if type(info) is EntryInfo and 0 <= index < len(info.guards):
            guard = info.guards[index]
            try:
                found = guard.source.read(scope)
            except Missing:
                found = Missing
            return Miss(guard, found, info.text(index))
    return None


def all_misses(misses: tuple, scope: Scope, checks: frozenset[str]) -> Iterator[Miss]:
    """Every guard of these checks that fails in the entry that was tried first: what differs at once is learnt at once."""
    for entry, _ in misses[:1]:
        info = entry.info
        if type(info) is not EntryInfo:
            continue
        for index, guard in enumerate(info.guards):
            if guard.check in checks and not guard.holds(scope):
                try:
                    yield Miss(guard, guard.source.read(scope), info.text(index))
                except Missing:
                    continue


def report(miss: Miss, code: types.CodeType, entries: int) -> RecompileReport:
    """What to tell."""
    guard = miss.guard
    return RecompileReport(
        function=code.co_qualname,
        entries=entries,
        limit=config.current().recompile_limit,
        check=guard.check,
        path=str(guard.source),
        old=miss.text,
        new=shown(miss.found),
        chain=chain_of(guard.where) or (first_line(code),),
        help=HELP.get(guard.check, ""),
    )


def shown(value: Any) -> str:
    """A short text for an object that runs none of the user's code."""
    if value is Missing:
        return NOTHING
    if type(value) in PLAIN_KEYS and type(value) is not tuple:
        return repr(value)
    if isinstance(value, type):
        return f"class {type.__dict__['__qualname__'].__get__(value)}"
    describe = DESCRIPTIONS.get(type(value))
    return describe(value) if describe is not None else f"an object of class {type(value).__qualname__}"


DESCRIPTIONS: dict[type, Any] = {
    list: lambda value: f"a list of {len(value)}",
    tuple: lambda value: f"a tuple of {len(value)}",
    dict: lambda value: f"a dict of {len(value)}",
    types.FunctionType: lambda value: f"function {value.__qualname__}",
    types.ModuleType: lambda value: f"module {value.__name__}",
}
"""exact class -> a text for an instance; domains add theirs"""

HELP = {
    "EQUAL": "a number or text that changes between calls is part of the compiled code; pass it as a tensor, or set it once",
    "LENGTH": "the number of items decides how the code runs; keep it fixed, or stack the items into one tensor",
    "KEYS": "the set of keys decides how the code runs; keep it fixed",
    "TYPE": "another class came here; each class gets an entry of its own",
    "IS": "another object came here; each gets an entry of its own",
}

