"""Sets and frozensets.  Which members there are is known key by key; their order is that of a host set of handles that went
through the same operations."""

from __future__ import annotations

from itertools import chain
from typing import Any

from frameloom.interpreter.calls import class_made_by, fresh_instance
from frameloom.interpreter.iteration import PEEKS, iterate, next_item
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import equal
from frameloom.interpreter.stores import Hashed, key_handle, log_member, set_add, stored_handle
from frameloom.rules.define import function, methods
from frameloom.rules.iterator_ import iterator_of
from frameloom.symbolic.keys import all_answers
from frameloom.symbolic.layouts import dict_, set_
from frameloom.symbolic.layouts.iterator import NEVER, SET_ITERATOR, ItemsIterator, has_changed, look_into_walk
from frameloom.symbolic.layouts.set_ import SetBody
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import NONE, NOT_IMPLEMENTED, Const, Obj, Value, boolean

EITHER = (set, frozenset)


def both(*names: str) -> Any:
    """Decorator: the rule serves a method that set and frozenset have."""

    def add(made: Any) -> Any:
        for cls in EITHER:
            methods(cls, *names, storage=SetBody)(made)
        return made

    return add


def method(*names: str) -> Any:
    return methods(set, *names, storage=SetBody)


def is_set(value: Value) -> bool:
    return type(value) is Obj and isinstance(value.body, SetBody)


# -- making ----------------------------------------------------------------------------------------------------------


def fresh_set(m: Machine, cls: type = set) -> Obj:
    """A new empty set of a class that has the storage of one."""
    return m.set(cls) if cls in EITHER else fresh_instance(m, cls, SetBody())


@function(set)
def make(m: Machine, iterable: Value | None = None, /) -> Obj:
    made = m.set()
    if iterable is not None:
        absorb(m, made, iterable)
    return made


@function(frozenset)
def make_frozen(m: Machine, iterable: Value | None = None, /) -> Value:
    if iterable is not None and iterable.cls is frozenset:
        return iterable
    made = m.set(frozenset)
    if iterable is not None:
        absorb(m, made, iterable)
    return made


@function(set.__dict__["__new__"])
def new(m: Machine, cls: Value, /, *args: Value, **kwargs: Value) -> Value:
    return fresh_set(m, class_made_by(m, set, cls))


@function(frozenset.__dict__["__new__"])
def new_frozen(m: Machine, cls: Value, iterable: Value | None = None, /) -> Value:
    known = class_made_by(m, frozenset, cls)
    if known is frozenset:
        return make_frozen(m, *(() if iterable is None else (iterable,)))
    made = fresh_set(m, known)
    if iterable is not None:
        absorb(m, made, iterable)
    return made


@method("__init__")
def init(m: Machine, self: Obj, iterable: Value | None = None, /) -> Value:
    if self.real is not None or self.body.known:
        clear(m, self)
    if iterable is not None:
        absorb(m, self, iterable)
    return NONE


@both("copy")
def copy(m: Machine, self: Obj, /) -> Value:
    return self if self.cls is frozenset else _copied(m, self)


# -- single members --------------------------------------------------------------------------------------------------


@method("add")
def add(m: Machine, self: Obj, value: Value, /) -> Value:
    set_add(m, self, value)
    return NONE


def searched(m: Machine, self: Obj, value: Value) -> Any:
    """The handle of what is looked for: a set that has no hash, and is looked for in a set, counts as a frozenset."""
    try:
        return key_handle(m, self, value), value
    except SymbolicRaise as signal:
        if not (is_set(value) and issubclass(signal.value.cls, TypeError)):
            raise
    as_key = m.set(frozenset)
    absorb(m, as_key, value)
    return key_handle(m, self, as_key), as_key


@method("discard")
def discard(m: Machine, self: Obj, value: Value, /) -> Value:
    handle, key = searched(m, self, value)
    log_member(m, self, "set.discard", handle, key)
    set_.discard(m.session, self.body, handle)
    return NONE


@method("remove")
def remove(m: Machine, self: Obj, value: Value, /) -> Value:
    handle, key = searched(m, self, value)
    if not set_.contains(m.session, self.body, handle, key):
        raise m.error_of(KeyError, value)
    log_member(m, self, "set.discard", handle, key)
    set_.discard(m.session, self.body, handle)
    return NONE


