"""What an iterator over a dictionary gives next, read without moving it."""
from __future__ import annotations

import collections

import pytest

from frameloom.native import dict_ahead, dict_iterated, instance_dict_made

VIEWS = [dict.keys, dict.values, dict.items]


def ahead(iterator: object) -> list:
    found: list = []
    while (entry := dict_ahead(iterator, len(found))) is not None:
        found.append(entry)
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_entries_that_are_left(view) -> None:
    made = {number: str(number) for number in range(9)}
    del made[0], made[4], made[8]
    iterator = iter(view(made))
    left = list(made.items())
    while left:
        assert ahead(iterator) == left
        assert dict_iterated(iterator) is made
        next(iterator)
        del left[0]
    assert ahead(iterator) == []
    assert next(iterator, None) is None
    assert ahead(iterator) == [] and dict_iterated(iterator) is None


def test_dictionaries_of_attributes() -> None:
    """Their values may lie in the object."""

    class Made:
        def __init__(self, *names: str) -> None:
            for name in names:
                setattr(self, name, name.upper())

    for names in ("abc", "cab", "ab"):
        made = Made(*names)
        assert instance_dict_made(made) is None
        del made.a
        iterator = iter(vars(made).values())
        assert instance_dict_made(made) is vars(made)
        next(iterator)
        assert ahead(iterator) == list(vars(made).items())[1:]
        assert list(iterator) == [name.upper() for name in names if name != "a"][1:]


def test_a_dictionary_that_changes() -> None:
    made = dict(a=1, b=2)
    iterator = iter(made)
    next(iterator)
    made["b"] = 3
    assert ahead(iterator) == [("b", 3)]
    made["c"] = 4
    with pytest.raises(LookupError):
        dict_ahead(iterator, 0)
    with pytest.raises(RuntimeError):
        next(iterator)


def test_an_entry_is_owned() -> None:
    value = object()
    made = {number: value for number in range(3)}
    iterator = iter(made.values())
    entry = dict_ahead(iterator, 2)
    assert entry == (2, value)
    made.clear()
    assert entry[1] is value


def test_a_dictionary_whose_keys_are_replaced() -> None:
    made = dict(a=1, b=2)
    iterator = iter(made)
    next(iterator), next(iterator)
    del made["a"]
    made["c"] = 3
    with pytest.raises(LookupError):
        dict_ahead(iterator, 0)
    with pytest.raises(RuntimeError):
        next(iterator)


@pytest.mark.parametrize("other", [{}, iter([]), iter(collections.OrderedDict()), reversed({}), 1, None])
def test_other_objects(other: object) -> None:
    with pytest.raises(TypeError):
        dict_ahead(other, 0)
    with pytest.raises(TypeError):
        dict_iterated(other)


def test_numbers() -> None:
    with pytest.raises(ValueError):
        dict_ahead(iter({}), -1)
    with pytest.raises(TypeError):
        dict_ahead(iter({}), "0")


@pytest.mark.parametrize("other", [Exception, 1, [], object(), type])
def test_objects_without_a_dictionary_yet(other: object) -> None:
    assert instance_dict_made(other) is None
