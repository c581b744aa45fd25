"""collections.deque."""

from __future__ import annotations

from collections import deque
from typing import Any

from frameloom.interpreter.attributes import reads
from frameloom.interpreter.calls import fresh_instance
from frameloom.interpreter.formatting import concatenate
from frameloom.interpreter.iteration import iterate, next_item
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import COMPARE, equal
from frameloom.rules.define import function, methods
from frameloom.rules.indexing import clamp, has_index, repetitions, size_of
from frameloom.rules.iterator_ import iterator_of
from frameloom.rules.list_ import compare_sequences
from frameloom.rules.representation import listed, once, shown
from frameloom.symbolic.layouts import deque_
from frameloom.symbolic.layouts.deque_ import DEQUE_ITERATOR, DEQUE_REVERSED, DequeBody, DequeIterator
from frameloom.symbolic.real import is_subtype, type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, NOT_IMPLEMENTED, Const, Obj, Value, boolean


def method(*names: str) -> Any:
    return methods(deque, *names, storage=DequeBody)


def is_deque(value: Value) -> bool:
    return type(value) is Obj and isinstance(value.body, DequeBody)


def items_of(m: Machine, self: Obj) -> list[Value]:
    return list(deque_.materialise(m.session, self.body))


# -- making ----------------------------------------------------------------------------------------------------------


def fresh(m: Machine, cls: type, maxlen: int | None) -> Obj:
    return m.session.alloc(deque, DequeBody([], maxlen)) if cls is deque else fresh_instance(m, cls, DequeBody([], maxlen))


@function(deque)
def make(m: Machine, iterable: Value | None = None, maxlen: Value = NONE) -> Value:
    made = fresh(m, deque, None)
    init(m, made, iterable, maxlen)
    return made


@function(deque.__dict__["__new__"])
def new(m: Machine, cls: Value, /, *args: Value, **kwargs: Value) -> Value:
    return fresh(m, m.observe.known_class(cls), None)


@method("__init__")
def init(m: Machine, self: Obj, iterable: Value | None = None, maxlen: Value = NONE) -> Value:
    if self.real is not None:
        raise GraphBreak("FL102", "a deque that exists already is initialised again")
    m.journal.set_field(self.body, "maxlen", _greatest(m, maxlen))
    deque_.replace(m.session, self.body, [])
    if iterable is not None:
        extend(m, self, iterable)
    return NONE


def _greatest(m: Machine, maxlen: Value) -> int | None:
    if type(maxlen) is Const and maxlen.value is None:
        return None
    if not issubclass(maxlen.cls, int):
        raise m.error(TypeError, "an integer is required")
    found = size_of(m, maxlen)
    if found < 0:
        raise m.error(ValueError, "maxlen must be non-negative")
    return found


@method("copy", "__copy__")
def copy(m: Machine, self: Obj, /) -> Value:
    items = items_of(m, self)
    if self.cls is not deque:
        arguments = [self] if self.body.maxlen is None else [self, Const(self.body.maxlen)]
        copied = m.invoke(m.observe.constant(self.cls), arguments, {})
        if not is_subtype(copied.cls, deque):
            raise m.error(TypeError, f"{self.cls.__name__}() must return a deque, not {copied.cls.__name__}")
        return copied
    made = fresh(m, deque, self.body.maxlen)
    made.body.items = items
    return made


@reads(deque_.MAXLEN)
def maxlen(m: Machine, self: Obj) -> Value:
    deque_.materialise(m.session, self.body)
    return Const(self.body.maxlen)


# -- changing --------------------------------------------------------------------------------------------------------


def become(m: Machine, self: Obj, items: list[Value], name: str, *arguments: Value) -> Value:
    """Make these the items, as the method `name` of a real deque will."""
    deque_.replace(m.session, self.body, items)
    m.session.operation("deque.call", self, name, list(arguments))
    return NONE


@method("append")
def append(m: Machine, self: Obj, value: Value, /) -> Value:
    return _put(m, self, value, "append")


@method("appendleft")
def append_left(m: Machine, self: Obj, value: Value, /) -> Value:
    return _put(m, self, value, "appendleft")