@method("pop")
def pop(m: Machine, self: Obj, /) -> Value:
    order = set_.order(m.session, self.body)
    if not order:
        raise m.error(KeyError, "pop from an empty set")
    if len(order) > 1 and self.body.history[0][0] == "given":
        raise GraphBreak("FL501", "a member is taken at will from a set that existed before")
    host = set_.rebuilt(self.body.history) if len(order) > 1 else set(order)
    handle = host.pop()
    value = self.body.known[handle]
    known = {other: kept for other, kept in self.body.known.items() if other is not handle}
    log_member(m, self, "set.discard", handle, value)
    set_.become(m.session, self.body, known, "popped")
    return value


@method("clear")
def clear(m: Machine, self: Obj, /) -> Value:
    if self.body.full:
        set_.become(m.session, self.body, {}, "cleared")
    else:
        body = self.body
        m.journal.record(_restore, body, body.known)
        body.known, body.full = {}, True
        set_.count_removal(m.session, body)
    m.session.operation("set.clear", self)
    return NONE


def _restore(body: SetBody, known: dict) -> None:
    body.known, body.full = known, False
    body.built, body.steps = None, 0


@both("__contains__")
def contains(m: Machine, self: Obj, value: Value, /) -> Value:
    handle, key = searched(m, self, value)
    return boolean(set_.contains(m.session, self.body, handle, key))


@both("__len__")
def length(m: Machine, self: Obj, /) -> Value:
    return Const(set_.length(m.session, self.body))


# -- iteration -------------------------------------------------------------------------------------------------------


@both("__iter__")
def iterator(m: Machine, self: Obj, /) -> Value:
    order = set_.order(m.session, self.body)
    return m.session.alloc_bound(SET_ITERATOR, ItemsIterator(order, self, self.body.removals))


@iterator_of(SET_ITERATOR)
def take_member(m: Machine, self: Obj) -> Value | None:
    body: ItemsIterator = self.body
    if body.container is None:
        return None
    stored: SetBody = body.container.body
    if self.real is not None and has_changed(body):
        raise GraphBreak("FL502", "a container has changed under an iterator that exists already")
    if len(stored.known) != body.size:
        m.journal.set_field(body, "size", NEVER)
        raise m.error(RuntimeError, "Set changed size during iteration")
    if stored.removals != body.removals:
        raise GraphBreak("FL102", "a set whose members are replaced while it is iterated")
    if body.index == body.size:
        m.journal.set_field(body, "container", None)
        return None
    m.journal.set_field(body, "index", body.index + 1)
    return stored.known[body.handles[body.index - 1]]


PEEKS[SET_ITERATOR] = lambda m, obj: look_into_walk(m.session, obj, lambda session, container: set_.order(session, container.body))


# -- operands --------------------------------------------------------------------------------------------------------


class Operand:
    """What a set operation takes: members by their handle in the receiver, how a host operation gets them, and the set or
    dictionary itself (None for another iterable, which is used up)."""

    __slots__ = ("members", "host", "source")

    def __init__(self, members: dict, host: tuple, source: Obj | None = None) -> None:
        self.members = members
        self.host = host
        self.source = source


def operand(m: Machine, receiver: Obj, other: Value) -> Operand:
    """The members of any iterable, hashed; a TypeError where one cannot be."""
    if is_set(other):
        set_.materialise(m.session, other.body)
        return _stored(m, receiver, other, other.body.known, (set_.rebuilt, tuple(other.body.history)))
    if type(other) is Obj and other.cls is dict:
        handles = dict_.handles(m.session, other.body)
        keys = {handle: other.body.known[handle][0] for handle in handles}
        return _stored(m, receiver, other, keys, (dict.fromkeys, tuple(handles)))
    members: dict = {}
    order = []
    iterator = iterate(m, other)
    while (item := next_item(m, iterator)) is not None:
        handle = key_handle(m, receiver, item)
        if isinstance(handle, Hashed) and handle not in receiver.body.known:
            handle = _known_already(m, members, handle)
        members.setdefault(handle, item)
        order.append(handle)
    return Operand(members, (tuple, tuple(order)))


def _known_already(m: Machine, members: dict, handle: Hashed) -> Any:
    for other in members:
        if isinstance(other, Hashed) and other.hash == handle.hash and equal(m, other.value, handle.value):
            return other
    return handle


def _stored(m: Machine, receiver: Obj, other: Obj, members: dict, host: tuple) -> Operand:
    """Members that have handles already; those that hash in Python are looked up among the receiver's."""
    if not any(isinstance(handle, Hashed) for handle in members):
        return Operand(members, host, other)
    if receiver is other:
        return Operand(members, host, other)
    found: dict = {}
    for handle, value in members.items():
        handle = stored_handle(m, receiver, handle, value)
        if isinstance(handle, Hashed) and handle not in receiver.body.known and (receiver.body.known or not is_set(other)):
            _known_already(m, found, handle)  # they differ, but CPython compares those that it adds one by one
        found[handle] = value
    return Operand(found, (tuple, tuple(found)))


