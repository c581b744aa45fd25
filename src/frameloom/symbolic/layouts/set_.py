"""Storage of sets and frozensets."""

from __future__ import annotations

from typing import Any, Callable, Iterable

from frameloom.symbolic.keys import all_answers, host_hashable
from frameloom.symbolic.layouts.base import Layout, hashed_by_parts, register, replay
from frameloom.symbolic.layouts.dict_ import hashed_key
from frameloom.symbolic.real import stands_on
from frameloom.symbolic.mortal import require_weakly
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.stored import has_member
from frameloom.symbolic.values import ABSENT, Const, Lazy, Obj, Real, Value


class SetBody:
    """`known` maps handles to the member's value, or ABSENT where it is known to be missing.

    A body that is not full stands on `real`.  `history` tells what happened to a set that is full, since its order follows from
    that: it is done again with a set of handles where the order is asked for.
    """

    __slots__ = ("known", "history", "full", "real", "built", "steps", "removals")

    def __init__(self, real: Real | None = None) -> None:
        self.known: dict[Any, Value] = {}
        self.history: list[tuple] = []
        self.full = real is None
        self.real = real
        self.built: Any = None
        self.steps = 0
        self.removals = 0


# -- order -----------------------------------------------------------------------------------------------------------


class Unknown(Exception):
    """The order of a set cannot be told."""


def _made(host: set, name: str, first: tuple, others: tuple) -> set:
    return getattr(set, name)(rebuilt(first), *(other(*rest) for other, *rest in others))


def _copied(host: set, history: tuple) -> set:
    return set(rebuilt(history))


def _added(host: set, handle: Any) -> set:
    host.add(handle)
    return host


def _discarded(host: set, handle: Any) -> set:
    host.discard(handle)
    return host


def _popped(host: set) -> set:
    host.pop()
    return host


def _cleared(host: set) -> set:
    host.clear()
    return host


def _in_place(host: set, name: str, others: tuple) -> set:
    getattr(set, name)(host, *(other(*rest) for other, *rest in others))
    return host


def _constant(host: set, found: frozenset) -> Any:
    return found


def _given(host: set, order: tuple, real: Any) -> Any:
    """The real set itself where it is at hand; a trace, which must tell for later calls too, does not know its table."""
    if isinstance(real, Value):
        raise Unknown
    return real


DEEDS = {
    "made": _made,
    "copied": _copied,
    "added": _added,
    "discarded": _discarded,
    "popped": _popped,
    "cleared": _cleared,
    "in place": _in_place,
    "constant": _constant,
    "given": _given,
}
"""deed -> done(host set, *details) -> host set"""


def rebuilt(history: Any) -> Any:
    """A host set of handles to which the same happened; raises Unknown."""
    host: Any = set()
    for deed, *details in history:
        host = DEEDS[deed](host, *details)
    return host


def did(session: Any, body: SetBody, *deed: Any) -> None:
    """Remember what happened to a full set."""
    session.journal.record(_undo, body)
    body.history.append(deed)


def _undo(body: SetBody) -> None:
    body.history.pop()
    if len(body.history) < body.steps:
        body.built, body.steps = None, 0


def order(session: Any, body: SetBody) -> list:
    """The handles in the order of iteration; a break where nobody can know it."""
    materialise(session, body)
    if len(body.known) < 2:
        return list(body.known)
    if len(body.history) == 1 and body.history[0][0] == "given":
        return list(body.history[0][1])
    if any(_has_no_hash(handle) for handle in body.known):
        raise GraphBreak("FL501", "the order of a set of objects that hash by their address")
    try:
        if body.built is None:
            body.built = rebuilt(body.history)
        else:
            for deed, *details in body.history[body.steps :]:
                body.built = DEEDS[deed](body.built, *details)
    except Unknown:
        raise GraphBreak("FL501", "the order of a set that existed before and was changed or copied") from None
    body.steps = len(body.history)
    return list(body.built)


def _has_no_hash(handle: Any) -> bool:
    if type(handle) in (tuple, frozenset):
        return any(_has_no_hash(part) for part in handle)
    return isinstance(handle, Value)


# -- members ---------------------------------------------------------------------------------------------------------


def storage_of(found: Any) -> type:
    """The C class that keeps the members."""
    return frozenset if stands_on(found, frozenset) else set


def _is_fixed(body: SetBody) -> bool:
    """Whether the members are those of a constant of the program."""
    source = body.real.source
    return source.step == "const" and source.base is None and stands_on(body.real.object, frozenset)


def contains(session: Any, body: SetBody, handle: Any, value: Value) -> bool:
    """Whether a member is there; observed alone."""
    if handle in body.known:
        return body.known[handle] is not ABSENT
    if body.full:
        return False
    real = body.real
    there = has_member(real.object, handle)
    if not _is_fixed(body):
        session.guard("MEMBER" if there else "NOT_MEMBER", real.source, handle)
    session.journal.set_item(body.known, handle, value if there else ABSENT)
    return there


