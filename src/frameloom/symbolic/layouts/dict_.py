"""Storage of dictionaries, and of instance attributes: what is known of each key, alone."""

from __future__ import annotations

import collections
import itertools
import weakref
from typing import Any, Iterator

from frameloom.symbolic.guards import ordered_keys
from frameloom.symbolic.instance_dict import MISSING, instance_dict_item, instance_names
from frameloom.symbolic.keys import Hashed, answers, host_hashable
from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.layouts.base import Layout, hashed_by_parts, register, replay
from frameloom.symbolic.layouts.list_ import reaches_one
from frameloom.symbolic.real import stands_on
from frameloom.symbolic.mortal import require_weakly
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.source import STEPS
from frameloom.symbolic.stored import stored_hash, stored_value
from frameloom.symbolic.values import ABSENT, Const, Lazy, Node, Obj, Real, Value


class DictBody:
    """`known` maps key handles (see `interpreter.keys`) to (key, value), value ABSENT where the key is known to be missing.

    `full` says that nothing else is there and that `known` is in order.  A body that is not full stands on `real`, whose
    entries are looked at one by one; `step` names the source step that reads an entry.  `owner` is set where two Objs share
    the body (an instance and its `__dict__`, a module and its globals): the one whose operations write it.  `entered` is the
    order in which `dict` itself has the keys of an OrderedDict some of which were moved.
    """

    __slots__ = ("known", "full", "real", "step", "moved", "removals", "owner", "entered")

    def __init__(self, full: bool, real: Real | None = None, step: str = "dict_item") -> None:
        self.known: dict[Any, tuple[Value, Value]] = {}
        self.full = full
        self.real = real
        self.step = step
        self.moved: dict = {}
        self.removals = 0
        self.owner: Obj | None = None
        self.entered: list | None = None


def get(session: Any, body: DictBody, handle: Any, key: Value) -> Value:
    """The value under a key, or ABSENT; looks at the real entry, and guards it, where the trace has not yet."""
    entry = body.known.get(handle)
    if entry is not None:
        value = entry[1]
        if type(value) is Lazy:
            value = session.observe.resolve(value)
            session.journal.set_item(body.known, handle, (entry[0], value))
        return value
    if body.full:
        return ABSENT
    value = READERS[body.step](session, body.real, handle)
    session.journal.set_item(body.known, handle, (key, value))
    return value


def set_(session: Any, body: DictBody, handle: Any, key: Value, value: Value) -> None:
    """Store under a key.  A key that was missing goes to the end of the order."""
    entry = body.known.get(handle)
    if entry is not None and entry[1] is ABSENT:
        session.journal.delete_item(body.known, handle)
    if entry is not None and entry[1] is not ABSENT:
        key = entry[0]
    session.journal.set_item(body.known, handle, (key, value))


def delete(session: Any, body: DictBody, handle: Any, key: Value) -> None:
    """Remove a key that is present."""
    count_removal(session, body)
    if body.entered is not None:
        session.journal.set_field(body, "entered", [other for other in body.entered if other != handle])
    if body.full:
        session.journal.delete_item(body.known, handle)
        return
    if handle in body.known:
        session.journal.delete_item(body.known, handle)
    session.journal.set_item(body.known, handle, (key, ABSENT))
    session.journal.set_item(body.moved, handle, True)


def count_removal(session: Any, body: DictBody) -> None:
    """An iterator must know whether keys left their places since it began."""
    session.journal.set_field(body, "removals", body.removals + 1)


def move(session: Any, body: DictBody, handle: Any, last: bool) -> None:
    """Put a key that is present at an end of the order (OrderedDict.move_to_end)."""
    materialise(session, body)
    if handle == next(reversed(body.known) if last else iter(body.known)):
        return
    count_removal(session, body)
    session.journal.set_field(body, "entered", entered(body))
    rest = dict(body.known)
    entry = {handle: rest.pop(handle)}
    session.journal.record(setattr, body, "known", body.known)
    body.known = {**rest, **entry} if last else {**entry, **rest}


def entered(body: DictBody) -> list:
    """The handles in the order of `dict`."""
    if body.entered is None:
        return list(body.known)
    return [*body.entered, *(handle for handle in body.known if handle not in body.entered)]


def materialise(session: Any, body: DictBody) -> None:
    """Look at the whole order of keys, so that the body is full."""
    if body.full:
        return
    base = KEY_READERS[body.step](session, body.real)
    known = body.known
    order: dict = {}
    for handle, key, lazy in base:
        if handle in body.moved:
            continue
        entry = known.get(handle)
        order[handle] = (key, lazy if entry is None else entry[1])
    for handle, entry in known.items():
        if entry[1] is not ABSENT and handle not in order:
            order[handle] = entry
    session.journal.record(_restore, body, known)
    body.known = order
    body.full = True


def _restore(body: DictBody, known: dict) -> None:
    body.known = known
    body.full = False


def entries(session: Any, body: DictBody) -> list[tuple[Value, Value]]:
    """All (key, value) pairs in order, values looked at only when resolved by the caller."""
    materialise(session, body)
    return list(body.known.values())