def absorb(m: Machine, self: Obj, other: Value) -> None:
    """Add all items of an iterable, as `set.update` does."""
    if not is_set(other) and other.cls is not dict:
        iterator = iterate(m, other)
        while (item := next_item(m, iterator)) is not None:
            set_add(m, self, item)
        return
    found = operand(m, self, other)
    if self.body.full:
        removals = self.body.removals
        set_.become(m.session, self.body, {**self.body.known, **_new(self, found)}, "in place", "update", (found.host,))
        self.body.removals = removals
    else:
        for handle, value in found.members.items():
            set_.add(m.session, self.body, handle, value)
    _log(m, self, "update", [found])


def _log(m: Machine, self: Obj, name: str, operands: list[Operand]) -> None:
    """Log an operation of a real set: the same method with the operands as they are now."""
    if self.real is None:
        return
    now = [_as_now(m, found) for found in operands]
    told = all_answers(chain(self.body.known, *(found.members for found in operands))) if m.session.hashed else ()
    if told:
        m.session.operation("told", self, told, "set.call", name, now)
    else:
        m.session.operation("set.call", self, name, now)


def _as_now(m: Machine, found: Operand) -> Value:
    """What an operand is now: itself where it is real, since the log is in order, else a copy that nobody changes."""
    source = found.source
    if source is not None and source.real is not None:
        return source
    if source is not None and is_set(source):
        made = m.set()
        made.body.known, made.body.history = dict(source.body.known), list(source.body.history)
        return made
    host, handles = found.host
    values = [found.members[handle] for handle in handles]
    if host is tuple:
        return m.tuple(values)
    made = m.dict()
    made.body.known = {handle: (value, NONE) for handle, value in zip(handles, values)}
    return made


def _new(self: Obj, found: Operand) -> dict:
    return {handle: value for handle, value in found.members.items() if handle not in self.body.known}


# -- operations that make a set --------------------------------------------------------------------------------------


class Member:
    """A member in a host operation that tells which of two equal objects is kept."""

    __slots__ = ("handle", "value")

    def __init__(self, handle: Any, value: Value) -> None:
        self.handle = handle
        self.value = value

    def __hash__(self) -> int:
        return hash(self.handle)

    def __eq__(self, other: object) -> bool:
        return self.handle == other.handle


def marked(found: Operand) -> Any:
    """An operand as a host object of the same kind, with members that can be told apart."""
    host, order = found.host
    members = {handle: Member(handle, value) for handle, value in found.members.items()}
    if host is set_.rebuilt:
        return set(members.values())
    return host(tuple(members[handle] for handle in order))


def own_members(self: Obj) -> set[Member]:
    return {Member(handle, value) for handle, value in self.body.known.items()}


def combined(m: Machine, name: str, self: Obj, others: tuple[Value, ...]) -> Value:
    """The set that the host method `name` gives."""
    set_.materialise(m.session, self.body)
    operands = [operand(m, self, other) for other in others]
    found = getattr(set, name)(own_members(self), *map(marked, operands))
    made = fresh_set(m, set if issubclass(self.cls, set) else frozenset)
    made.body.known = {member.handle: member.value for member in found}
    made.body.history = [("made", name, tuple(self.body.history), tuple(other.host for other in operands))]
    return made


def discard_all(m: Machine, self: Obj, other: Value) -> None:
    """`set.difference_update` with one operand, on a fresh set."""
    m.invoke(m.observe.constant(set.__dict__["difference_update"]), [self, other], {})


def _copied(m: Machine, self: Obj) -> Obj:
    """A copy that is another object, of a frozenset too."""
    made = fresh_set(m, set if issubclass(self.cls, set) else frozenset)
    absorb(m, made, self)
    return made


def _making(name: str, operator_name: str, needs_one: bool = False) -> None:
    if needs_one:
        @both(name)
        def by_method(m: Machine, self: Obj, other: Value, /) -> Value:
            return combined(m, name, self, (other,))
    else:
        @both(name)
        def by_method_of_many(m: Machine, self: Obj, /, *others: Value) -> Value:
            return combined(m, name, self, others) if others else _copied(m, self)

    @both(operator_name)
    def by_operator(m: Machine, self: Obj, other: Value, /) -> Value:
        return combined(m, name, self, (other,)) if is_set(other) else NOT_IMPLEMENTED

    @both(f"__r{operator_name[2:]}")
    def reflected(m: Machine, self: Obj, other: Value, /) -> Value:
        return combined(m, name, other, (self,)) if is_set(other) else NOT_IMPLEMENTED