def add(session: Any, body: SetBody, handle: Any, value: Value) -> None:
    """Add a member without looking whether it is there."""
    if body.full:
        if handle not in body.known:
            session.journal.set_item(body.known, handle, value)
            did(session, body, "added", handle)
    elif body.known.get(handle, ABSENT) is ABSENT:
        session.journal.set_item(body.known, handle, value)


def discard(session: Any, body: SetBody, handle: Any) -> None:
    """Remove a member without looking whether it is there."""
    if not body.full:
        session.journal.set_item(body.known, handle, ABSENT)
    elif handle in body.known:
        session.journal.delete_item(body.known, handle)
        count_removal(session, body)
        did(session, body, "discarded", handle)


def count_removal(session: Any, body: SetBody) -> None:
    """An iterator must know whether members left since it began."""
    session.journal.set_field(body, "removals", body.removals + 1)


def become(session: Any, body: SetBody, known: dict, *deed: Any) -> None:
    """Make these the members, by a deed that tells their order."""
    materialise(session, body)
    count_removal(session, body)
    session.journal.record(setattr, body, "known", body.known)
    body.known = known
    did(session, body, *deed)


def materialise(session: Any, body: SetBody) -> None:
    """Look at all members of a real set."""
    if body.full:
        return
    real = body.real
    members = tuple(storage_of(real.object).__iter__(real.object))
    if not _is_fixed(body):
        require_weakly(members)
        session.guard("MEMBERS", real.source, members)
    handles = [
        member if host_hashable(member) else hashed_key(session, real.object, member, session.observe.constant(member))
        for member in members
    ]
    known = body.known
    history: list[tuple] = [("given", tuple(handles), Lazy(real))]
    session.will_bind()
    if _is_fixed(body) and all(handle is member for handle, member in zip(handles, members)):
        history = [("constant", real.object)] if type(real.object) is frozenset else history
    full = {handle: session.observe.constant(member) for handle, member in zip(handles, members)}
    history += _changes(full, known)
    session.journal.record(_restore, body, known, body.history)
    body.known, body.history, body.full = full, history, True
    body.built, body.steps = None, 0


def _changes(full: dict, known: dict) -> list[tuple]:
    """Apply to `full` what the trace did before it looked at all members; gives the deeds."""
    deeds: list[tuple] = []
    for handle, value in known.items():
        if value is ABSENT and handle in full:
            del full[handle]
            deeds.append(("discarded", handle))
        elif value is not ABSENT and handle not in full:
            full[handle] = value
            deeds.append(("added", handle))
    return deeds


def _restore(body: SetBody, known: dict, history: list) -> None:
    body.known, body.history, body.full = known, history, False
    body.built, body.steps = None, 0


def members(session: Any, body: SetBody) -> list[Value]:
    """All members in the order of iteration."""
    return [body.known[handle] for handle in order(session, body)]


def in_any_order(session: Any, body: SetBody) -> list[Value]:
    """All members, for a use that does not depend on their order."""
    materialise(session, body)
    return list(body.known.values())


def length(session: Any, body: SetBody) -> int:
    """The number of members; of a real set that was not looked at, only its length is observed."""
    if not body.full and not body.known:
        real = body.real
        count = storage_of(real.object).__len__(real.object)
        if not _is_fixed(body):
            session.guard("LENGTH", real.source, count)
        return count
    materialise(session, body)
    return len(body.known)


# -- making anew -----------------------------------------------------------------------------------------------------


class Place:
    """Stands in a history for a member: its position among the members, or -1 and the hash of one that left again."""

    __slots__ = ("index", "hash")

    def __init__(self, index: int, hash_: int) -> None:
        self.index = index
        self.hash = hash_

    def __hash__(self) -> int:
        return self.hash


def substituted(history: tuple, of: Callable[[Any], Any]) -> tuple:
    """A history with `of(handle)` in place of each handle."""
    return tuple((deed, *SUBSTITUTES[deed](of, *details)) for deed, *details in history)


def _others(others: tuple, of: Callable) -> tuple:
    return tuple(
        (host, substituted(what, of) if host is rebuilt else tuple(of(handle) for handle in what)) for host, what in others
    )


SUBSTITUTES: dict[str, Callable] = {
    "made": lambda of, name, first, others: (name, substituted(first, of), _others(others, of)),
    "copied": lambda of, history: (substituted(history, of),),
    "added": lambda of, handle: (of(handle),),
    "discarded": lambda of, handle: (of(handle),),
    "popped": lambda of: (),
    "cleared": lambda of: (),
    "in place": lambda of, name, others: (name, _others(others, of)),
    "constant": lambda of, found: (found,),
    "given": lambda of, order, real: (tuple(map(of, order)), of(real)),
}
"""deed -> details(of, *details) with the handles replaced"""


def is_simple(body: SetBody) -> bool:
    """Whether adding the members one by one makes the set as it is."""
    return len(body.known) < 2 or all(deed[0] == "added" for deed in body.history)


