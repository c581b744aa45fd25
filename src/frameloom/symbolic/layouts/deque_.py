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
        items = [Lazy(session.observe.real(deque.__getitem__(real.object, i), real.source.child("deque_item", i))) for i in range(shape[0])]
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
    _count_change(session, body)


def _count_change(session: Any, body: DequeBody) -> None:
    session.journal.set_field(body, "changes", body.changes + 1)


def put(session: Any, body: DequeBody, value: Value, left: bool) -> None:
    """Put one item at an end; the one at the other end falls out of a deque that is full.  A queue that a trace fills and empties item by
    item costs a journal entry for each, however long it is."""
    items = materialise(session, body)
    _count_change(session, body)
    if body.maxlen == 0:
        return
    if len(items) == body.maxlen:
        session.journal.delete_index(items, len(items) - 1 if left else 0)
    session.journal.insert(items, 0 if left else len(items), value)


def take(session: Any, body: DequeBody, left: bool) -> Value:
    """Remove the item at an end of a deque that has items, and give it."""
    at = 0 if left else length(session, body) - 1
    found = item(session, body, at)
    session.journal.delete_index(body.items, at)
    _count_change(session, body)
    return found


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
    """An iterator over a deque: where it is, how many items it gives, and how often the deque had changed when it began."""

    __slots__ = ("over", "index", "size", "changes")

    def __init__(self, over: Obj, size: int, changes: int) -> None:
        self.over = over
        self.index = 0
        self.size = size
        self.changes = changes


@register(DEQUE_ITERATOR, DEQUE_REVERSED)
class DequeIteratorLayout(Layout):
    """Iterators over deques."""

    def look(self, obj: Obj, session: Any) -> Any:
        return FOREIGN

    def is_bound(self, obj: Obj) -> bool:
        """One whose deque has changed since it began raises when it is asked; a new one would not."""
        return obj.body is not FOREIGN and obj.body.over.body.changes != obj.body.changes

    def children(self, obj: Obj) -> list:
        return [obj.body.over]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def whole_first(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        body = obj.body
        build.call_values(iterator_at, (Const(obj.cls), body.over, Const(body.index)))


def iterator_at(cls: type, over: deque, index: int) -> Any:
    """An iterator over a deque, `index` items from its beginning; called by compiled code."""
    made = cls(over)
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
