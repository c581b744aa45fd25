"""Texts and numbers that the program passes on are its own objects, not equal ones of the entry's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from frameloom.interpreter.registry import refuse
from tests.compile.calls import Compiled


def breaks() -> None:
    pass


refuse("FL401", "the test breaks here", breaks)


class Holder:
    value: Any


def returned(holder: Holder, value: Any) -> tuple:
    if value:
        return value, [value]
    return None, []


def across_a_break(holder: Holder, value: Any) -> tuple:
    kept = bool(value)
    breaks()
    return value if kept else None, [value]


def displaced(holder: Holder, value: Any) -> tuple:
    found = holder.value
    if found:
        holder.value = 0
    return found, [value]


def asked(holder: Holder, value: Any) -> tuple:
    same = value is holder.value
    return value if value else 0, [holder.value if same else value]


MAKES = {
    "text": lambda: "".join(["ab", "cd!"]),
    "integer": lambda: int("1" + "0" * 30),
    "float": lambda: float("1.5"),
    "bytes": lambda: b"".join([b"ab", b"c"]),
    "complex": lambda: complex("1+2j"),
    "one character": lambda: chr(0x65E5),
}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
@pytest.mark.parametrize("program", [returned, across_a_break, displaced, asked], ids=lambda program: program.__name__)
def test_what_comes_out_is_what_went_in(program: Callable, make: Callable) -> None:
    call = Compiled(program)
    for _ in range(3):
        holder, value = Holder(), make()
        holder.value = value
        one, others = call(holder, value)
        assert one is value and others[0] is value


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_two_equal_ones_are_told_apart(make: Callable) -> None:
    def program(one: Any, other: Any) -> tuple:
        return one == other, one is other, one is one

    one, other = make(), make()
    call = Compiled(program)
    assert call(one, other) == (True, False, True)
    assert call(one, one) == (True, True, True)
    assert call(one, other) == (True, False, True)
