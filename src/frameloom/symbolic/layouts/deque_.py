"""Storage of deques: items and the greatest length."""

from __future__ import annotations

from collections import deque
from typing import Any

from frameloom.symbolic.layouts.base import Layout, register, replay
from frameloom.symbolic.layouts.iterator import FOREIGN
from frameloom.symbolic.values import Const, Lazy, Obj, Real, Value

DEQUE_ITERATOR = type(iter(deque()))
DEQUE_REVERSED = type(reversed(deque()))


class DequeBody:
    """`items` (some may be `Lazy`), None while the real deque was not looked at; `maxlen`; `changes` counts what iterators
    must not miss."""

    __slots__ = ("items", "maxlen", "changes", "real")

    def __init__(self, items: list[Value] | None, maxlen: int | None = None, real: Real | None = None) -> None:
        self.items = items
        self.maxlen = maxlen
        self.changes = 0
        self.real = real


def shape_of(found: deque) -> tuple[int, int | None]:
    """Length and greatest length."""
    return deque.__len__(found), MAXLEN.__get__(found)


MAXLEN = deque.__dict__["maxlen"]


def has_shape(found: deque, shape: tuple) -> bool:
    """Guard: whether a deque has still its length."""
    return shape_of(found) == shape


def materialise(session: Any, body: DequeBody) -> list[Value]:
    """The list of items; observes the length of a real deque."""
    if body.items is None:
        real = body.real
        shape = shape_of(real.object)
        session.guard("CALL", real.source, (has_shape, shape, f"len({{}}) == {shape[0]}"))
        items = [Lazy(Real(deque.__getitem__(real.object, i), real.source.child("deque_item", i))) for i in range(shape[0])]
        session.journal.set_field(body, "maxlen", shape[1])
        session.journal.set_field(body, "items", items)
    return body.items


def length(session: Any, body: DequeBody) -> int:
    """The number of items."""
    return len(materialise(session, body))


def item(session: Any, body: DequeBody, index: int) -> Value:
    """The item at an index that is in range, looked at."""
    items = materialise(session, body)
    if type(items[index]) is Lazy:
        session.journal.set_index(items, index, session.observe.resolve(items[index]))
    return items[index]


def replace(session: Any, body: DequeBody, new: list[Value]) -> None:
    """Make these the items."""
    session.journal.replace(materialise(session, body), new)
    session.journal.set_field(body, "changes", body.changes + 1)


@register(deque)
class DequeLayout(Layout):
    """collections.deque and its subclasses."""

    def look(self, obj: Obj, session: Any) -> DequeBody:
        return DequeBody(None, None, obj.real)

    def children(self, obj: Obj) -> list:
        return list(obj.body.items)

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(new_deque, (Const(obj.cls), Const(obj.body.maxlen)))

    def fill(self, obj: Obj, build: Any) -> None:
        if obj.body.items:
            build.call_effect_items(deque.extend, obj, obj.body.items)


def new_deque(cls: type, maxlen: int | None) -> deque:
    """An empty deque of class `cls`; called by compiled code."""
    made = deque.__new__(cls)
    if maxlen is not None:
        deque.__init__(made, (), maxlen)
    return made


class DequeIterator:
    """An iterator over a deque: where it is, and how often the deque had changed when it began."""

    __slots__ = ("over", "index", "changes")

    def __init__(self, over: Obj | None, changes: int) -> None:
        self.over = over
        self.index = 0
        self.changes = changes


@register(DEQUE_ITERATOR, DEQUE_REVERSED)
class DequeIteratorLayout(Layout):
    """Iterators over deques."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def children(self, obj: Obj) -> list:
        return [] if obj.body.over is None else [obj.body.over]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def whole_first(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        body = obj.body
        build.call_values(iterator_at, (Const(obj.cls), Const(None) if body.over is None else body.over, Const(body.index)))


def iterator_at(cls: type, over: deque | None, index: int) -> Any:
    """An iterator over a deque, `index` items from its beginning; called by compiled code."""
    made = cls(deque() if over is None else over)
    for _ in range(index):
        next(made, None)
    return made


@replay("deque.call")
def _replay_call(build: Any, target: Obj, name: str, arguments: list) -> None:
    build.call_effect(getattr(deque, name), target, *arguments)


@replay("deque.replace", location=lambda items: None)
def _replay_replace(build: Any, target: Obj, new: list[Value]) -> None:
    build.call_effect(deque.clear, target)
    build.call_effect_items(deque.extend, target, new)
