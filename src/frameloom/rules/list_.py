"""Lists: the methods of `list` on storage that is known in part (DESIGN, section 3, "Partly known containers")."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.calls import class_made_by, fresh_instance
from frameloom.interpreter.iteration import QUICK, iterate, next_item
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import COMPARE, NONEMPTY, binary, compare, equal
from frameloom.rules.define import function, methods
from frameloom.rules.indexing import clamp, has_index, is_a, is_slice, position, repetitions, size_of, slice_of
from frameloom.rules.words import words
from frameloom.symbolic.layouts import list_
from frameloom.symbolic.layouts.iterator import LIST_ITERATOR, REVERSED_LIST, SequenceIterator
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.values import ABSENT, NONE, NOT_IMPLEMENTED, Const, Obj, Value, boolean


def method(*names: str) -> Any:
    return methods(list, *names, storage=ListBody)


def quiet_items(m: Machine, self: Obj) -> list[Value]:
    """The items for use in another container: those not looked at stay so."""
    return list(list_.materialise(m.session, self.body))


# -- making ----------------------------------------------------------------------------------------------------------


@function(list)
def make(m: Machine, iterable: Value | None = None, /) -> Value:
    made = m.list([])
    if iterable is not None:
        extend(m, made, iterable)
    return made


@function(list.__dict__["__new__"])
def new(m: Machine, cls: Value, /, *args: Value, **kwargs: Value) -> Value:
    known = class_made_by(m, list, cls)
    return fresh_instance(m, known, ListBody([])) if known is not list else m.list([])


@method("__init__")
def init(m: Machine, self: Obj, iterable: Value | None = None, /) -> Value:
    if self.real is not None or self.body.items:
        clear(m, self)
    if iterable is not None:
        extend(m, self, iterable)
    return NONE


@method("copy")
def copy(m: Machine, self: Obj, /) -> Value:
    return m.list(quiet_items(m, self))


# -- growing ---------------------------------------------------------------------------------------------------------


@method("append")
def append(m: Machine, self: Obj, value: Value, /) -> Value:
    list_.append(m.session, self.body, value)
    m.session.operation("list.append", self, value)
    return NONE


@method("extend")
def extend(m: Machine, self: Obj, iterable: Value, /) -> Value:
    """Items of a list or tuple are added at once; those of anything else one by one, as they come."""
    if type(iterable) is Obj and iterable.cls in QUICK:
        _extend(m, self, _stored(m, iterable))
        return NONE
    iterator = iterate(m, iterable)
    _length_hint(m, iterable)
    while (item := next_item(m, iterator)) is not None:
        append(m, self, item)
    return NONE


def _stored(m: Machine, sequence: Obj) -> list[Value]:
    if isinstance(sequence.body, ListBody):
        return quiet_items(m, sequence)
    return list(sequence.body.items)


def _extend(m: Machine, self: Obj, values: list[Value]) -> None:
    for value in values:
        list_.append(m.session, self.body, value)
    if values:
        m.session.operation("list.extend", self, values)


def _length_hint(m: Machine, iterable: Value) -> None:
    """CPython asks `len` or `__length_hint__` of an iterable; asked of a user's class it is a call that can be seen."""
    from frameloom.rules.hints import ask

    ask(m, iterable)


@method("insert")
def insert(m: Machine, self: Obj, index: Value, value: Value, /) -> Value:
    wanted = size_of(m, index)
    items = list_.materialise(m.session, self.body)
    at = max(0, wanted + len(items)) if wanted < 0 else min(wanted, len(items))
    items.insert(at, value)
    m.journal.record(items.__delitem__, at)
    m.session.operation("list.insert", self, at, value)
    return NONE


# -- shrinking -------------------------------------------------------------------------------------------------------


def remove_at(m: Machine, self: Obj, at: int) -> Value:
    """Take the item at a position out and give it."""
    value = list_.item(m.session, self.body, at)
    items = list_.materialise(m.session, self.body)
    del items[at]
    m.journal.record(items.insert, at, value)
    m.session.operation("list.delete", self, at)
    return value


@method("pop")
def pop(m: Machine, self: Obj, index: Value = Const(-1), /) -> Value:
    wanted = size_of(m, index)
    count = list_.length(m.session, self.body)
    if not count:
        raise m.error(IndexError, "pop from empty list")
    at = wanted + count if wanted < 0 else wanted
    if not 0 <= at < count:
        raise m.error(IndexError, "pop index out of range")
    return remove_at(m, self, at)