_making("union", "__or__")
_making("intersection", "__and__")
_making("difference", "__sub__")
_making("symmetric_difference", "__xor__", needs_one=True)


# -- operations in place ---------------------------------------------------------------------------------------------


@method("update")
def update(m: Machine, self: Obj, /, *others: Value) -> Value:
    for other in others:
        absorb(m, self, other)
    return NONE


@method("__ior__")
def inplace_union(m: Machine, self: Obj, other: Value, /) -> Value:
    if not is_set(other):
        return NOT_IMPLEMENTED
    absorb(m, self, other)
    return self


def changed(m: Machine, name: str, self: Obj, others: tuple[Value, ...]) -> None:
    """Do what the in-place method `name` does."""
    set_.materialise(m.session, self.body)
    operands = [operand(m, self, other) for other in others]
    found = own_members(self)
    getattr(set, name)(found, *map(marked, operands))
    left = {member.handle: member.value for member in found}
    known = {handle: left.pop(handle) for handle in self.body.known if handle in left}
    known.update(left)
    set_.become(m.session, self.body, known, "in place", name, tuple(found.host for found in operands))
    _log(m, self, name, operands)


def _changing(name: str, operator_name: str, needs_one: bool = False) -> None:
    if needs_one:
        @method(name)
        def by_method(m: Machine, self: Obj, other: Value, /) -> Value:
            changed(m, name, self, (other,))
            return NONE
    else:
        @method(name)
        def by_method_of_many(m: Machine, self: Obj, /, *others: Value) -> Value:
            if others:
                changed(m, name, self, others)
            return NONE

    @method(operator_name)
    def by_operator(m: Machine, self: Obj, other: Value, /) -> Value:
        if not is_set(other):
            return NOT_IMPLEMENTED
        changed(m, name, self, (other,))
        return self


_changing("intersection_update", "__iand__")
_changing("difference_update", "__isub__")
_changing("symmetric_difference_update", "__ixor__", needs_one=True)


# -- comparison ------------------------------------------------------------------------------------------------------


def is_subset(m: Machine, a: Obj, b: Obj) -> bool:
    """Whether all members of `a` are in `b`."""
    set_.materialise(m.session, a.body)
    members = list(a.body.known.items())
    return all(set_.contains(m.session, b.body, stored_handle(m, b, handle, value), value) for handle, value in members)


@both("issubset")
def subset(m: Machine, self: Obj, other: Value, /) -> Value:
    return boolean(is_subset(m, self, other if is_set(other) else make(m, other)))


@both("issuperset")
def superset(m: Machine, self: Obj, other: Value, /) -> Value:
    return boolean(is_subset(m, other if is_set(other) else make(m, other), self))


@both("isdisjoint")
def disjoint(m: Machine, self: Obj, other: Value, /) -> Value:
    if is_set(other):
        set_.materialise(m.session, other.body)
        members = list(other.body.known.items())
        return boolean(not any(set_.contains(m.session, self.body, stored_handle(m, self, h, v), v) for h, v in members))
    iterator = iterate(m, other)
    while (item := next_item(m, iterator)) is not None:
        if set_.contains(m.session, self.body, key_handle(m, self, item), item):
            return Const(False)
    return Const(True)


COMPARISONS = {
    "__eq__": lambda m, a, b, x, y: x == y and is_subset(m, a, b),
    "__ne__": lambda m, a, b, x, y: not (x == y and is_subset(m, a, b)),
    "__lt__": lambda m, a, b, x, y: x < y and is_subset(m, a, b),
    "__le__": lambda m, a, b, x, y: x <= y and is_subset(m, a, b),
    "__gt__": lambda m, a, b, x, y: x > y and is_subset(m, b, a),
    "__ge__": lambda m, a, b, x, y: x >= y and is_subset(m, b, a),
}


def _comparison(name: str) -> None:
    @both(name)
    def compared(m: Machine, self: Obj, other: Value, /) -> Value:
        if not is_set(other):
            return NOT_IMPLEMENTED
        sizes = set_.length(m.session, self.body), set_.length(m.session, other.body)
        return boolean(COMPARISONS[name](m, self, other, *sizes))


for _name in COMPARISONS:
    _comparison(_name)
