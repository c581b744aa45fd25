"""A program that replaces built-in names: the compiler stands aside meanwhile, and says so afterwards."""
from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import frameloom
from frameloom.compile import foundations
from tests.compile.calls import Compiled


@contextmanager
def replaced(name: str, value: Any) -> Iterator[None]:
    space = builtins.__dict__
    known = space[name]
    space[name] = value
    try:
        yield
    finally:
        space[name] = known


def fails(*arguments: Any, **keywords: Any) -> Any:
    raise ArithmeticError("this one is the program's")


def lies(*arguments: Any, **keywords: Any) -> int:
    return 7


def shape(values: list) -> list:
    return [values[0], {**{"a": 1}}["a"], [*values]]


@pytest.mark.parametrize("other", [fails, lies])
@pytest.mark.parametrize("name", ["len", "isinstance", "getattr", "type", "tuple", "sorted", "id", "set", "map", "hasattr", "dict"])
def test_nothing_is_captured_while_a_name_is_another(name: str, other: Any) -> None:
    frameloom.reset()
    call = Compiled(shape).call
    with replaced(name, other):
        results = call([1, 2]), call([1, 2])
    assert results == (shape([1, 2]),) * 2
    assert call([1, 2]) == shape([1, 2])
    assert frameloom.stats().eager == {"FL915": 2}
    assert frameloom.stats().frames == 1


def test_the_program_sees_its_own() -> None:
    def counted(values: list) -> int:
        return len(values) + 1

    call = Compiled(counted)
    assert call([1, 2]) == 3
    with replaced("len", lies):
        assert call.call([1, 2]) == 8
    assert call([1, 2]) == 3


def test_a_name_that_the_program_replaces_itself() -> None:
    def swaps(values: list) -> list:
        builtins.len = lies
        inner = len(values)
        del builtins.len
        builtins.len = known
        return [inner, len(values)]

    known = len
    assert Compiled(swaps)([1]) == [7, 1]
    assert builtins.len is known


def test_a_chain_goes_on_while_a_name_is_another() -> None:
    """Code for what goes on behind a break in a callee is made at run time."""

    def inner(space: dict) -> list:
        known = space.pop("iter")
        try:
            open(__file__).close()
            return [known([1])]
        finally:
            space["iter"] = known

    def outer(space: dict) -> int:
        return len(inner(space))

    assert Compiled(outer)(builtins.__dict__) == 1


@pytest.mark.parametrize("name", ["print", "input", "open"])
def test_names_that_only_programs_use_may_be_another(name: str) -> None:
    call = Compiled(shape)
    with replaced(name, lies):
        assert foundations.replaced() is None
        assert call([1, 2]) == shape([1, 2])
    assert len(call.captures) == 1


def test_a_name_that_is_added_changes_nothing() -> None:
    builtins.__dict__["test_foundations_name"] = 1
    try:
        assert foundations.replaced() is None
    finally:
        del builtins.__dict__["test_foundations_name"]
