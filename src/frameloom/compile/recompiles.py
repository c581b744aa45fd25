"""Why a call fitted no entry: the guard that failed, the old value and the new one, and what to do about it."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from frameloom import config
from frameloom.codegen.written import written
from frameloom.compile.cache import EntryInfo
from frameloom.compile.locations import caller, chain_of, first_line
from frameloom.diagnostics.location import Location
from frameloom.diagnostics.reports import RecompileReport
from frameloom.symbolic.guards import CHECKS, PLAIN_KEYS, Guard, class_order, ordered_keys, others_of
from frameloom.symbolic.instance_dict import instance_dict_item
from frameloom.symbolic.literals import literal
from frameloom.symbolic.mortal import still_there
from frameloom.symbolic.real import stands_on
from frameloom.symbolic.source import Missing, Scope, Source

NOTHING = "nothing there"


class Miss:
    """One guard that failed: `guard` (without ownership of its payload), what its source reads now, and what the other sources do that it
    speaks of."""

    __slots__ = ("guard", "found", "text", "others")

    def __init__(self, guard: Guard, found: Any, text: str, others: tuple = ()) -> None:
        self.guard = guard
        self.others = others
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
            return Miss(guard, found, info.text(index), _read_others(guard, scope))
    return None


def _read_others(guard: Guard, scope: Scope) -> tuple:
    found = []
    for source in others_of(guard):
        try:
            found.append(source.read(scope))
        except Missing:
            found.append(Missing)
    return tuple(found)


def guards_of(misses: tuple, checks: frozenset[str]) -> Iterator[Guard]:
    """The guards of these checks in the entry that was tried first, whether they hold or not."""
    for entry, _ in misses[:1]:
        if type(entry.info) is EntryInfo:
            yield from [guard for guard in entry.info.guards if guard.check in checks]


def all_misses(misses: tuple, scope: Scope, checks: frozenset[str]) -> Iterator[Miss]:
    """Every guard of these checks that fails in the entry that was tried first: what differs at once is learnt at once.

    What else was asked of an object that is unlike the one that was captured, and what lies behind it, may not apply.
    """
    for entry, _ in misses[:1]:
        info = entry.info
        if type(info) is not EntryInfo:
            continue
        unlike: set[Source] = set()
        for index, guard in enumerate(info.guards):
            if _is_or_lies_behind(guard.source, unlike) or guard._replace(payload=still_there(guard.payload)).holds(scope):
                continue
            if guard.check not in checks or guard.check == "LENGTH":
                unlike.add(guard.source)
            if guard.check not in checks:
                continue
            try:
                yield Miss(guard, guard.source.read(scope), info.text(index))
            except Missing:
                continue


def only_counts(miss: Miss, misses: tuple) -> bool:
    """Whether the entry that was tried first asked nothing of a list but its length."""
    if type(miss.guard.payload) is not int or not stands_on(miss.found, list):
        return False
    source = miss.guard.source
    return not any(
        guard.source is not source and _is_or_lies_behind(guard.source, {source}) for entry, _ in misses[:1] for guard in entry.info.guards
    )


def _is_or_lies_behind(source: Source | None, others: set[Source]) -> bool:
    """Whether a source or one that it goes through is among the others."""
    while source is not None and source not in others:
        source = source.base
    return source is not None


def what_is_done(sizes: bool, numbers: bool, needed: bool = False) -> str:
    """What the capture after a miss does about it: sizes, numbers: whether some that differed are taken as varying from now on; needed: whether
    the number that differs was so taken already, and the program asked what it is."""
    kinds = " and ".join([*["sizes that differ become symbolic"] * sizes, *["numbers that differ are read at run time"] * numbers])
    return kinds or (NEEDED if needed else AS_BEFORE)


AS_BEFORE = "an entry of its own for what this call has"
NEEDED = "an entry of its own for this number, since the program needs to know it here"
NEEDED_HELP = "text, keys, indices, range() and `is` take the very number, as do arguments of torch that are no sizes: keep it out of them, or pass a tensor"


def report(miss: Miss, code: types.CodeType, entries: int, time: int = 1, done: str = "") -> RecompileReport:
    """What to tell.  time: which recompile of the code it is; done: what the new capture does about it."""
    guard = miss.guard
    path = written(guard.source, guard.where)
    told = EXPLAINERS.get(guard.check, _unknown)(path, still_there(guard.payload), miss)
    chain = chain_of(told.where or guard.where)
    return RecompileReport(
        function=next((at.qualname for at in reversed(chain) if not at.of_library), code.co_qualname),
        entries=entries,
        limit=config.current().recompile_limit,
        check=guard.check,
        path=path,
        old=told.old,
        new=NOTHING if miss.found is Missing else told.new,
        chain=chain or _place(code),
        help=_help(guard, told, done),
        changed=told.changed,
        time=time,
        done=done,
        label=f"{path} is read here" if chain else "",
    )


def _help(guard: Guard, told: Told, done: str) -> str:
    if guard.check == "EQUAL":
        return {"": told.help, AS_BEFORE: told.help, NEEDED: NEEDED_HELP}.get(done, "")  # there is nothing to do
    return told.help


def _place(code: types.CodeType) -> tuple[Location, ...]:
    """Where the function is that is captured, or, where that is a library's, where the program calls it."""
    first = first_line(code)
    return first.of_library and caller(sys._getframe()) or (first,)


