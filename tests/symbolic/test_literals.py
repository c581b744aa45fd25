"""Constants in what people read: the text may not depend on the program's settings, nor fail."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from frameloom.symbolic.literals import literal
from tests.compile.calls import Compiled

LARGE = 16**700


@pytest.fixture(autouse=True)
def few_digits() -> Iterator[None]:
    known = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(known)


@pytest.mark.parametrize("value", [1, -2.5, "a{}", None, (1, "b"), (3,), frozenset({4}), slice(1, None), range(3), True])
def test_it_is_the_representation(value: Any) -> None:
    assert literal(value) == repr(value)


@pytest.mark.parametrize("value", [LARGE, (1, LARGE), frozenset({LARGE}), slice(LARGE, None), range(LARGE), (("a", LARGE), 2)])
def test_numbers_of_many_digits_are_hexadecimal(value: Any) -> None:
    assert hex(LARGE) in literal(value)


class Number(int):
    pass


class Text(str):
    pass


def kept(values: dict, key: Any) -> Any:
    return values[LARGE], key + key


@pytest.mark.parametrize("keys", [(Number(LARGE), Number(2)), (Text("{"), Text("{}"), Text("{0} {a}"))])
def test_guards_on_such_values_have_texts(keys: tuple) -> None:
    call = Compiled(kept)
    for key in keys:
        assert call({LARGE: 5}, key) == (5, key + key)
    assert len(call.captures) == len(keys)
    assert all(call.guards())


class Settings:
    number = 3


def told(settings: Settings) -> tuple:
    raised = settings.number + 1
    return str(raised), repr(raised), f"{raised}"


def test_a_number_that_varies_may_have_too_many_digits_for_text() -> None:
    call, settings = Compiled(told), Settings()
    for settings.number in (1, 2, LARGE, 3):
        if settings.number is LARGE:
            with pytest.raises(ValueError, match="limit"):
                call(settings)
        else:
            assert call(settings) == told(settings)