def handles(session: Any, body: DictBody) -> list:
    materialise(session, body)
    return list(body.known)


def is_nonempty(session: Any, body: DictBody) -> bool:
    """Whether there are entries; of a real dictionary that was not looked at, no more is observed."""
    if any(value is not ABSENT for _, value in body.known.values()):
        return True
    if body.full or body.known or body.step != "dict_item":
        return length(session, body) > 0
    return reaches_one(session, body.real, dict.__len__(body.real.object))


def length(session: Any, body: DictBody) -> int:
    """The number of entries; of a real dictionary whose order nobody asked for, only its length is observed."""
    if not body.full:
        if body.step == "dict_item" and len(body.known) <= FEW_KEYS and all(type(handle) in ATOMS for handle in body.known):
            count = dict.__len__(body.real.object)
            session.guard("LENGTH", body.real.source, count)
            return count + sum(_gain(session, body, handle) for handle in body.known)
        materialise(session, body)
    return len(body.known)


FEW_KEYS = 32
"""So many keys are asked about one by one, where only the length of a dictionary is wanted."""


def _gain(session: Any, body: DictBody, handle: Any) -> int:
    """By how much the trace has changed the number of entries under a key: 1, 0 or -1."""
    there = stored_value(body.real.object, handle, MISSING) is not MISSING
    session.guard("HAS_KEY" if there else "NO_KEY", body.real.source, handle)
    return (body.known[handle][1] is not ABSENT) - there


def clear(session: Any, body: DictBody) -> None:
    count_removal(session, body)
    session.journal.set_field(body, "entered", None)
    session.journal.record(_restore_all, body, body.known, body.full)
    body.known = {}
    body.full = True


def _restore_all(body: DictBody, known: dict, full: bool) -> None:
    body.known = known
    body.full = full


def stored_reference(body: Any, reference: weakref.ref) -> weakref.ref:
    """The very weak reference to the same object that a real dictionary has as a key, or `reference` where it has none."""
    if body.real is None or not stands_on(body.real.object, dict):
        return reference
    keys = (key for key in dict.keys(body.real.object) if stands_on(key, weakref.ref) and key() is reference())
    return next(keys, reference)


# -- the write log ---------------------------------------------------------------------------------------------------


def log_set(session: Any, holder: Obj, body: DictBody, key: Value, value: Value) -> None:
    """Log a store into `body`, which `holder` has as storage or as attributes."""
    owner = body.owner or holder
    if type(owner) is Obj and owner.body is body:
        session.operation("dict.set", owner, key, value)
    elif type(key) is Const and type(key.value) is str:
        session.operation("attribute.set", owner, key.value, value)
    else:
        raise GraphBreak("FL505", "an attribute whose name is no plain string")


def log_delete(session: Any, holder: Obj, body: DictBody, key: Value) -> None:
    """Log the removal of a key."""
    owner = body.owner or holder
    if type(owner) is Obj and owner.body is body:
        session.operation("dict.delete", owner, key)
    else:
        session.operation("attribute.delete", owner, key.value)


# -- reading real entries -------------------------------------------------------------------------------------------


def _read_item(session: Any, real: Real, handle: Any) -> Value:
    found = stored_value(real.object, handle, MISSING)
    if found is MISSING:
        session.guard("NO_KEY", real.source, handle)
        return ABSENT
    session.guard("HAS_KEY", real.source, handle)
    return session.observe.wrap(found, real.source.child("dict_item", handle))


def _read_attribute(session: Any, real: Real, name: Any) -> Value:
    if type(name) is not str:
        raise GraphBreak("FL505", "an attribute whose name is no plain string")
    found = instance_dict_item(real.object, name)
    if found is MISSING:
        session.guard("NO_ATTRIBUTE", real.source, name)
        return ABSENT
    return session.observe.wrap(found, real.source.child("attribute", name))


def _read_class_attribute(session: Any, real: Real, name: str) -> Value:
    raise AssertionError("class attributes are read by the observer's class look-up")


READERS = {"dict_item": _read_item, "attribute": _read_attribute, "class": _read_class_attribute}


def _keys_of(mapping: dict) -> tuple:
    """The keys in order.  An OrderedDict asks them for their hashes, and its order may not fit its entries any more."""
    if not isinstance(mapping, collections.OrderedDict):
        return tuple(dict.__iter__(mapping))
    if not all(map(host_hashable, dict.__iter__(mapping))):
        raise GraphBreak("FL507", "an OrderedDict with keys that have a __hash__ of their own is looked through")
    count = dict.__len__(mapping)
    try:
        keys = tuple(itertools.islice(ordered_keys(mapping), count + 1))  # such an iterator may go on without end
    except KeyError:
        keys = None
    if keys is None or len(keys) != count:
        raise GraphBreak("FL505", "the order of an OrderedDict that a method of dict has changed")
    return keys