def shown(value: Any) -> str:
    """A short text for an object that runs none of the user's code."""
    if value is Missing:
        return NOTHING
    if type(value) in PLAIN_KEYS and type(value) is not tuple:
        return literal(value)
    if stands_on(value, type):
        return f"class {QUALNAME.__get__(value)}"
    describe = DESCRIPTIONS.get(type(value))
    return describe(value) if describe is not None else f"an object of class {QUALNAME.__get__(type(value))}"


QUALNAME = type.__dict__["__qualname__"]


def _name_of_module(module: types.ModuleType) -> str:
    name = instance_dict_item(module, "__name__")
    return name if type(name) is str else "without a name"


DESCRIPTIONS: dict[type, Any] = {
    list: lambda value: f"a list of {len(value)}",
    tuple: lambda value: f"a tuple of {len(value)}",
    dict: lambda value: f"a dict of {len(value)}",
    types.FunctionType: lambda value: f"function {value.__qualname__}",
    types.CodeType: lambda value: f"function {value.co_qualname}",
    types.ModuleType: lambda value: f"module {_name_of_module(value)}",
}
"""exact class -> a text for an instance; domains add theirs"""


# -- what is told for each check -----------------------------------------------------------------------------------------


class Told(NamedTuple):
    """changed: what changed, for the first line; old, new: its values; help: what to do; where: the user's instruction that asked for it,
    if that is not the guard's."""

    changed: str
    old: str
    new: str
    help: str = ""
    where: Any = None


EXPLAINERS: dict[str, Callable[[str, Any, Miss], Told]] = {}
"""check -> explainer(path, payload, miss); domains add theirs"""


def explains(*checks: str) -> Callable:
    """Decorator: the function tells what to say where a guard of these checks failed."""

    def add(function: Callable) -> Callable:
        for check in checks:
            EXPLAINERS[check] = function
        return function

    return add


def _unknown(path: str, payload: Any, miss: Miss) -> Told:
    return Told(f"{path} changed", miss.text, "this does not hold any more")


@explains("EQUAL")
def _equal(path: str, payload: Any, miss: Miss) -> Told:
    help = FLAG_HELP if type(payload) is bool else NONE_HELP if payload is None or miss.found is None else VALUE_HELP
    return Told(f"value of {path} changed", shown(payload), shown(miss.found), help)


NONE_HELP = "None and a value take different ways; each gets an entry of its own"
VALUE_HELP = "a number or text that differs between calls is part of the compiled code: pass it as a tensor, or set it once"
FLAG_HELP = "each value of a flag gets an entry of its own"


@explains("TYPE")
def _type(path: str, payload: Any, miss: Miss) -> Told:
    new = NOTHING if miss.found is Missing else shown(type(miss.found))
    return Told(f"class of {path} changed", "a class that is gone" if payload is None else shown(payload), new,
                "each class that comes here gets an entry of its own; let one class come here")


