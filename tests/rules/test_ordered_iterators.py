"""Iterators over an OrderedDict that stand in the middle when a trace breaks go on with what they gave before."""

from __future__ import annotations

from collections import OrderedDict

import pytest

from tests.rules.running import breaks


class Item:
    pass


def walked(make):
    found = []
    for item in make(OrderedDict((name, [name.upper()]) for name in "abc")):
        repr(Item())  # breaks: the text has an address
        found.append(item)
    return found


def keys():
    return walked(lambda mapping: mapping.keys())


def values():
    return walked(lambda mapping: mapping.values())


def items():
    return walked(lambda mapping: mapping.items())


def keys_backwards():
    return walked(reversed)


def values_backwards():
    return walked(lambda mapping: reversed(mapping.values()))


def items_backwards():
    return walked(lambda mapping: reversed(mapping.items()))


@pytest.mark.parametrize("function", [keys, values, items, keys_backwards, values_backwards, items_backwards])
def test_iteration_goes_on_behind_a_break(function):
    breaks("FL501", function)
