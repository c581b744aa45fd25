"""What no watcher tells of is noticed all the same: the order of an OrderedDict, a class that was changed a thousand times."""
from __future__ import annotations

import collections
from collections.abc import Callable

import pytest

from tests.compile.calls import Compiled


def listed(mapping: dict) -> list:
    return [*mapping.items()]


def to_front(mapping: collections.OrderedDict) -> None:
    mapping.move_to_end("b", last=False)


CHANGES: list[Callable[[collections.OrderedDict], object]] = [
    lambda mapping: mapping.move_to_end("a"),
    to_front,
    lambda mapping: mapping.popitem(),
    lambda mapping: mapping.popitem(last=False),
    lambda mapping: mapping.pop("a"),
    lambda mapping: mapping.__setitem__("a", 5),
    lambda mapping: mapping.__setitem__("c", 5),
    lambda mapping: mapping.update(b=7),
    lambda mapping: mapping.__ior__({"d": 1}),
    lambda mapping: mapping.setdefault("e", 2),
    lambda mapping: mapping.clear(),
    lambda mapping: dict.__setitem__(mapping, "a", 9),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_every_change_of_an_ordered_dict(number: int) -> None:
    call = Compiled(listed)
    mapping = collections.OrderedDict(a=1, b=2)
    assert call(mapping) == call(mapping) == [("a", 1), ("b", 2)]
    CHANGES[number](mapping)
    assert call(mapping) == listed(mapping) != [("a", 1), ("b", 2)]


def test_a_class_that_is_changed_a_thousand_times() -> None:
    """3.13.0 tells no watcher of a class any more after that; a version tag of a class may be used up too."""

    class Changed:
        value = 0

    def reads(thing: Changed) -> int:
        return thing.value + 1

    thing, call = Changed(), Compiled(reads)
    assert call(thing) == 1
    for number in range(3):
        for value in range(1_100):
            Changed.value = -value
            assert thing.value == -value
        Changed.value = number
        assert call(thing) == number + 1
    Changed.value = 0
    assert call(thing) == 1
    assert len(call.captures) == 2  # with its first number, and with any


def test_a_class_that_is_changed_through_its_base() -> None:
    class Base:
        value = 0

    class Changed(Base):
        pass

    def reads(thing: Changed) -> int:
        return thing.value + 1

    thing, call = Changed(), Compiled(reads)
    for number in range(1_100):
        Base.value = number
    for number in range(4):
        Base.value = number
        assert call(thing) == number + 1
    Changed.value = 10
    assert call(thing) == 11