@explains("IS")
def _is(path: str, payload: Any, miss: Miss) -> Told:
    gone = payload is None and "gone" in miss.text
    return Told(f"{path} is another object", "an object that is gone" if gone else shown(payload), shown(miss.found),
                "each object that comes here gets an entry of its own; make it once and keep it")


@explains("LENGTH", "LENGTH_AT_LEAST")
def _length(path: str, payload: Any, miss: Miss) -> Told:
    least = "at least " if miss.guard.check == "LENGTH_AT_LEAST" else ""
    return Told(f"length of {path} changed", f"{least}{payload}", _count(miss.found),
                "the number of items decides how the code runs: keep it fixed, or stack the items into one tensor")


def _count(value: Any) -> str:
    for storage in (list, tuple, dict, set, frozenset):
        if stands_on(value, storage):
            return str(storage.__len__(value))
    return shown(value)


@explains("KEYS")
def _keys(path: str, payload: Any, miss: Miss) -> Told:
    new = _listed(ordered_keys(miss.found)) if stands_on(miss.found, dict) else shown(miss.found)
    return Told(f"keys of {path} changed", _listed(payload), new, "the keys and their order decide how the code runs: keep them fixed")


@explains("MEMBERS")
def _members(path: str, payload: Any, miss: Miss) -> Told:
    return Told(f"members of {path} changed", _listed(payload), _listed(miss.found) if stands_on(miss.found, set, frozenset) else shown(miss.found),
                "the members and their order decide how the code runs: keep them fixed")


def _listed(keys: Iterable) -> str:
    return f"[{', '.join(map(shown, keys))}]"


@explains("HAS_KEY", "NO_KEY", "MEMBER", "NOT_MEMBER")
def _key(path: str, payload: Any, miss: Miss) -> Told:
    present = miss.guard.check in ("HAS_KEY", "MEMBER")
    noun = "key" if miss.guard.check.endswith("KEY") else "member"
    return _presence(f"{noun} {shown(payload)} of {path}", present)


@explains("NO_ATTRIBUTE", "NO_TYPE_ATTRIBUTE")
def _attribute(path: str, payload: str, miss: Miss) -> Told:
    return _presence(f"attribute {payload!r} of {path}", False)


def _presence(what: str, was_there: bool) -> Told:
    names = ("there", "not there")
    return Told(f"{what} {'disappeared' if was_there else 'appeared'}", names[not was_there], names[was_there],
                "whether it is there decides how the code runs: set it before the first call")


@explains("ORDER")
def _order(path: str, payload: tuple, miss: Miss) -> Told:
    return Told(f"base classes of {path} changed", CHECKS["ORDER"].text(path, payload), CHECKS["ORDER"].text(path, class_order(miss.found)),
                "the order of base classes decides how the code runs: set it before the first call")


@explains("SAME", "DISTINCT")
def _aliases(path: str, payload: Any, miss: Miss) -> Told:
    others = ", ".join(written(other, miss.guard.where) for other in (payload if isinstance(payload, tuple) else (payload,)))
    one = miss.guard.check == "SAME"
    words = ("one object", "different objects")
    return Told(f"{path} and {others} are {words[one]} now", words[not one], words[one],
                "objects that are the same in some calls and not in others get an entry for each case")


@explains("OUTCOME")
def _outcome(path: str, payload: Any, miss: Miss) -> Told:
    names = [path, *[written(other, miss.guard.where) for other in payload.others]]
    condition = payload._replace(found=True).tell(names)
    return Told(f"{condition} changed", str(payload.found), str(not payload.found), OUTCOME_HELP)


OUTCOME_HELP = "what the program asks of a number decides how the code runs: each answer gets an entry of its own"


@explains("CALL")
def _call(path: str, payload: Any, miss: Miss) -> Told:
    _, wanted, text = payload
    condition = text.replace("{}", path, 1)
    if type(wanted) is bool:
        return Told(f"{condition} changed", str(wanted), str(not wanted))
    return Told(f"{condition} changed", miss.text, "this does not hold any more")
