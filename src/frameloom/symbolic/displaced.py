"""What a write displaces: an object whose last reference goes with it ends at that very moment in plain Python, and its end may show.

In a trace it ends when the entry replays the write, behind all that the trace has read.  Where code of the program runs at its end, or
weak references see it, the trace breaks before the write.  To break needs no guard; what was found to end quietly is not guarded.
"""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from frameloom.symbolic.instance_dict import MISSING, class_item, instance_dict_item
from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.real import namespace_of, stands_on
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Value

MOST_SEEN = 100
SHARED = (type, types.ModuleType, types.FunctionType, types.CodeType, types.BuiltinFunctionType, types.FrameType)
"""What objects point to without keeping it alive in any way that matters here: it lives in modules."""

HELD_ONCE = 5
"""References to an object that one other object holds, as `lives` counts them, where a value of the trace stands for it too."""


def require_quiet(session: Any, kind: str, target: Value, arguments: tuple) -> None:
    """Break where an operation on a real object displaces what does not end quietly."""
    if kind == "told":
        _, kind, *rest = arguments
        arguments = tuple(rest)
    find = DISPLACED.get(kind)
    holder = MISSING if find is None else session.observe.peek(target)
    if holder is MISSING:
        return
    if kind in WHOLE:
        if id(target) in session.quiet:
            return
        session.journal.set_item(session.quiet, id(target), True)
    seen, claims = session.observe.seen, session.domain.claims
    kept = session.observe.peek(arguments[-1]) if kind in STORES else MISSING
    shown = end_that_shows(
        find(holder, arguments),
        lambda at: at is kept or claims(type(at)) or sys.getrefcount(at) > HELD_ONCE and id(at) not in seen,
    )
    if shown is not MISSING:
        raise GraphBreak("FL503", f"an object of class {type.__repr__(type(shown))} is displaced, and its end shows")


def end_that_shows(ending: Iterable, lives: Callable[[Any], bool]) -> Any:
    """One of the objects whose end shows among those that end with the given ones, or MISSING; at most `MOST_SEEN` are looked at.

    `lives` tells of an object whether it does not end with them, or not so that it matters; it may count the references."""
    waiting = [*ending]
    looked: set[int] = set()
    while waiting and len(looked) < MOST_SEEN:
        at = waiting.pop()
        if type(at) in ATOMS or id(at) in looked or stands_on(at, *SHARED) or lives(at):
            continue
        looked.add(id(at))
        if shows(at):
            return at
        waiting += gc.get_referents(at)
    return MISSING


def shows(found: Any) -> bool:
    """Whether the end of an object itself shows: weak references to it are there, or its class has a finaliser."""
    if takes_weak_references(type(found)) and not all(map(_of_a_tool, weakref.getweakrefs(found))):
        return True
    return class_item(type(found), "__del__") is not MISSING


TOOLS: set[str] = set()
"""Modules whose weak references only take what has died out of a table of their own, which no program looks into: domains add theirs"""


def _of_a_tool(reference: Any) -> bool:
    if not stands_on(reference, weakref.ref):  # a proxy is the program's
        return False
    callback = _CALLBACK.__get__(reference)
    return type(callback) is types.FunctionType and callback.__globals__.get("__name__") in TOOLS


_CALLBACK = weakref.ref.__dict__["__callback__"]


def takes_weak_references(cls: type) -> bool:
    """Whether there can be weak references to instances of a class."""
    return _WEAK_OFFSET.__get__(cls) != 0


_WEAK_OFFSET = type.__dict__["__weakrefoffset__"]


def _of_attributes(holder: Any, arguments: tuple) -> list:
    if stands_on(holder, type):
        return [namespace_of(holder).get(arguments[0])]
    return [instance_dict_item(holder, arguments[0])]


def _of_dictionary(holder: Any, arguments: tuple) -> list:
    key = arguments[0]
    return [dict.get(holder, key.value)] if type(key) is Const and type(key.value) in ATOMS else [*dict.values(holder)]


def _of_slot(holder: Any, arguments: tuple) -> list:
    try:
        return [arguments[0].__get__(holder, type(holder))]
    except AttributeError:
        return []


def _of_cell(holder: types.CellType, arguments: tuple) -> list:
    try:
        return [holder.cell_contents]
    except ValueError:
        return []


def _of_set(holder: Any, arguments: tuple) -> Iterable:
    return set.__iter__(holder)


DISPLACED: dict[str, Callable[[Any, tuple], Iterable]] = {
    "attribute.set": _of_attributes,
    "attribute.delete": _of_attributes,
    "dict.set": _of_dictionary,
    "dict.delete": _of_dictionary,
    "dict.clear": lambda holder, arguments: [*dict.keys(holder), *dict.values(holder)],
    "slot.set": _of_slot,
    "slot.delete": _of_slot,
    "cell.set": _of_cell,
    "cell.clear": _of_cell,
    # Positions may have shifted since the trace began: any of the items may be what goes.
    **dict.fromkeys(("list.set", "list.delete", "list.clear", "list.replace"), lambda holder, arguments: list.__iter__(holder)),
    **dict.fromkeys(("set.clear", "set.call", "set.discard"), _of_set),
    **dict.fromkeys(("deque.call", "deque.replace"), lambda holder, arguments: deque.__iter__(holder)),
}
"""kind of an operation -> find(real object, arguments of the operation): what it may displace"""

STORES = frozenset(("attribute.set", "dict.set", "slot.set", "cell.set"))
"""Kinds whose last argument is what is written: it may be the very object that was there, which nothing lets go of then."""

WHOLE = frozenset(kind for kind in DISPLACED if kind.partition(".")[0] in ("list", "set", "deque"))
"""Kinds that may displace any of an object's items: no real object changes while it is traced, so one look at them is enough."""
