"""A later call brings an object of another kind: what is told of the guards that fail reads no further there."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.compile.calls import Compiled


class Alias:
    def __init__(self, origin: Any, number: int) -> None:
        self.origin = origin
        self.number = number


def plain(number: Any) -> Any:
    return number


def add(step: int) -> Any:
    return lambda number: number + step


def called(alias: Alias) -> Any:
    return alias.number, alias.origin(alias.number)


def test_a_part_of_a_class_that_may_die() -> None:
    """What guards say of one path is said of one object, which is of another kind in the end."""

    class Local:
        origin = plain

    def run(cls: type) -> Any:
        return cls.origin(3), Local.origin(4)

    call = Compiled(run)
    for origin in [*KINDS[:3], plain, str]:
        Local.origin = origin
        assert call(Local) == run(Local)


KINDS = [plain, add(3), int, str.upper, len, Alias, plain, lambda number, more=2: number, [].append]


@pytest.mark.parametrize("first", range(len(KINDS)))
def test_callables_of_all_kinds(first: int) -> None:
    call = Compiled(called)
    for number, origin in enumerate(KINDS[first:] + KINDS[:first]):
        try:
            expected = repr(called(Alias(origin, number)))[:60]
        except TypeError as error:
            with pytest.raises(TypeError) as found:
                call(Alias(origin, number))
            assert str(found.value) == str(error)
        else:
            assert repr(call(Alias(origin, number)))[:60].partition(" at ")[0] == expected.partition(" at ")[0]


def test_numbers_that_cpython_changes_are_its_own() -> None:
    """From 3.12 on Python code reads long numbers, and CPython sets the sign of what that gives."""
    known = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        number = 1 << 50_000
        text = str(number)
        call = Compiled(lambda given: int(given))
        assert [call(form + text) for form in ("", "-", "", "+", "-", "")] == [number, -number, number, number, -number, number]
    finally:
        sys.set_int_max_str_digits(known)
