"""Sizes and numbers that vary as keys, members and in `is`: each value is guarded, alone and inside of tuples."""
from __future__ import annotations

import pytest
import torch

import frameloom
from tests.models.compare import assert_same

pytestmark = pytest.mark.torch


class Key(tuple):
    __slots__ = ()


PROGRAMS = {
    "get": lambda x, n: {5: 1}.get(n, 4) * x,
    "subscript": lambda x, n: {3: 1, 4: 2, 5: 7, 7: 8, 8: 9}[n] * x,
    "set member": lambda x, n: x * 2 if n in {5, 7} else x,
    "tuple": lambda x, n: {(5, 1): 1}.get((n, 1), 4) * x,
    "nested tuple": lambda x, n: {(1, (5, 2)): 1}.get((1, (n, 2)), 4) * x,
    "subclass of tuple": lambda x, n: {Key((5, 2)): 3}.get(Key((n, 2)), 1) * x,
    "frozenset": lambda x, n: x * 2 if frozenset({n}) in {frozenset({5})} else x,
    "display of a set": lambda x, n: x * len({n, 5, 3}),
    "display of a dict": lambda x, n: x * len({n: 1, 5: 2}),
    "dict of pairs": lambda x, n: x * dict([(n, 2)]).get(5, 7),
    "equal dicts": lambda x, n: x * 2 if {n: 1} == {5: 1} else x,
    "is": lambda x, n: x * 2 if n is 5 else x,  # noqa: F632  small numbers are one object
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_number(name):
    program = PROGRAMS[name]
    compiled = frameloom.compile(program, fullgraph=True, backend="eager")
    for n in (3, 4, 5, 7, 8, 5, 3):
        assert_same(program(torch.ones(2), n), compiled(torch.ones(2), n))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_size(name):
    def program(x):
        return PROGRAMS[name](x, x.shape[0])

    compiled = frameloom.compile(program, fullgraph=True, backend="eager")
    for n in (3, 4, 5, 7, 8, 5, 3):
        assert_same(program(torch.ones(n, 2)), compiled(torch.ones(n, 2)))


def test_a_shape():
    def program(x):
        return {torch.Size((5, 2)): 3}.get(x.shape, 1) * x + {(5, 2): 3}.get(tuple(x.shape), 1)

    compiled = frameloom.compile(program, fullgraph=True, backend="eager")
    for n in (3, 4, 5, 7, 5, 3):
        assert_same(program(torch.ones(n, 2)), compiled(torch.ones(n, 2)))
