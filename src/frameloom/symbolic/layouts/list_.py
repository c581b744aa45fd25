"""Storage of lists: wholly known, or a real base that is not looked at plus what was appended."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.layouts.base import Layout, register, replay
from frameloom.symbolic.values import Const, Lazy, Obj, Real, Value


class ListBody:
    """`items` is None while the real base has not been looked at; then `tail` holds what the trace appended."""

    __slots__ = ("items", "tail", "real")

    def __init__(self, items: list[Value] | None, real: Real | None = None) -> None:
        self.items = items
        self.tail: list[Value] = []
        self.real = real


def materialise(session: Any, body: ListBody) -> list[Value]:
    """The whole list of items (some perhaps `Lazy`); observes the length of a real one."""
    if body.items is None:
        real = body.real
        count = list.__len__(real.object)
        session.guard("LENGTH", real.source, count)
        base = [Lazy(session.observe.real(list.__getitem__(real.object, i), real.source.child("item", i))) for i in range(count)]
        session.journal.record(_forget, body)
        body.items = base + body.tail
    return body.items


def _forget(body: ListBody) -> None:
    body.items = None


def item(session: Any, body: ListBody, index: int) -> Value:
    """The item at an index that is in range, looked at."""
    items = materialise(session, body)
    value = items[index]
    if type(value) is Lazy:
        value = session.observe.resolve(value)
        session.journal.set_index(items, index, value)
    return value


def items(session: Any, body: ListBody) -> list[Value]:
    """All items, looked at."""
    whole = materialise(session, body)
    return [item(session, body, i) if type(v) is Lazy else v for i, v in enumerate(whole)]


def append(session: Any, body: ListBody, value: Value) -> None:
    """Append without looking at a real base."""
    session.journal.append(body.tail if body.items is None else body.items, value)


def length(session: Any, body: ListBody) -> int:
    """The number of items."""
    return len(materialise(session, body))


def varying_length(session: Any, body: ListBody) -> Value | None:
    """The number of items of a real list that was not looked at, read at run time; None where earlier captures did not find that it varies."""
    if body.items is not None:
        return None
    source = body.real.source.child("length")
    return session.observe.promote(list.__len__(body.real.object), source) if source in session.observe.promoted else None


def early(session: Any, body: ListBody, index: int) -> Value | None:
    """An item of a real list that was not looked at: that the list reaches so far is all that is observed.  None where the
    item is not there, or is one that the trace put there."""
    real = body.real
    if body.items is not None or not 0 <= index < list.__len__(real.object):
        return None
    session.guard("LENGTH_AT_LEAST", real.source, index + 1)
    return session.observe.wrap(list.__getitem__(real.object, index), real.source.child("item", index))


def is_nonempty(session: Any, body: ListBody) -> bool:
    """Whether there are items; of a real list that was not looked at, no more is observed."""
    if body.items is not None:
        return bool(body.items)
    if body.tail:
        return True
    return reaches_one(session, body.real, list.__len__(body.real.object))


def reaches_one(session: Any, real: Real, count: int) -> bool:
    """Guard that a container with `count` items has some, or none."""
    if count:
        session.guard("LENGTH_AT_LEAST", real.source, 1)
    else:
        session.guard("LENGTH", real.source, 0)
    return count > 0


def replace(session: Any, body: ListBody, new: list[Value]) -> None:
    """Make `new` the whole list."""
    known = materialise(session, body)
    if len(new) < len(known):
        session.will_bind()  # an iterator may stand behind the end now
    session.journal.replace(body.items, new)


@register(list)
class ListLayout(Layout):
    """list and its subclasses."""

    def look(self, obj: Obj, session: Any) -> ListBody:
        return ListBody(None, obj.real)

    def children(self, obj: Obj) -> list:
        return list(obj.body.items)

    def create(self, obj: Obj, build: Any) -> None:
        if obj.cls is list:
            build.out.build_list(0)
        else:
            build.call_constant(list.__new__, build.constant(obj.cls))

    def fill(self, obj: Obj, build: Any) -> None:
        if obj.body.items:
            build.call_effect_items(list.extend, obj, obj.body.items)


@replay("list.append")
def _replay_append(build: Any, target: Obj, value: Value) -> None:
    build.call_effect(list.append, target, value)


@replay("list.extend")
def _replay_extend(build: Any, target: Obj, values: list[Value]) -> None:
    build.call_effect_items(list.extend, target, values)


@replay("list.set", location=lambda index, value: index)
def _replay_set(build: Any, target: Obj, index: int, value: Value) -> None:
    build.call_effect(list.__setitem__, target, Const(index), value)


@replay("list.insert")
def _replay_insert(build: Any, target: Obj, index: int, value: Value) -> None:
    build.call_effect(list.insert, target, Const(index), value)


@replay("list.delete")
def _replay_delete(build: Any, target: Obj, index: int) -> None:
    build.call_effect(list.__delitem__, target, Const(index))


@replay("list.clear")
def _replay_clear(build: Any, target: Obj) -> None:
    build.call_effect(list.clear, target)


@replay("list.reverse")
def _replay_reverse(build: Any, target: Obj) -> None:
    build.call_effect(list.reverse, target)


@replay("list.replace", location=lambda items: None)
def _replay_replace(build: Any, target: Obj, new: list[Value]) -> None:
    build.call_effect(list.__setitem__, target, Const(slice(None)), build.tuple_of(new))
