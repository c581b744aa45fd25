"""Storage of sets and frozensets."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.layouts.base import Layout, register, replay
from frameloom.symbolic.values import ABSENT, Const, Obj, Real, Value


class SetBody:
    """`known` maps handles to the member's value, or ABSENT where it is known to be missing.

    Once `full`, `order` is a set of the handles that went through the same operations as the user's set, so that it
    iterates in the same order; a body that is not full stands on `real`.
    """

    __slots__ = ("known", "order", "full", "real")

    def __init__(self, real: Real | None = None) -> None:
        self.known: dict[Any, Value] = {}
        self.order: Any = set()
        self.full = real is None
        self.real = real


def contains(session: Any, body: SetBody, handle: Any, value: Value) -> bool:
    """Whether a member is there; observed alone."""
    if handle in body.known:
        return body.known[handle] is not ABSENT
    if body.full:
        return False
    storage = frozenset if isinstance(body.real.object, frozenset) else set
    there = storage.__contains__(body.real.object, handle)
    session.guard("MEMBER" if there else "NOT_MEMBER", body.real.source, handle)
    session.journal.set_item(body.known, handle, value if there else ABSENT)
    return there


def add(session: Any, body: SetBody, handle: Any, value: Value) -> None:
    if body.full and handle in body.known:
        return
    if body.known.get(handle, ABSENT) is ABSENT:
        session.journal.set_item(body.known, handle, value)
    if body.full:
        session.journal.record(_restore_order, body, body.order.copy())
        body.order.add(handle)


def discard(session: Any, body: SetBody, handle: Any) -> None:
    if body.full:
        if handle in body.known:
            session.journal.delete_item(body.known, handle)
            session.journal.record(_restore_order, body, body.order.copy())
            body.order.discard(handle)
    else:
        session.journal.set_item(body.known, handle, ABSENT)


def _restore_order(body: SetBody, order: Any) -> None:
    body.order = order


def materialise(session: Any, body: SetBody) -> None:
    """Look at all members; a real set's own order, then the trace's changes in sequence, decide the order."""
    if body.full:
        return
    from frameloom.symbolic.layouts.dict_ import _handle_of_real

    real = body.real
    storage = frozenset if isinstance(real.object, frozenset) else set
    members = tuple(storage.__iter__(real.object))
    session.guard("MEMBERS", real.source, members)
    known = body.known
    full: dict = {}
    order = storage.copy(real.object) if storage is set else set(members)
    if all(_handle_of_real(m, None) is m for m in members):
        order = set.copy(order) if storage is set else set(real.object)
    else:
        order = set()
    for member in members:
        wrapped = session.observe.constant(member)
        handle = _handle_of_real(member, wrapped)
        order.add(handle)
        full[handle] = wrapped
    for handle, value in known.items():
        if value is ABSENT:
            full.pop(handle, None)
            order.discard(handle)
        elif handle not in full:
            full[handle] = value
            order.add(handle)
    session.journal.record(_restore, body, known, body.order)
    body.known, body.order, body.full = full, order, True


def _restore(body: SetBody, known: dict, order: Any) -> None:
    body.known, body.order, body.full = known, order, False


def members(session: Any, body: SetBody) -> list[Value]:
    """All members in the order of iteration."""
    materialise(session, body)
    return [body.known[handle] for handle in body.order]


def length(session: Any, body: SetBody) -> int:
    if not body.full and not body.known:
        storage = frozenset if isinstance(body.real.object, frozenset) else set
        count = storage.__len__(body.real.object)
        session.guard("LENGTH", body.real.source, count)
        return count
    materialise(session, body)
    return len(body.known)


@register(set, frozenset)
class SetLayout(Layout):
    """set, frozenset and their subclasses."""

    def look(self, obj: Obj, session: Any) -> SetBody:
        return SetBody(obj.real)

    def children(self, obj: Obj) -> list:
        return list(obj.body.known.values())

    def needs_first(self, obj: Obj) -> list:
        return list(obj.body.known.values()) if issubclass(obj.cls, frozenset) else []

    def create(self, obj: Obj, build: Any) -> None:
        if issubclass(obj.cls, frozenset):
            build.call_constant_items(frozenset.__new__, obj.cls, [obj.body.known[h] for h in obj.body.order])
        else:
            build.call_constant(set.__new__, build.constant(obj.cls))

    def fill(self, obj: Obj, build: Any) -> None:
        if not issubclass(obj.cls, frozenset):
            for handle in obj.body.order:
                build.call_effect(set.add, obj, obj.body.known[handle])


@replay("set.add")
def _replay_add(build: Any, target: Obj, value: Value) -> None:
    build.call_effect(set.add, target, value)


@replay("set.discard")
def _replay_discard(build: Any, target: Obj, value: Value) -> None:
    build.call_effect(set.discard, target, value)


@replay("set.clear")
def _replay_clear(build: Any, target: Obj) -> None:
    build.call_effect(set.clear, target)