def is_lost(history: Iterable) -> bool:
    """Whether a real set was changed by the trace before its table went into this one: then nothing tells the order."""
    seen = False
    for deed, *details in history:
        if seen and deed != "given":
            return True
        seen = deed == "given"
        inner = [details[0]] if deed == "copied" else [details[1]] if deed == "made" else []
        inner += [what for host, what in details[-1] if host is rebuilt] if deed in ("made", "in place") else []
        if any(is_lost(part) for part in inner):
            return True
    return False


def real_sets(history: Iterable) -> list[Lazy]:
    """The real sets from which a history began."""
    found: list[Lazy] = []
    for deed, *details in history:
        if deed == "given":
            found.append(details[1])
        inner = [details[0]] if deed == "copied" else [details[1]] if deed == "made" else []
        inner += [what for host, what in details[-1] if host is rebuilt] if deed in ("made", "in place") else []
        for part in inner:
            found += real_sets(part)
    return found


def template(body: SetBody) -> tuple:
    """The history with places for the members, and for the real sets that come behind them."""
    places: dict = {handle: Place(index, hash(handle)) for index, handle in enumerate(body.known)}
    real = real_sets(body.history)
    for index, given in enumerate(real):
        places[given] = Place(len(body.known) + index, 0)

    def place(handle: Any) -> Any:
        if handle in places:
            return places[handle]
        if real and not _has_no_hash(handle):
            return handle  # the real set holds the object itself, which must be found there
        return places.setdefault(handle, Place(-1, hash(handle)))

    return substituted(tuple(body.history), place)


def remade(cls: type, history: tuple, members: tuple) -> Any:
    """A set of class `cls` to which a history happened; called by compiled code."""
    done = substituted(history, lambda place: members[place.index] if type(place) is Place and place.index >= 0 else place)
    if not issubclass(cls, frozenset):
        made: Any = rebuilt(done)
        return made
    first, *more = done
    deed, *details = first
    if deed == "made":
        name, source, others = details
        return getattr(frozenset, name)(frozenset(rebuilt(source)), *(host(what) for host, what in others))
    if deed == "constant" and not more:
        return details[0]
    if deed == "in place" and not more:
        ((host, what),) = details[1]
        return frozenset(host(what))
    return frozenset(rebuilt(done))


@register(set, frozenset)
class SetLayout(Layout):
    """set, frozenset and their subclasses."""

    def look(self, obj: Obj, session: Any) -> SetBody:
        return SetBody(obj.real)

    def children(self, obj: Obj) -> list:
        return list(obj.body.known.values())

    def is_bound(self, obj: Obj) -> bool:
        return len(obj.body.known) > 1 and is_lost(obj.body.history)

    def needs_first(self, obj: Obj) -> list:
        return self._parts(obj) if self._is_made_whole(obj) else []

    def _parts(self, obj: Obj) -> list:
        """The members, and the real sets whose order they have."""
        return [*obj.body.known.values(), *real_sets(obj.body.history)]

    def whole_first(self, obj: Obj) -> list:
        return self._hashed(obj) if self._is_made_whole(obj) else []

    def whole_inside(self, obj: Obj) -> list:
        return [] if self._is_made_whole(obj) else self._hashed(obj)

    def _is_made_whole(self, obj: Obj) -> bool:
        """Whether `create` gives the members too; a subclass of set is filled in the order of iteration."""
        return issubclass(obj.cls, frozenset) or obj.cls is set and not is_simple(obj.body)

    def _hashed(self, obj: Obj) -> list:
        return [value for value in obj.body.known.values() if hashed_by_parts(value)]

    def create(self, obj: Obj, build: Any) -> None:
        members = list(obj.body.known.values())
        if not self._is_made_whole(obj):
            build.call_constant(set.__new__, build.constant(obj.cls))
            return
        with build.telling(all_answers(obj.body.known)):
            if is_simple(obj.body) or obj.cls is not set and obj.cls is not frozenset:
                build.call_constant_items(frozenset.__new__, obj.cls, members)
            else:
                build.call_values(remade, (Const(obj.cls), Const(template(obj.body)), build.tuple_of(self._parts(obj))))

    def fill(self, obj: Obj, build: Any) -> None:
        if not self._is_made_whole(obj):
            with build.telling(all_answers(obj.body.known)):
                for value in obj.body.known.values():
                    build.call_effect(set.add, obj, value)


@replay("set.add")
def _replay_add(build: Any, target: Obj, value: Value) -> None:
    build.call_effect(set.add, target, value)


@replay("set.discard")
def _replay_discard(build: Any, target: Obj, value: Value) -> None:
    build.call_effect(set.discard, target, value)


@replay("set.call")
def _replay_call(build: Any, target: Obj, name: str, arguments: list[Value]) -> None:
    build.call_effect(getattr(set, name), target, *arguments)


@replay("set.clear")
def _replay_clear(build: Any, target: Obj) -> None:
    build.call_effect(set.clear, target)
