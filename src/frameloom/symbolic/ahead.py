"""What real iterators over built-in containers give next, read without moving them and without running any Python code."""

from __future__ import annotations

from typing import Any

from frameloom.native import dict_ahead, dict_iterated, instance_dict_made

DICT_ITERATORS = tuple(type(iter(view)) for view in ({}.keys(), {}.values(), {}.items()))
BACKWARDS = type(reversed([]))
STORED = {
    BACKWARDS: list,
    type(iter([])): list,
    type(iter(())): tuple,
    type(iter(range(0))): range,
    type(iter(range(1 << 70))): range,
    type(iter("é")): str,
    type(iter("a")): str,
    type(iter(b"")): bytes,
}
"""class of iterator over a sequence -> the class whose storage it reads"""


class Nothing(Exception):
    """There is no such item: the iterator has not so many, or its dictionary has changed its size or keys."""


def item_ahead(iterator: Any, number: int) -> Any:
    """The item of a sequence that an iterator gives after `number` others; raises `Nothing`."""
    sequence, index = place_of(iterator)
    if sequence is None:
        raise Nothing
    if type(iterator) is BACKWARDS:
        if not number <= index < list.__len__(sequence):
            raise Nothing
        number = -number
    try:
        return STORED[type(iterator)].__getitem__(sequence, index + number)
    except IndexError:
        raise Nothing from None


def place_of(iterator: Any) -> tuple[Any, int]:
    """The sequence that an iterator is about and the next index in it; None and 0 where it is exhausted."""
    _, arguments, *state = iterator.__reduce__()
    return (arguments[0], state[0] or 0) if state else (None, 0)


def entry_ahead(iterator: Any, number: int) -> tuple[Any, Any]:
    """The key and the value of a dictionary that come after `number` others in the order of an iterator; raises `Nothing`."""
    try:
        found = dict_ahead(iterator, number)
    except LookupError:
        found = None
    if found is None:
        raise Nothing
    return found


def container_of(iterator: Any) -> Any:
    """The dictionary or sequence that an iterator is about, None where it is exhausted."""
    return dict_iterated(iterator) if type(iterator) in DICT_ITERATORS else place_of(iterator)[0]


def gives(iterator: Any, number: int) -> bool:
    """Whether so many items are left at least."""
    read = _READ.get(type(iterator))
    if number == 0 or read is None:
        return read is not None
    try:
        read(iterator, number - 1)
    except Nothing:
        return False
    return True


def ends_after(iterator: Any, number: int) -> bool:
    """Whether just so many items are left, and then the iterator ends without an error."""
    if not gives(iterator, number):
        return False
    if type(iterator) not in DICT_ITERATORS:
        return not gives(iterator, number + 1)
    try:
        return dict_ahead(iterator, number) is None
    except LookupError:
        return False


def own_dictionary(obj: Any) -> Any:
    """The dictionary of an object's attributes where there is one, else the object itself."""
    found = instance_dict_made(obj)
    return obj if found is None else found


_READ = {**dict.fromkeys(STORED, item_ahead), **dict.fromkeys(DICT_ITERATORS, entry_ahead)}
READABLE = frozenset(_READ)
"""Classes of iterators that can be read ahead."""
