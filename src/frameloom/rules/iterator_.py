"""Iterators of sequences, `iter`, `next`, `reversed`."""

from __future__ import annotations

from typing import Any, Callable

from frameloom.interpreter.iteration import PEEKS, adopt, find_position, iterate, result_of, resume
from frameloom.interpreter.frame import Link
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import _call_slot, equal, get_item, length
from frameloom.interpreter.registry import ITERATORS
from frameloom.rules.define import function, methods
from frameloom.rules.generator_ import stop
from frameloom.rules.words import words
from frameloom.symbolic.layouts import ahead, list_, tuple_
from frameloom.symbolic.layouts.ahead import Ahead
from frameloom.symbolic.layouts.generator import GeneratorBody
from frameloom.symbolic.layouts.iterator import (
    BYTES_ITERATOR,
    CALLABLE_ITERATOR,
    FOREIGN,
    LIST_ITERATOR,
    LONG_RANGE_ITERATOR,
    RANGE_ITERATOR,
    REVERSED_LIST,
    SEQUENCE_ITERATOR,
    STR_ASCII_ITERATOR,
    STR_ITERATOR,
    TUPLE_ITERATOR,
    LazyIterator,
    SequenceIterator,
    look_into,
    look_into_enumerate,
)
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, Const, Obj, Value

TAKES: dict[type, Callable] = {}
"""iterator class -> take(m, obj): the next item or None, without logging that a real iterator moved"""


OF_PARTS: set[type] = set()
"""Classes of iterators that have no state but that of the iterators inside, which move by themselves when a real one is advanced"""


def iterator_of(*classes: type) -> Callable:
    """Decorator: the function takes the next item of these iterators: take(m, obj) -> Value, or None at the end.

    It also gives the classes' `__next__` and `__iter__` their meaning.
    """

    def add(take: Callable) -> Callable:
        def taken(m: Machine, self: Obj) -> Value | None:
            if type(self.body) is Ahead:
                return take_ahead(m, self)
            return _taken_once(m, self, take) if type(self.body) is LazyIterator else take(m, self)

        def advance(m: Machine, self: Obj) -> Value | None:
            item = taken(m, self)
            if self.cls not in OF_PARTS:
                m.session.operation("iterator.advance", self, 1)
            return item

        for cls in classes:
            TAKES[cls] = taken
            ITERATORS[cls] = advance
            _protocol(cls, advance)
        return take

    return add


def _taken_once(m: Machine, self: Obj, take: Callable) -> Value | None:
    """The next item of an iterator that runs others meanwhile: code of the program that these run may come back to it."""
    advancing = m.session.advancing
    if self in advancing and self.cls is not CALLABLE_ITERATOR:
        raise GraphBreak("FL502", f"an iterator of class {self.cls.__name__} is advanced by what it runs itself")
    advancing.append(self)
    try:
        return take(m, self)
    finally:
        advancing.pop()


def take_ahead(m: Machine, self: Obj) -> Value | None:
    """The next item of a real iterator, wherever it stands, as long as the trace has not changed what it is about."""
    body: Ahead = self.body
    if ahead.is_changed(m.session, self, body.known):
        find_position(m, self)
        return TAKES[self.cls](m, self)
    m.journal.set_field(body, "known", len(m.session.written))
    return ahead.take(m.session, self)


def _protocol(cls: type, advance: Callable) -> None:
    @methods(cls, "__next__")
    def step(m: Machine, self: Value, /) -> Value:
        _require(m, self)
        item = advance(m, self)
        if item is None:
            raise stop(m, NONE)
        return m.observe.resolve(item)

    methods(cls, "__iter__")(itself)


def _require(m: Machine, self: Value) -> None:
    if type(self) is not Obj:
        raise GraphBreak("FL502", f"an iterator of class {self.cls.__name__}")
    if self.body is FOREIGN:
        adopt(m, self)


def itself(m: Machine, self: Value, /) -> Value:
    """`__iter__` of an iterator."""
    return self


# -- sequences -------------------------------------------------------------------------------------------------------


def _moved(m: Machine, body: SequenceIterator, item: Value) -> Value:
    m.journal.set_field(body, "index", body.index + 1)
    return item


def _ended(m: Machine, body: SequenceIterator) -> None:
    m.journal.set_field(body, "over", None)


@iterator_of(LIST_ITERATOR, TUPLE_ITERATOR)
def take_stored(m: Machine, self: Obj) -> Value | None:
    body = self.body
    over = body.over
    if over is None:
        return None
    part = list_ if isinstance(over.body, ListBody) else tuple_
    if body.index < part.length(m.session, over.body):
        return _moved(m, body, part.item(m.session, over.body, body.index))
    return _ended(m, body)


@iterator_of(RANGE_ITERATOR, LONG_RANGE_ITERATOR, STR_ITERATOR, STR_ASCII_ITERATOR, BYTES_ITERATOR)
def take_constant(m: Machine, self: Obj) -> Value | None:
    body = self.body
    if body.over is None:
        return None
    found = body.over.value
    if body.index < len_of(found):
        return _moved(m, body, Const(found[body.index]))
    return _ended(m, body)


def len_of(found: Any) -> int:
    """The length of a constant sequence; of a range also where `len` cannot tell it."""
    if type(found) is range:
        return max(0, (found.stop - found.start + found.step - (1 if found.step > 0 else -1)) // found.step)
    return len(found)


@iterator_of(SEQUENCE_ITERATOR)
def take_by_index(m: Machine, self: Obj) -> Value | None:
    """The old protocol: `__getitem__` with 0, 1, 2, ... until IndexError or StopIteration."""
    body = self.body
    if body.over is None:
        return None
    try:
        return _moved(m, body, get_item(m, body.over, Const(body.index)))
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, (IndexError, StopIteration)):
            raise
        return _ended(m, body)