def _put(m: Machine, self: Obj, value: Value, name: str) -> Value:
    deque_.put(m.session, self.body, value, name == "appendleft")
    m.session.operation("deque.call", self, name, [value])
    return NONE


def _each(m: Machine, self: Obj, iterable: Value, put: Any) -> Value:
    if iterable is self:
        iterable = m.list(items_of(m, self))
    iterator = iterate(m, iterable)
    while (item := next_item(m, iterator)) is not None:
        put(m, self, item)
    return NONE


@method("extend")
def extend(m: Machine, self: Obj, iterable: Value, /) -> Value:
    return _each(m, self, iterable, append)


@method("extendleft")
def extend_left(m: Machine, self: Obj, iterable: Value, /) -> Value:
    return _each(m, self, iterable, append_left)


@method("pop")
def pop(m: Machine, self: Obj, /) -> Value:
    return _take(m, self, "pop")


@method("popleft")
def pop_left(m: Machine, self: Obj, /) -> Value:
    return _take(m, self, "popleft")


def _take(m: Machine, self: Obj, name: str) -> Value:
    if not deque_.length(m.session, self.body):
        raise m.error(IndexError, "pop from an empty deque")
    value = deque_.take(m.session, self.body, name == "popleft")
    m.session.operation("deque.call", self, name, [])
    return value


@method("clear")
def clear(m: Machine, self: Obj, /) -> Value:
    return become(m, self, [], "clear")


@method("reverse")
def reverse(m: Machine, self: Obj, /) -> Value:
    return become(m, self, items_of(m, self)[::-1], "reverse")


@method("rotate")
def rotate(m: Machine, self: Obj, n: Value = Const(1), /) -> Value:
    steps = size_of(m, n)
    items = items_of(m, self)
    if items:
        at = -steps % len(items)
        items = items[at:] + items[:at]
    return become(m, self, items, "rotate", Const(steps))


@method("insert")
def insert(m: Machine, self: Obj, index: Value, value: Value, /) -> Value:
    items = items_of(m, self)
    if len(items) == self.body.maxlen:
        raise m.error(IndexError, "deque already at its maximum size")
    at = size_of(m, index)
    items.insert(at, value)
    return become(m, self, items, "insert", Const(at), value)


@method("remove")
def remove(m: Machine, self: Obj, value: Value, /) -> Value:
    changes = self.body.changes
    for at in range(deque_.length(m.session, self.body)):
        found = equal(m, deque_.item(m.session, self.body, at), value)
        if self.body.changes != changes:
            raise m.error(IndexError, "deque mutated during remove().")
        if found:
            items = items_of(m, self)
            del items[at]
            return become(m, self, items, "__delitem__", Const(at))
    raise GraphBreak("FL102", "deque.remove of a value that is not there")


# -- looking ---------------------------------------------------------------------------------------------------------


@method("__len__")
def length(m: Machine, self: Obj, /) -> Value:
    return Const(deque_.length(m.session, self.body))


def _position(m: Machine, self: Obj, key: Value) -> int:
    if not has_index(m, key):
        raise m.error(TypeError, f"sequence index must be integer, not '{type_name(key.cls)}'")
    count = deque_.length(m.session, self.body)
    at = size_of(m, key)
    at += count if at < 0 else 0
    if not 0 <= at < count:
        raise m.error(IndexError, "deque index out of range")
    return at


@method("__getitem__")
def get_item(m: Machine, self: Obj, key: Value, /) -> Value:
    return deque_.item(m.session, self.body, _position(m, self, key))


@method("__setitem__")
def set_item(m: Machine, self: Obj, key: Value, value: Value, /) -> Value:
    at = _position(m, self, key)
    m.journal.set_index(deque_.materialise(m.session, self.body), at, value)
    m.session.operation("deque.call", self, "__setitem__", [Const(at), value])
    return NONE


@method("__delitem__")
def delete_item(m: Machine, self: Obj, key: Value, /) -> Value:
    at = _position(m, self, key)
    items = items_of(m, self)
    del items[at]
    return become(m, self, items, "__delitem__", Const(at))


