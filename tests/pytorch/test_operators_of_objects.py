"""Operators of a tensor and an object: numbers by inheritance, and objects with methods of their own."""

from __future__ import annotations

import enum

import pytest
import torch

import frameloom


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Flags(enum.IntFlag):
    A = 1
    B = 2


class Degrees(float):
    pass


class Loud(int):
    def __add__(self, other):
        return "loud", other

    def __radd__(self, other):
        raise AssertionError("the tensor takes it for a number")


class Scale:
    def __init__(self, by):
        self.by = by

    def __mul__(self, other):
        return other * self.by

    def __matmul__(self, other):
        return NotImplemented

    def __lt__(self, other):
        return other > self.by

    def __eq__(self, other):
        return other == self.by

    __hash__ = None


class Overriding(int):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return "overridden"


WHOLE = [
    lambda x: (x + Level.HIGH, Level.HIGH - x, x * Level.LOW, x**Level.HIGH, x == Level.LOW, Level.HIGH > x),
    lambda x: (x / Degrees(2.5), Degrees(2.5) * x),
    lambda x: (x.int() & Flags.A, x.int() << Flags.B),
    lambda x: (x + Loud(2), Loud(2) + x, Loud(2) - x),
    lambda x: (Scale(2) * x, Scale(0.5) < x, Scale(1) == x),
]


def _same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, torch.Tensor):
        assert found.dtype == expected.dtype and torch.equal(found, expected)
    elif isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            _same(one, other)
    else:
        assert found == expected


@pytest.mark.parametrize("function", WHOLE)
def test_an_object_that_counts_as_a_number_or_decides_first_is_captured(function) -> None:
    x = torch.tensor([1.0, 2.0])
    _same(frameloom.compile(function, backend="eager", fullgraph=True)(x), function(x))


@pytest.mark.parametrize("function", [lambda x: x + Overriding(1), lambda x: Overriding(1) + x])
def test_a_number_with_an_opinion_of_its_own_is_asked(function) -> None:
    x = torch.tensor([1.0, 2.0])
    _same(frameloom.compile(function, backend="eager")(x), function(x))


def test_a_method_that_declines_leaves_it_to_the_tensor() -> None:
    def function(x):
        try:
            return Scale(2) @ x
        except TypeError as error:
            return str(error)

    x = torch.ones(2)
    _same(frameloom.compile(function, backend="eager")(x), function(x))


def test_the_value_of_a_member_is_guarded() -> None:
    compiled = frameloom.compile(lambda x, level: x + level, backend="eager")
    for level in (Level.LOW, Level.HIGH, Level.LOW, 2, Degrees(2.5)):
        _same(compiled(torch.ones(1), level), torch.ones(1) + level)


def test_a_method_added_later_is_seen() -> None:
    class Number(int):
        pass

    compiled = frameloom.compile(lambda x, number: number + x, backend="eager")
    _same(compiled(torch.ones(1), Number(3)), torch.ones(1) + 3)
    Number.__add__ = lambda self, other: "mine"
    assert compiled(torch.ones(1), Number(3)) == "mine"
