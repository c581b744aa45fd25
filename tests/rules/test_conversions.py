"""Conversions of objects to numbers: each method must give a number of its kind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.running import compared


class Given:
    def __init__(self, value: Any) -> None:
        self.value = value


class Whole(Given):
    def __int__(self) -> Any:
        return self.value


class Index(Given):
    def __index__(self) -> Any:
        return self.value


class Truncated(Given):
    def __trunc__(self) -> Any:
        return self.value


class Real(Given):
    def __float__(self) -> Any:
        return self.value


class Complex(Given):
    def __complex__(self) -> Any:
        return self.value


class Own(complex):
    def __complex__(self) -> Any:
        return None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("value", ["5", 7, True, 2.5, 2j, None, 2**2000, Index(3), Own(1j)], ids=repr)
@pytest.mark.parametrize("cls", [Whole, Index, Truncated, Real, Complex])
@pytest.mark.parametrize("number", [int, float, complex])
def test_what_a_method_gives_is_a_number_of_its_kind(number: type, cls: type, value: Any) -> None:
    compared(lambda found: number(found), (lambda: cls(value),), 2, tuple)


def test_a_number_may_convert_itself() -> None:
    compared(lambda: complex(Own(1j)), (), 2, tuple)