@method("remove")
def remove(m: Machine, self: Obj, value: Value, /) -> Value:
    at = _find(m, self, value, 0, None)
    if at is None:
        raise m.error(ValueError, "list.remove(x): x not in list")
    remove_at(m, self, at)
    return NONE


@method("clear")
def clear(m: Machine, self: Obj, /) -> Value:
    body = self.body
    m.journal.record(_restore, body, body.items, body.tail)
    m.session.will_bind()  # an iterator may stand behind the end now
    body.items, body.tail = [], []
    m.session.operation("list.clear", self)
    return NONE


def _restore(body: ListBody, items: Any, tail: list) -> None:
    body.items, body.tail = items, tail


def store_all(m: Machine, self: Obj, new_items: list[Value]) -> None:
    """Make these the whole list."""
    list_.replace(m.session, self.body, new_items)
    if self.real is not None:
        m.session.operation("list.replace", self, list(new_items))


# -- looking ---------------------------------------------------------------------------------------------------------


@method("__len__")
def length(m: Machine, self: Obj, /) -> Value:
    varying = list_.varying_length(m.session, self.body)
    if varying is None:
        return Const(list_.length(m.session, self.body))
    return binary(m, "+", varying, Const(len(self.body.tail))) if self.body.tail else varying


NONEMPTY[list.__len__] = lambda m, self: list_.is_nonempty(m.session, self.body)


def _find(m: Machine, self: Obj, value: Value, start: int, stop: int | None) -> int | None:
    """The first position of an item equal to `value`; the list may change while items are compared."""
    at = start
    while at < list_.length(m.session, self.body) and (stop is None or at < stop):
        if equal(m, list_.item(m.session, self.body, at), value):
            return at
        at += 1
    return None


@method("index")
def index(m: Machine, self: Obj, value: Value, start: Value | None = None, stop: Value | None = None, /) -> Value:
    count = list_.length(m.session, self.body)
    at = _find(m, self, value, clamp(m, start, count, 0), None if stop is None else clamp(m, stop, count, count))
    if at is None:
        raise m.error(ValueError, _not_there(m, value))
    return Const(at)


def _not_there(m: Machine, value: Value) -> str:
    """The message of a failed `list.index`, in the words of the running CPython."""
    if "x not in list" in _WORDS:
        return "list.index(x): x not in list"
    from frameloom.interpreter.formatting import convert

    text = m.need_constant(convert(m, "repr", value), "FL205", "text known at run time only")
    return f"{text} is not in list"


_WORDS = words([].index, "probe")


@method("count")
def count(m: Machine, self: Obj, value: Value, /) -> Value:
    found = at = 0
    while at < list_.length(m.session, self.body):
        found += equal(m, list_.item(m.session, self.body, at), value)
        at += 1
    return Const(found)


@method("__contains__")
def contains(m: Machine, self: Obj, value: Value, /) -> Value:
    return boolean(_find(m, self, value, 0, None) is not None)


@method("__iter__")
def iterator(m: Machine, self: Obj, /) -> Value:
    return m.session.alloc(LIST_ITERATOR, SequenceIterator(self, 0))


@method("__reversed__")
def backwards(m: Machine, self: Obj, /) -> Value:
    return m.session.alloc_bound(REVERSED_LIST, SequenceIterator(self, list_.length(m.session, self.body) - 1))


# -- subscripts ------------------------------------------------------------------------------------------------------


@method("__getitem__")
def get_item(m: Machine, self: Obj, key: Value, /) -> Value:
    if is_slice(key):
        bounds = slice_of(m, key)
        return m.list(quiet_items(m, self)[bounds])
    if self.body.items is None and type(key) is Const and type(key.value) is int:
        found = list_.early(m.session, self.body, key.value)
        if found is not None:
            return found
    return list_.item(m.session, self.body, position(m, key, list_.length(m.session, self.body), "list"))


@method("__setitem__")
def set_item(m: Machine, self: Obj, key: Value, value: Value, /) -> Value:
    if is_slice(key):
        _set_slice(m, self, slice_of(m, key), value)
        return NONE
    if not has_index(m, key):
        raise m.error(TypeError, f"list indices must be integers or slices, not {type_name(key.cls)}")
    count = list_.length(m.session, self.body)
    at = size_of(m, key)
    at += count if at < 0 else 0
    if not 0 <= at < count:
        raise m.error(IndexError, "list assignment index out of range")
    m.journal.set_index(list_.materialise(m.session, self.body), at, value)
    m.session.operation("list.set", self, at, value)
    return NONE


