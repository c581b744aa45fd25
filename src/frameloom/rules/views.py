"""Views of dictionaries, and the iterators of dictionaries and views."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from frameloom.interpreter.containment import contains
from frameloom.interpreter.iteration import PEEKS, iterate, next_item, unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import equal, length
from frameloom.interpreter.stores import dict_get
from frameloom.rules.define import methods
from frameloom.rules.dict_ import iterator_over
from frameloom.rules.iterator_ import iterator_of
from frameloom.rules.set_ import discard_all, fresh_set, make as make_set
from frameloom.symbolic.keys import Hashed
from frameloom.symbolic.layouts import dict_, tuple_
from frameloom.symbolic.layouts.iterator import (
    ITEM_ITERATOR,
    ITEMS,
    KEY_ITERATOR,
    KEYS,
    NEVER,
    ORDERED_ITEMS,
    ORDERED_ITERATOR,
    ORDERED_KEYS,
    ORDERED_VALUES,
    VALUE_ITERATOR,
    VALUES,
    ItemsIterator,
    ViewBody,
    has_changed,
    look_into_walk,
)
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, FALSE, NOT_IMPLEMENTED, TRUE, Const, Obj, Value, boolean

REVERSED = {
    KEYS: type(reversed({})),
    VALUES: type(reversed({}.values())),
    ITEMS: type(reversed({}.items())),
}
FORWARDS = {KEYS: KEY_ITERATOR, VALUES: VALUE_ITERATOR, ITEMS: ITEM_ITERATOR}
EXACT = {ORDERED_KEYS: KEYS, ORDERED_VALUES: VALUES, ORDERED_ITEMS: ITEMS}


# -- iterators -------------------------------------------------------------------------------------------------------


def step(m: Machine, self: Obj) -> tuple[Any, Value] | None:
    """The next entry (handle, key) of the container, or None; errors where the container changed meanwhile."""
    body: ItemsIterator = self.body
    container = body.container
    if container is None:
        return None
    if self.cls is ORDERED_ITERATOR:
        return _ordered_step(m, body)
    stored = container.body
    if self.real is not None and has_changed(body):
        raise GraphBreak("FL502", "a container has changed under an iterator that exists already")
    if len(stored.known) != body.size or not stored.full:
        m.journal.set_field(body, "size", NEVER)
        raise m.error(RuntimeError, "dictionary changed size during iteration")
    if stored.removals != body.removals:
        raise GraphBreak("FL102", "a dictionary whose keys are replaced while it is iterated")
    if body.index == body.size:
        m.journal.set_field(body, "container", None)
        return None
    handle = body.handles[body.index]
    m.journal.set_field(body, "index", body.index + 1)
    return handle, stored.known[handle][0]


def _ordered_step(m: Machine, body: ItemsIterator) -> tuple[Any, Value] | None:
    """As `step`, of an OrderedDict: its iterator knows the next key in advance, hence its end, and is mostly over
    after an error."""
    container = body.container
    stored = container.body
    if body.index == body.size:
        m.journal.set_field(body, "container", None)
        return None
    if has_changed(body):
        how = _how_it_changed(body)
        if how == "mutated":
            m.journal.set_field(body, "container", None)
        raise m.error(RuntimeError, f"OrderedDict {how} during iteration")
    handle = body.handles[body.index]
    key = stored.known[handle][0]
    if isinstance(handle, Hashed):
        raise GraphBreak("FL507", f"an OrderedDict with a {key.cls.__name__} as key is iterated")
    m.journal.set_field(body, "index", body.index + 1)
    return handle, key


def _word_for_clearing() -> str:
    found = OrderedDict(a=1, b=2)
    iterator = iter(found)
    next(iterator)
    found.clear()
    try:
        next(iterator)
    except RuntimeError as error:
        return str(error).removeprefix("OrderedDict ").removesuffix(" during iteration")
    raise AssertionError("an OrderedDict is cleared unnoticed while it is iterated")


CLEARING = _word_for_clearing()
"""What the running CPython's iterator says of an OrderedDict that was cleared."""


