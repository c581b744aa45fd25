"""Patterns of `match`."""

from __future__ import annotations

import collections
import types

import pytest

from tests.rules.running import compared, whole


class Keys:
    KEY = "a"


class Point:
    __match_args__ = ("x", "y")
    x, y = 1, 2


def duplicate_key():
    try:
        match {"a": 0, "b": 1}:
            case {Keys.KEY: first, "a": second}:
                return first, second
    except ValueError as error:
        return str(error)


def duplicate_attribute():
    try:
        match Point():
            case Point(1, x=2):
                return "matched"
    except TypeError as error:
        return str(error)


def mappings():
    default = collections.defaultdict(int, a=1)
    found = []
    for subject in (collections.OrderedDict(a=1, b=2), collections.UserDict(a=3, b=4), default, {}, []):
        match subject:
            case {"a": first, "b": second}:
                found.append((first, second))
            case {"a": first, **rest}:
                found.append((first, rest))
            case {}:
                found.append("a mapping")
            case _:
                found.append("none")
    return found, dict(default)


def opaque_mapping():
    match types.MappingProxyType({"a": 3, "b": 4}):
        case {"a": first, "b": second}:
            return first, second


@pytest.mark.parametrize("function", [duplicate_key, duplicate_attribute])
def test_duplicates_are_refused(function):
    whole(function)


@pytest.mark.parametrize("function", [mappings, opaque_mapping])
def test_mappings_are_read_by_get(function):
    compared(function, (), 2, tuple)