def _set_slice(m: Machine, self: Obj, bounds: slice, value: Value) -> None:
    if not (type(value) is Obj and value.cls in QUICK):
        value = _sequence_of(m, value, bounds)
    new_items = _stored(m, value)
    items = quiet_items(m, self)
    positions = range(*bounds.indices(len(items)))
    if bounds.step not in (None, 1) and len(positions) != len(new_items):
        text = f"attempt to assign sequence of size {len(new_items)} to extended slice of size {len(positions)}"
        raise m.error(ValueError, text)
    items[bounds] = new_items
    store_all(m, self, items)


def _sequence_of(m: Machine, value: Value, bounds: slice) -> Obj:
    """The list of items of an iterable that is assigned to a slice."""
    if m.observe.type_lookup(value.cls, "__iter__") is ABSENT and m.observe.type_lookup(value.cls, "__getitem__") is ABSENT:
        raise m.error(TypeError, _NO_ITERABLE[bounds.step in (None, 1)])
    return make(m, value)


_NO_ITERABLE = {
    True: words([].__setitem__, slice(0, 1), 5),
    False: words([].__setitem__, slice(0, 1, 2), 5),
}
"""whether a slice has no step -> what CPython says of a value that is no iterable"""


@method("__delitem__")
def delete_item(m: Machine, self: Obj, key: Value, /) -> Value:
    if is_slice(key):
        items = quiet_items(m, self)
        del items[slice_of(m, key)]
        store_all(m, self, items)
        return NONE
    if not has_index(m, key):
        raise m.error(TypeError, f"list indices must be integers or slices, not {type_name(key.cls)}")
    count = list_.length(m.session, self.body)
    at = size_of(m, key)
    at += count if at < 0 else 0
    if not 0 <= at < count:
        raise m.error(IndexError, "list assignment index out of range")
    remove_at(m, self, at)
    return NONE


# -- operators -------------------------------------------------------------------------------------------------------


@method("__add__")
def add(m: Machine, self: Obj, other: Value, /) -> Value:
    if not is_a(other, list):
        raise m.error(TypeError, f'can only concatenate list (not "{type_name(other.cls)}") to list')
    return m.list(quiet_items(m, self) + quiet_items(m, other))


@method("__iadd__")
def inplace_add(m: Machine, self: Obj, other: Value, /) -> Value:
    extend(m, self, other)
    return self


@method("__mul__", "__rmul__")
def multiply(m: Machine, self: Obj, times: Value, /) -> Value:
    items = quiet_items(m, self)
    return m.list(items * repetitions(m, len(items), times))


@method("__imul__")
def inplace_multiply(m: Machine, self: Obj, times: Value, /) -> Value:
    items = quiet_items(m, self)
    store_all(m, self, items * repetitions(m, len(items), times))
    return self


@method("reverse")
def reverse(m: Machine, self: Obj, /) -> Value:
    items = list_.materialise(m.session, self.body)
    items.reverse()
    m.journal.record(items.reverse)
    m.session.operation("list.reverse", self)
    return NONE


# -- comparison ------------------------------------------------------------------------------------------------------


def compare_sequences(m: Machine, symbol: str, a: Obj, b: Obj, part: Any) -> Value:
    """Comparison of two sequences of one kind: the first items that differ decide, else the lengths.

    `part` is the layout module of their storage.
    """
    session = m.session
    if symbol in ("==", "!=") and part.length(session, a.body) != part.length(session, b.body):
        return boolean(symbol == "!=")
    at = 0
    while at < part.length(session, a.body) and at < part.length(session, b.body):
        x, y = part.item(session, a.body, at), part.item(session, b.body, at)
        if not equal(m, x, y):
            break
        at += 1
    if at < part.length(session, a.body) and at < part.length(session, b.body):  # a user's `__eq__` may have changed them
        if symbol in ("==", "!="):
            return boolean(symbol == "!=")
        return compare(m, symbol, part.item(session, a.body, at), part.item(session, b.body, at))
    return m.fold(COMPARE[symbol][0], part.length(session, a.body), part.length(session, b.body))


def _comparison(symbol: str) -> None:
    @method(COMPARE[symbol][1])
    def compared(m: Machine, self: Obj, other: Value, /) -> Value:
        if not (type(other) is Obj and isinstance(other.body, ListBody)):
            return NOT_IMPLEMENTED
        return compare_sequences(m, symbol, self, other, list_)


for _symbol in COMPARE:
    _comparison(_symbol)