def _item_keys(session: Any, real: Real) -> list:
    """The keys in order, each with its handle and its value; a key that hashes in Python is read by its position."""
    keys = _keys_of(real.object)
    require_weakly(keys)
    session.guard("KEYS", real.source, keys)
    plain = real.source.child
    found = []
    for index, key in enumerate(keys):
        if type(key) in ATOMS or host_hashable(key):
            wrapped = session.observe.constant(key)
            value = session.observe.real(dict.__getitem__(real.object, key), plain("dict_item", key))
            found.append((key, wrapped, Lazy(value)))
        else:
            wrapped = session.observe.constant(key)
            source = plain("dict_value", index)
            handle = hashed_key(session, real.object, key, wrapped)
            found.append((handle, wrapped, Lazy(session.observe.real(STEPS["dict_value"].read(real.object, index), source))))
    return found


def hashed_key(session: Any, container: Any, key: Any, wrapped: Value) -> Hashed | Node:
    """The handle of a key with a `__hash__` in Python that a real container has: under the hash that it is stored with.

    Nodes are told apart by what they are, whatever their class hashes by.
    """
    if type(wrapped) is Node:
        return wrapped
    session.note_hashed()
    hash_ = stored_hash(container, key)
    asked = ((wrapped, hash_),) if type(key) not in (tuple, frozenset) else tuple(_asked_inside(session, key))
    return Hashed(wrapped, hash_, asked)


def _asked_inside(session: Any, key: Any) -> Iterator[tuple]:
    for part in key:
        if type(part) in (tuple, frozenset):
            yield from _asked_inside(session, part)
        elif not host_hashable(part):
            yield session.observe.constant(part), None


def _attribute_keys(session: Any, real: Real) -> list:
    names = instance_names(real.object)
    if any(type(name) is not str for name in names):
        raise GraphBreak("FL505", "an attribute whose name is no plain string")
    source = real.source.child("dict")
    session.guard("KEYS", source, tuple(names))
    return [
        (name, Const(name), Lazy(session.observe.real(instance_dict_item(real.object, name), real.source.child("attribute", name))))
        for name in names
    ]


KEY_READERS = {"dict_item": _item_keys, "attribute": _attribute_keys}


# -- layout ---------------------------------------------------------------------------------------------------------


@register(dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
class DictLayout(Layout):
    """dict and its C subclasses."""

    def look(self, obj: Obj, session: Any) -> DictBody:
        return DictBody(False, obj.real)

    def children(self, obj: Obj) -> list:
        return [part for entry in obj.body.known.values() for part in entry if part is not ABSENT]

    def create(self, obj: Obj, build: Any) -> None:
        if obj.body.owner is not None:
            build.call_values(own_dictionary, (obj.body.owner,))
            return
        base = next(b for b in obj.cls.__mro__ if b in (collections.OrderedDict, collections.defaultdict, dict))
        if obj.cls is dict:
            build.out.build_map(0)
        else:
            build.call_constant(base.__new__, build.constant(obj.cls))

    def needs_first(self, obj: Obj) -> list:
        return [] if obj.body.owner is None else [obj.body.owner]

    def whole_inside(self, obj: Obj) -> list:
        return [key for key, value in obj.body.known.values() if hashed_by_parts(key)]

    def fill(self, obj: Obj, build: Any) -> None:
        if obj.body.owner is not None:
            return
        store = _writer(obj.cls).__setitem__
        known = obj.body.known
        some_hashed = any(type(handle) is Hashed for handle in known)
        for handle in entered(obj.body):
            key, value = known[handle]
            if value is not ABSENT:
                with build.telling(answers(known, handle) if some_hashed else ()):
                    build.call_effect(store, obj, key, value)
        if obj.body.entered is not None:
            for key, value in known.values():
                build.call_effect(collections.OrderedDict.move_to_end, obj, key)


def own_dictionary(obj: Any) -> dict:
    """`obj.__dict__` past whatever its class defines; called by compiled code."""
    return object.__getattribute__(obj, "__dict__")


def _writer(cls: type) -> type:
    """The C class whose methods write the storage: an OrderedDict keeps an order of its own."""
    return collections.OrderedDict if issubclass(cls, collections.OrderedDict) else dict


@replay("dict.set", location=lambda key, value: key.value if type(key) is Const else id(key))
def _replay_set(build: Any, target: Obj, key: Value, value: Value) -> None:
    build.call_effect(_writer(target.cls).__setitem__, target, key, value)


@replay("dict.delete")
def _replay_delete(build: Any, target: Obj, key: Value) -> None:
    build.call_effect(_writer(target.cls).__delitem__, target, key)


@replay("dict.popitem")
def _replay_pop_item(build: Any, target: Obj) -> None:
    build.call_effect(dict.popitem, target)


@replay("dict.clear")
def _replay_clear(build: Any, target: Obj) -> None:
    build.call_effect(_writer(target.cls).clear, target)


@replay("dict.move_to_end")
def _replay_move(build: Any, target: Obj, key: Value, last: bool) -> None:
    build.call_effect(collections.OrderedDict.move_to_end, target, key, Const(last))


def iterate(body: DictBody) -> Iterator:
    return iter(body.known.values())
