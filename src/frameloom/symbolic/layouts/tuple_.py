"""Storage of tuples."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import Lazy, Obj, Real, Value


class TupleBody:
    """`items` in order; some may be `Lazy`."""

    __slots__ = ("items",)

    def __init__(self, items: list[Value]) -> None:
        self.items = items


def item(session: Any, body: TupleBody, index: int) -> Value:
    """The item at an index that is in range, looked at."""
    value = body.items[index]
    if type(value) is Lazy:
        value = session.observe.resolve(value)
        session.journal.set_index(body.items, index, value)
    return value


def items(session: Any, body: TupleBody) -> list[Value]:
    """All items, looked at."""
    return [item(session, body, i) for i in range(len(body.items))]


def length(session: Any, body: TupleBody) -> int:
    """The number of items."""
    return len(body.items)


@register(tuple)
class TupleLayout(Layout):
    """tuple and its subclasses (named tuples, structure sequences)."""

    def look(self, obj: Obj, session: Any) -> TupleBody:
        real = obj.real
        count = tuple.__len__(real.object)
        if real.source.step != "const":
            session.guard("LENGTH", real.source, count)
        return TupleBody([self._entry(session, real, index) for index in range(count)])

    def _entry(self, session: Any, real: Real, index: int) -> Value:
        return Lazy(session.observe.real(tuple.__getitem__(real.object, index), real.source.child("item", index)))

    def children(self, obj: Obj) -> list:
        return list(obj.body.items)

    def needs_first(self, obj: Obj) -> list:
        return list(obj.body.items)

    def create(self, obj: Obj, build: Any) -> None:
        if type(obj.body) is not TupleBody:
            obj.body.create(build)
        elif obj.cls is tuple:
            for value in obj.body.items:
                build.load(value)
            build.out.build_tuple(len(obj.body.items))
        else:
            build.call_constant_items(tuple.__new__, obj.cls, obj.body.items)
