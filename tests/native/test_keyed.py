"""Keys are stored without being asked, and only the call that stores them does not see their classes' own methods."""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest

from frameloom.native import call_keyed, dict_storage_get, set_storage_has, stored_hash


class Key:
    def __init__(self) -> None:
        self.asked = 0

    def __hash__(self) -> int:
        self.asked += 1
        return 5

    def __eq__(self, other: object) -> bool:
        raise AssertionError("is compared")


def test_keys_are_stored_and_found_by_identity() -> None:
    one, other = Key(), Key()
    known, d, s = (one, 5, other, 5), {}, set()
    call_keyed(known, dict.__setitem__, d, one, 1)
    call_keyed(known, dict.__setitem__, d, other, 2)
    call_keyed(known, dict.__delitem__, d, one)
    call_keyed(known, set.update, s, [one, other, one])
    assert list(d.values()) == [2] and len(s) == 2 and one.asked == other.asked == 0
    assert stored_hash(d, other) == 5 and stored_hash(s, one) == 5 and stored_hash(d, one) is None
    assert hash(one) == 5 and one.asked == 1


def test_an_unknown_hash_is_asked_for() -> None:
    key, d = Key(), {}
    call_keyed((key, None), dict.__setitem__, d, key, 1)
    assert key.asked == 1 and stored_hash(d, key) == 5


def test_others_see_what_the_class_defines() -> None:
    seen: list = []
    key = Key()

    class Dying:
        def __del__(self) -> None:
            seen.append(hash(key))

    d = {}
    call_keyed((key, 7), dict.__setitem__, d, key, Dying())
    call_keyed((key, 7), dict.__setitem__, d, key, None)
    gc.collect()
    assert seen == [5] and key.asked == 1
    call_keyed((key, 7), lambda: seen.append(len({key})))
    assert seen == [5, 1] and key.asked == 1, "a function's own module is told too"


def test_slots_are_given_back_after_an_error() -> None:
    key = Key()
    with pytest.raises(KeyError):
        call_keyed((key, 5), dict.__delitem__, {}, key)
    assert hash(key) == 5 and key.asked == 1
    with pytest.raises(TypeError):
        call_keyed((key,), len, ())
    before = sys.getrefcount(Key)
    for _ in range(100):
        call_keyed((key, 5), set.discard, set(), key)
    assert sys.getrefcount(Key) == before


def test_a_class_without_hash_stays_so() -> None:
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

    found: Any = Unhashable()
    d: dict = {}
    call_keyed((found, 3), dict.__setitem__, d, found, 1)
    assert stored_hash(d, found) == 3
    with pytest.raises(TypeError, match="unhashable"):
        call_keyed((found, None), dict.__setitem__, d, found, 1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)


def test_storage_is_read_without_comparing_by_python() -> None:
    class Three:
        def __hash__(self) -> int:
            return 3

        def __eq__(self, other: object) -> bool:
            raise AssertionError("is compared")

    d, s = {Three(): 1, "a": 2}, {Three(), "a"}
    assert dict_storage_get(d, "a", None) == 2 and dict_storage_get(d, 4, None) is None
    assert set_storage_has(s, "a") and not set_storage_has(s, 4)
    for look in (lambda: dict_storage_get(d, 3, None), lambda: set_storage_has(s, 3)):
        with pytest.raises(LookupError):
            look()
