"""Wherever a number comes from, its second value makes it one that is read at run time: two graphs, whatever follows."""

from __future__ import annotations

import collections
import dataclasses
import types
from collections.abc import Callable

import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch
X = torch.arange(1.0, 5.0)
GLOBAL: object = None
MODULE = types.ModuleType("settings")
Pair = collections.namedtuple("Pair", "first second")


class Plain:
    shared: object = None


class Slotted:
    __slots__ = ("n",)


@dataclasses.dataclass
class Data:
    n: object = None


class Scaled(torch.nn.Module):
    n: object = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.n


def of_argument(function: Callable, wrap: Callable) -> Callable:
    """A maker of calls by number: (compiled or plain) `function` is given what `wrap` makes of the number."""
    return lambda compile_: (lambda call: lambda n: call(X, wrap(n)))(compile_(function))


def by_keyword(compile_):
    call = compile_(lambda x, **named: x * named["n"])
    return lambda n: call(X, n=n)


def by_default(compile_):
    def scaled(x, n=None):
        return x * n

    call = compile_(scaled)

    def with_default(n):
        scaled.__defaults__ = (n,)
        return call(X)

    return with_default


def of_attribute(holder: object, name: str, function: Callable) -> Callable:
    def made(compile_):
        call = compile_(function)

        def with_attribute(n):
            setattr(holder, name, n)
            return call(X, holder)

        return with_attribute

    return made


def of_module(compile_):
    module = Scaled()
    call = compile_(module)

    def with_attribute(n):
        module.n = n
        return call(X)

    return with_attribute


def of_global(compile_):
    def scaled(x):
        return x * GLOBAL

    call = compile_(scaled)

    def with_global(n):
        globals()["GLOBAL"] = n
        return call(X)

    return with_global


def of_closure(compile_):
    n = None

    def scaled(x):
        return x * n

    call = compile_(scaled)

    def with_cell(value):
        nonlocal n
        n = value
        return call(X)

    return with_cell


SOURCES = {
    "argument": of_argument(lambda x, n: x * n, lambda n: n),
    "among further arguments": of_argument(lambda x, *rest: x * rest[0], lambda n: n),
    "by keyword": by_keyword,
    "default": by_default,
    "item of a list": of_argument(lambda x, numbers: x * numbers[1], lambda n: [1, n]),
    "item of a tuple": of_argument(lambda x, numbers: x * numbers[1], lambda n: (1, n)),
    "field of a named tuple": of_argument(lambda x, pair: x * pair.second, lambda n: Pair(1, n)),
    "value of a dict, deep": of_argument(lambda x, named: x * named["a"]["b"][0], lambda n: {"a": {"b": [n]}}),
    "value of an ordered dict": of_argument(lambda x, named: x * named["a"], lambda n: collections.OrderedDict(a=n)),
    "attribute of a data class": of_argument(lambda x, data: x * data.n, Data),
    "attribute of an object": of_attribute(Plain(), "n", lambda x, holder: x * holder.n),
    "slot": of_attribute(Slotted(), "n", lambda x, holder: x * holder.n),
    "attribute of a class": of_attribute(Plain, "shared", lambda x, holder: x * Plain.shared),
    "attribute of a module of Python": of_attribute(MODULE, "n", lambda x, holder: x * MODULE.n),
    "attribute of a module of torch": of_module,
    "global": of_global,
    "variable of a closure": of_closure,
}


@pytest.mark.parametrize("numbers", [(3, 4, 0, 1, -7, 2), (0.5, 0.25, 1.0, -3.5, 0.0, 7.25)], ids=["int", "float"])
@pytest.mark.parametrize("source", SOURCES)
def test_two_graphs(source, numbers) -> None:
    compiled = SOURCES[source](lambda function: frameloom.compile(function, backend="eager", fullgraph=True))
    plain = SOURCES[source](lambda function: function)
    for n in numbers:
        expected, found = plain(n), compiled(n)
        assert found.dtype is expected.dtype and found.equal(expected)
    assert frameloom.stats().graphs == 2


def appended(x, items):
    items.append(len(items))
    return x * len(items)


@pytest.mark.parametrize("function, graphs", [
    (lambda x, items: x * len(items), 2),
    (lambda x, items: x + torch.arange(len(items) + 3).sum(), 2),
    (appended, 2),
    (lambda x, items: x * 2 if len(items) > 4 else x + 1, 3),
    (lambda x, items: x * sum(items), 6),  # it asks for the items
], ids=["number", "size", "appended", "asked", "items"])
def test_the_length_of_a_list(function, graphs) -> None:
    compiled = frameloom.compile(function, backend="eager", fullgraph=True)
    for n in (3, 4, 2, 7, 0, 1):
        items, others = list(range(n)), list(range(n))
        assert compiled(X, items).equal(function(X, others))
        assert items == others
    assert frameloom.stats().graphs == graphs