@iterator_of(REVERSED_LIST, reversed)
def take_backwards(m: Machine, self: Obj) -> Value | None:
    body = self.body
    if body.over is None:
        return None
    if body.index >= 0 and (item := _item_before(m, body)) is not None:
        m.journal.set_field(body, "index", body.index - 1)
        return item
    m.journal.set_field(body, "index", -1)
    return _ended(m, body)


def _item_before(m: Machine, body: SequenceIterator) -> Value | None:
    over = body.over
    if type(over) is Obj and isinstance(over.body, ListBody):
        return list_.item(m.session, over.body, body.index) if body.index < list_.length(m.session, over.body) else None
    if type(over) is Obj and isinstance(over.body, TupleBody) and over.cls is tuple:
        return tuple_.item(m.session, over.body, body.index)
    try:
        return get_item(m, over, Const(body.index))
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, (IndexError, StopIteration)):
            raise
        return None


for _cls in (LIST_ITERATOR, TUPLE_ITERATOR, RANGE_ITERATOR, LONG_RANGE_ITERATOR, STR_ITERATOR, STR_ASCII_ITERATOR,
             BYTES_ITERATOR):
    PEEKS[_cls] = lambda m, obj: look_into(m.session, obj)
PEEKS[enumerate] = lambda m, obj: look_into_enumerate(m.session, obj)


@methods(range, "__iter__")
def iterate_range(m: Machine, self: Value, /) -> Value:
    return iterate(m, self)


def _length_hint(cls: type) -> None:
    @methods(cls, "__length_hint__")
    def hint(m: Machine, self: Value, /) -> Value:
        _require(m, self)
        if type(self.body) is Ahead:
            find_position(m, self)
        if self.body.over is None:
            return Const(0)
        return Const(max(0, length(m, self.body.over).value - self.body.index))


for _cls in (LIST_ITERATOR, TUPLE_ITERATOR, RANGE_ITERATOR, STR_ITERATOR, STR_ASCII_ITERATOR, BYTES_ITERATOR):
    _length_hint(_cls)


# -- iter, next, reversed --------------------------------------------------------------------------------------------


@function(iter)
def make(m: Machine, value: Value, sentinel: Value | None = None, /) -> Value:
    if sentinel is None:
        return iterate(m, value)
    if not _is_callable(m, value):
        raise m.error(TypeError, NOT_CALLABLE)
    return m.session.alloc(CALLABLE_ITERATOR, LazyIterator(value, [], None, sentinel))


NOT_CALLABLE = words(iter, 5, 1)


def _is_callable(m: Machine, value: Value) -> bool:
    return m.observe.type_lookup(value.cls, "__call__") is not ABSENT


@iterator_of(CALLABLE_ITERATOR)
def take_called(m: Machine, self: Obj) -> Value | None:
    """iter(function, sentinel): a StopIteration of the function ends it too."""
    body = self.body
    if body.function is None:
        return None
    try:
        item = m.invoke(body.function, [], {})
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, StopIteration):
            raise
        m.journal.set_field(body, "function", None)
        return None
    if body.function is None:  # the call itself has used the iterator up
        return None
    if equal(m, body.extra, item):
        m.journal.set_field(body, "function", None)
        return None
    return item


@function(next)
def take_next(m: Machine, iterator: Value, default: Value | None = None, /) -> Value:
    if iterator.cls not in ITERATORS:
        return next_of_class(m, iterator, default)
    try:
        item = advance(m, iterator)
    except SymbolicRaise as signal:
        if default is None or not issubclass(signal.value.cls, StopIteration):
            raise
        item = None
    if item is not None:
        return item
    if default is not None:
        return default
    raise stop(m, NONE)


def advance(m: Machine, iterator: Value) -> Value | None:
    """One step of an iterator whose class is known; a generator that returns raises its StopIteration."""
    _require(m, iterator)
    if isinstance(iterator.body, GeneratorBody) and iterator.body.state != "closed":
        item = resume(m, iterator, NONE)
        if item is None:
            raise stop(m, result_of(iterator))
        return item
    item = ITERATORS[iterator.cls](m, iterator)
    return item and m.observe.resolve(item)


def next_of_class(m: Machine, iterator: Value, default: Value | None, link: Link | None = None) -> Value:
    """`__next__` of a class: its StopIteration comes out as it is."""
    slot = m.observe.type_lookup(iterator.cls, "__next__")
    if slot is ABSENT:
        raise m.error(TypeError, f"'{type_name(iterator.cls)}' object is not an iterator")
    try:
        return _call_slot(m, slot, iterator, [], link)
    except SymbolicRaise as signal:
        if default is None or not issubclass(signal.value.cls, StopIteration):
            raise
        return default


@function(reversed)
def make_reversed(m: Machine, value: Value, /) -> Value:
    slot = m.observe.type_lookup(value.cls, "__reversed__")
    if slot is not ABSENT:
        if type(slot) is Const and slot.value is None:
            raise m.error(TypeError, f"'{type_name(value.cls)}' object is not reversible")
        if type(value) is Const and value.cls is range:
            return _reversed_range(m, value)
        return _call_slot(m, slot, value, [])
    if m.observe.type_lookup(value.cls, "__getitem__") is ABSENT or issubclass(value.cls, dict):
        raise m.error(TypeError, f"'{type_name(value.cls)}' object is not reversible")
    count = m.need_constant(length(m, value), "FL207", "length known at run time only")
    return m.session.alloc(reversed, SequenceIterator(value, count - 1))


@methods(range, "__reversed__")
def _reversed_range(m: Machine, self: Value, /) -> Value:
    return iterate(m, Const(self.value[::-1]))
