"""Real iterators over built-in containers whose items are read ahead of where they stand.

Where that is remains open: what is guarded is that so many items are left, and what they are as far as the trace looks at them.
A loop with a break in it is one program then, whichever turn it goes on with.
"""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.ahead import (
    DICT_ITERATORS,
    READABLE,
    STORED,
    Nothing,
    container_of,
    ends_after,
    entry_ahead,
    item_ahead,
    own_dictionary,
)
from frameloom.symbolic.layouts.iterator import ITEM_ITERATOR, KEY_ITERATOR
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Lazy, Obj, Real, Value


class Ahead:
    """The body of such an iterator. `taken`: how many items the trace has got; `is_over`: whether it has met the end; `known`: for how
    many of the objects written by the trace it is known that they are not what is iterated."""

    __slots__ = ("taken", "is_over", "known")

    def __init__(self) -> None:
        self.taken = 0
        self.is_over = False
        self.known = 0


def stand(session: Any, obj: Obj) -> bool:
    """Give a real iterator such a body; False where it cannot be read ahead."""
    if obj.cls not in READABLE or is_changed(session, obj, 0):
        return False
    if obj.cls in DICT_ITERATORS and _next(session, obj, 0) is None and not ends_after(obj.real.object, 0):
        return False
    session.journal.set_field(obj, "body", Ahead())
    return True


def take(session: Any, obj: Obj) -> Value | None:
    """The next item, perhaps not looked at yet; None at the end."""
    body: Ahead = obj.body
    if body.is_over:
        return None
    item = _next(session, obj, body.taken)
    if item is None:
        if not ends_after(obj.real.object, body.taken):
            raise GraphBreak("FL502", "an iterator over a dictionary whose keys were replaced")
        session.guard("ENDS", obj.real.source, body.taken)
        session.journal.set_field(body, "is_over", True)
        return None
    session.journal.set_field(body, "taken", body.taken + 1)
    session.strengthen("GIVES", obj.real.source, body.taken)
    return item


def is_changed(session: Any, obj: Obj, known: int) -> bool:
    """Whether the trace has written to what the iterator is about; where it has not, that is guarded. For the first `known` objects
    written it is clear already."""
    if len(session.written) == known and not session.observe.class_writes:
        return False
    of_dict = obj.cls in DICT_ITERATORS
    if not of_dict and STORED[obj.cls] is not list:
        return False
    container, source = container_of(obj.real.object), obj.real.source.child("container")
    others = []
    for written in list(session.written.values())[known:]:
        if type(written) is Obj and issubclass(written.cls, dict if of_dict else list):
            others.append((written.real.object, written.real.source))
        if type(written) is Obj and of_dict and written.attributes is not None:
            others.append((own_dictionary(written.real.object), written.real.source.child("own_dictionary")))
    if of_dict and session.observe.class_writes or any(other is container for other, _ in others):
        return True
    for _, other in others:
        session.guard("DISTINCT", source, (other,))
    return False


def _next(session: Any, obj: Obj, number: int) -> Value | None:
    real = obj.real
    try:
        if obj.cls not in DICT_ITERATORS:
            return _lazy(session, real, "ahead", number, item_ahead(real.object, number))
        key, value = entry_ahead(real.object, number)
    except Nothing:
        return None
    if obj.cls is KEY_ITERATOR:
        return _lazy(session, real, "key_ahead", number, key)
    item = _lazy(session, real, "value_ahead", number, value)
    if obj.cls is not ITEM_ITERATOR:
        return item
    return session.alloc(tuple, TupleBody([_lazy(session, real, "key_ahead", number, key), item]))


def _lazy(session: Any, real: Real, step: str, number: int, found: Any) -> Lazy:
    return Lazy(session.observe.real(found, real.source.child(step, number)))