def _how_it_changed(body: ItemsIterator) -> str:
    """What the error of an OrderedDict's iterator says: `clear` does not count as a change of the order everywhere."""
    stored = body.container.body
    if CLEARING == "mutated":
        return CLEARING
    emptied_at_once = not stored.known and stored.removals == body.removals + 1
    if emptied_at_once and body.size == 1:
        raise GraphBreak("FL102", "an OrderedDict is emptied while it is iterated")
    return "changed size" if emptied_at_once else "mutated"


def take_key(m: Machine, self: Obj) -> Value | None:
    found = step(m, self)
    return None if found is None else found[1]


def take_value(m: Machine, self: Obj) -> Value | None:
    container = self.body.container
    found = step(m, self)
    return None if found is None else dict_.get(m.session, container.body, *found)


def take_item(m: Machine, self: Obj) -> Value | None:
    container = self.body.container
    found = step(m, self)
    return None if found is None else m.tuple([found[1], dict_.get(m.session, container.body, *found)])


TAKE = {KEYS: take_key, VALUES: take_value, ITEMS: take_item}
for _view, _take in TAKE.items():
    iterator_of(FORWARDS[_view], REVERSED[_view])(_take)


def _peek(cls: type, backwards: bool) -> None:
    def handles_of(session: Any, container: Obj) -> list:
        if issubclass(container.cls, OrderedDict):  # `dict.keys` of one shows the order that `dict` has
            raise GraphBreak("FL102", "an iterator of dict over an OrderedDict")
        found = dict_.handles(session, container.body)
        return found[::-1] if backwards else found

    PEEKS[cls] = lambda m, obj: look_into_walk(m.session, obj, handles_of)


for _cls in FORWARDS.values():
    _peek(_cls, False)
for _cls in REVERSED.values():
    _peek(_cls, True)


class OrderedItemsIterator(ItemsIterator):
    """As its base; `view` tells what an iterator of an OrderedDict gives: keys, values or pairs; `backwards` from which end."""

    __slots__ = ("view", "backwards")


@iterator_of(ORDERED_ITERATOR)
def take_ordered(m: Machine, self: Obj) -> Value | None:
    return TAKE[self.body.view](m, self)


def ordered_iterator(m: Machine, mapping: Obj, view: type, backwards: bool = False) -> Obj:
    """A new iterator over an OrderedDict, its keys, values or pairs."""
    handles = dict_.handles(m.session, mapping.body)
    if backwards:
        handles.reverse()
    body = OrderedItemsIterator(handles, mapping, mapping.body.removals)
    body.view = view
    body.backwards = backwards
    return m.session.alloc_bound(ORDERED_ITERATOR, body)


# -- views -----------------------------------------------------------------------------------------------------------


def _iteration(cls: type) -> None:
    @methods(cls, "__iter__", storage=ViewBody)
    def iterator(m: Machine, self: Obj, /) -> Value:
        if cls in EXACT:
            return ordered_iterator(m, self.body.mapping, EXACT[cls])
        return iterator_over(m, self.body.mapping, FORWARDS[cls])

    @methods(cls, "__reversed__", storage=ViewBody)
    def backwards(m: Machine, self: Obj, /) -> Value:
        if cls in EXACT:
            return ordered_iterator(m, self.body.mapping, EXACT[cls], True)
        return iterator_over(m, self.body.mapping, REVERSED[cls], True)


for _cls in (*FORWARDS, *EXACT):
    _iteration(_cls)


@methods(KEYS, "__len__", storage=ViewBody)
@methods(VALUES, "__len__", storage=ViewBody)
@methods(ITEMS, "__len__", storage=ViewBody)
def length_of(m: Machine, self: Obj, /) -> Value:
    return Const(dict_.length(m.session, self.body.mapping.body))


@methods(KEYS, "__contains__", storage=ViewBody)
def has_key(m: Machine, self: Obj, key: Value, /) -> Value:
    return boolean(dict_get(m, self.body.mapping, key) is not ABSENT)


@methods(ITEMS, "__contains__", storage=ViewBody)
def has_item(m: Machine, self: Obj, item: Value, /) -> Value:
    if not (type(item) is Obj and isinstance(item.body, TupleBody) and len(item.body.items) == 2):
        return FALSE
    key, value = tuple_.items(m.session, item.body)
    found = dict_get(m, self.body.mapping, key)
    return boolean(found is not ABSENT and equal(m, found, value))