def _matches(m: Machine, self: Obj, value: Value, start: int = 0, stop: int | None = None) -> Any:
    changes = self.body.changes
    for at in range(start, deque_.length(m.session, self.body) if stop is None else stop):
        found = equal(m, deque_.item(m.session, self.body, at), value)
        if self.body.changes != changes:
            raise m.error(RuntimeError, "deque mutated during iteration")
        if found:
            yield at


@method("__contains__")
def contains(m: Machine, self: Obj, value: Value, /) -> Value:
    return boolean(any(True for _ in _matches(m, self, value)))


@method("count")
def count(m: Machine, self: Obj, value: Value, /) -> Value:
    return Const(sum(1 for _ in _matches(m, self, value)))


@method("index")
def index(m: Machine, self: Obj, value: Value, start: Value | None = None, stop: Value | None = None, /) -> Value:
    many = deque_.length(m.session, self.body)
    for at in _matches(m, self, value, clamp(m, start, many, 0), clamp(m, stop, many, many)):
        return Const(at)
    text = m.need_constant(shown(m, value), "FL205", "text known at run time only")
    raise m.error(ValueError, f"{text} is not in deque")


# -- iteration -------------------------------------------------------------------------------------------------------


@method("__iter__")
def iterator(m: Machine, self: Obj, /) -> Value:
    return m.session.alloc_bound(DEQUE_ITERATOR, DequeIterator(self, deque_.length(m.session, self.body), self.body.changes))


@method("__reversed__")
def backwards(m: Machine, self: Obj, /) -> Value:
    return m.session.alloc_bound(DEQUE_REVERSED, DequeIterator(self, deque_.length(m.session, self.body), self.body.changes))


@iterator_of(DEQUE_ITERATOR, DEQUE_REVERSED)
def take(m: Machine, self: Obj) -> Value | None:
    body: DequeIterator = self.body
    stored: DequeBody = body.over.body
    backwards = self.cls is DEQUE_REVERSED
    if backwards and body.index == body.size:  # one from the right does not look at its deque again, once it is over
        return None
    if stored.changes != body.changes:
        m.journal.set_field(body, "index", body.size)
        raise m.error(RuntimeError, "deque mutated during iteration")
    if body.index == body.size:
        return None
    at = body.index
    m.journal.set_field(body, "index", at + 1)
    return deque_.item(m.session, stored, -1 - at if backwards else at)


# -- operators -------------------------------------------------------------------------------------------------------


@method("__add__")
def add(m: Machine, self: Obj, other: Value, /) -> Value:
    if not is_deque(other):
        raise m.error(TypeError, f'can only concatenate deque (not "{type_name(other.cls)}") to deque')
    made = copy(m, self)
    extend(m, made, other)
    return made


@method("__iadd__")
def inplace_add(m: Machine, self: Obj, other: Value, /) -> Value:
    extend(m, self, other)
    return self


@method("__mul__", "__rmul__")
def multiply(m: Machine, self: Obj, times: Value, /) -> Value:
    made = copy(m, self)
    return inplace_multiply(m, made, times)


@method("__imul__")
def inplace_multiply(m: Machine, self: Obj, times: Value, /) -> Value:
    items = items_of(m, self)
    items = items * repetitions(m, len(items), times)
    most = self.body.maxlen
    items = items if most is None else items[max(0, len(items) - most) :]
    deque_.replace(m.session, self.body, items)
    m.session.operation("deque.replace", self, items)
    return self


def _comparison(symbol: str) -> None:
    @method(COMPARE[symbol][1])
    def compared(m: Machine, self: Obj, other: Value, /) -> Value:
        return compare_sequences(m, symbol, self, other, deque_) if is_deque(other) else NOT_IMPLEMENTED


for _symbol in COMPARE:
    _comparison(_symbol)


@method("__repr__")
def represented(m: Machine, self: Obj, /) -> Value:
    return once(m, self, "[...]", lambda: _shown(m, self))


def _shown(m: Machine, self: Obj) -> Value:
    count = deque_.length(m.session, self.body)
    inside = listed(m, "[", [[shown(m, deque_.item(m.session, self.body, at))] for at in range(count)], "]")
    most = self.body.maxlen
    end = ")" if most is None else f", maxlen={most})"
    return concatenate(m, [Const(f"{self.cls.__name__}("), inside, Const(end)])