# -- as sets ---------------------------------------------------------------------------------------------------------


def is_set_like(value: Value) -> bool:
    """Whether a value is a set, a frozenset or a view of keys or items."""
    return issubclass(value.cls, (set, frozenset, KEYS, ITEMS))


def all_in(m: Machine, items: Value, container: Value) -> bool:
    """Whether every item is in the container."""
    iterator = iterate(m, items)
    while (item := next_item(m, iterator)) is not None:
        if not contains(m, container, item).value:
            return False
    return True


def _sizes(m: Machine, a: Value, b: Value) -> tuple[int, int]:
    return tuple(m.need_constant(length(m, value), "FL207", "length known at run time only") for value in (a, b))


SET_COMPARISONS = {
    "__eq__": lambda m, a, b, x, y: x == y and all_in(m, a, b),
    "__ne__": lambda m, a, b, x, y: not (x == y and all_in(m, a, b)),
    "__lt__": lambda m, a, b, x, y: x < y and all_in(m, a, b),
    "__le__": lambda m, a, b, x, y: x <= y and all_in(m, a, b),
    "__gt__": lambda m, a, b, x, y: x > y and all_in(m, b, a),
    "__ge__": lambda m, a, b, x, y: x >= y and all_in(m, b, a),
}


def _set_operations(cls: type) -> None:
    for name in SET_COMPARISONS:
        _set_comparison(cls, name)

    @methods(cls, "__and__", storage=ViewBody)
    def intersection(m: Machine, self: Obj, other: Value, /) -> Value:
        return _intersection(m, self, other)

    @methods(cls, "__or__", storage=ViewBody)
    def union(m: Machine, self: Obj, other: Value, /) -> Value:
        return _changed(m, self, other, "update")

    @methods(cls, "__sub__", storage=ViewBody)
    def difference(m: Machine, self: Obj, other: Value, /) -> Value:
        made = make_set(m, self)
        discard_all(m, made, other)
        return made

    @methods(cls, "__xor__", storage=ViewBody)
    def symmetric_difference(m: Machine, self: Obj, other: Value, /) -> Value:
        return _changed(m, self, other, "symmetric_difference_update")

    @methods(cls, "__rand__", "__ror__", "__rsub__", "__rxor__")
    def reflected(m: Machine, self: Obj, other: Value, /) -> Value:
        raise GraphBreak("FL102", f"an operator of {other.cls.__name__} with {self.cls.__name__}")

    @methods(cls, "isdisjoint", storage=ViewBody)
    def is_disjoint(m: Machine, self: Obj, other: Value, /) -> Value:
        iterator = iterate(m, other)
        while (item := next_item(m, iterator)) is not None:
            if contains(m, self, item).value:
                return FALSE
        return TRUE


def _set_comparison(cls: type, name: str) -> None:
    @methods(cls, name, storage=ViewBody)
    def compared(m: Machine, self: Obj, other: Value, /) -> Value:
        if not is_set_like(other):
            return NOT_IMPLEMENTED
        return boolean(SET_COMPARISONS[name](m, self, other, *_sizes(m, self, other)))


def _changed(m: Machine, self: Obj, other: Value, name: str) -> Value:
    made = make_set(m, self)
    m.invoke(m.observe.constant(set.__dict__[name]), [made, other], {})
    return made


def _intersection(m: Machine, self: Obj, other: Value) -> Value:
    """The items of the longer that are in the shorter, as CPython goes about it."""
    if other.cls is set and self.cls is KEYS:
        self, other = other, self
    elif is_set_like(other) and not issubclass(other.cls, (set, frozenset)):
        ours, theirs = _sizes(m, self, other)
        if theirs > ours:
            self, other = other, self
    made = fresh_set(m)
    for item in unpack(m, other):
        if contains(m, self, item).value:
            m.invoke(m.observe.constant(set.__dict__["add"]), [made, item], {})
    return made


for _cls in (KEYS, ITEMS):
    _set_operations(_cls)
