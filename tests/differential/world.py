"""The arguments of a program, and pictures of what it left behind."""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import functools
import inspect
import io
import itertools
import math
import operator
import random
import sys
import traceback
import types
import typing
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from tests.toy.array import GENERATOR, Array, Mode, array

from . import things
from .things import Box

NAMES = {
    **{name: getattr(things, name) for name in ("Problem", "Box", "Manager", "managed", "breaker", "failer", "breaking", "gen", "logged", "Odd")},
    **{name: getattr(things, name) for name in ("Point", "Pair", "Color", "Slotted", "Ordered", "Told", "Seeing", "Ending", "Sized")},
    **{name: getattr(things, name) for name in ("shape", "remembered", "variable")},
    **{module.__name__: module for module in (
        collections, contextlib, copy, dataclasses, functools, inspect, io, itertools, math, operator, random, sys, typing, warnings, weakref
    )},
}
"""Globals of every program."""


class World:
    """One set of arguments and everything a program can change."""

    def __init__(self, variant: int) -> None:
        random.seed(7)
        GENERATOR.seed(7)
        things.remembered.cache_clear()
        Mode.tracking = True
        self.logged: list = []
        items = [1, 2, 3]
        self.xs = [4, 5] if variant != 2 else items
        self.box = Box(3 + (variant == 1), items)
        self.other = self.box if variant == 2 else Box(1, [0])
        self.a = array(1.0, 2.0, 3.0)
        self.b = self.a if variant == 2 else array(4.0, 5.0, 6.0) if variant != 1 else array(2.0)
        self.table = {"x": 1, 1: 2}
        self.flag = {0: 1, 1: 0, 2: 1}[variant]

    def log(self, entry: Any) -> None:
        self.logged.append(entry)

    def names(self) -> dict:
        """Globals of the program."""
        return {**NAMES, "log": self.logged.append, "local": things.Local(), "box_of": things.Counted()}

    def run(self, function: Callable, filename: str) -> Any:
        """Call the function; gives a picture of the result and of everything it may have changed.  Tracebacks count as far as
        they are in `filename`."""
        args = (self.a, self.b, self.box, self.xs, self.table, self.flag, self.other)
        try:
            outcome = ("returned", function(*args))
        except Exception as error:  # noqa: BLE001  the exception is part of the outcome
            outcome = ("raised", error.args, chain(error, filename))
        return picture([outcome, args, self.logged, random.random(), GENERATOR.random(), Mode.tracking], {})


def chain(error: BaseException | None, filename: str) -> list:
    """The classes along `__cause__` and `__context__`, with the places that the tracebacks name.

    Where in its line an unbound local is read is left out: once 3.11 has joined the reads of two locals, it names the first.
    """
    found = []
    while error is not None:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == filename]
        places = [(frame.name, frame.lineno, frame.colno * (type(error) is not UnboundLocalError)) for frame in frames]
        found.append((type(error).__name__, error.__suppress_context__, error.__cause__ is not None, places))
        error = error.__cause__ or error.__context__
    return found


def picture(value: Any, seen: dict) -> Any:
    """A comparable form with identity relations: an object met again is a number."""
    if value is None or type(value) in (bool, int, float, str, bytes):
        return (type(value).__name__, repr(value))
    if id(value) in seen:
        return ("again", seen[id(value)][0])
    seen[id(value)] = (len(seen), value)
    draw = next((PICTURES[base] for base in type(value).__mro__ if base in PICTURES), None)
    storage = draw(value, seen) if draw is not None else ()
    own = () if type(value) in PICTURES else picture(dict(getattr(value, "__dict__", ())), seen)
    return (type(value).__name__, storage, own)


def _items(value: Any, seen: dict) -> list:
    return [picture(item, seen) for item in list(value)]  # a generator among them may add to it


def _entries(value: dict, seen: dict) -> list:
    return [(picture(key, seen), picture(item, seen)) for key, item in list(dict.items(value))]


def _array(value: Array, seen: dict) -> tuple:
    storage = seen.setdefault(id(value.storage), (len(seen), value.storage))[0]
    return (storage, value.start, value.numbers(), value.tracked)


def _function(value: types.FunctionType, seen: dict) -> tuple:
    cells = _items(value.__closure__ or (), seen)
    return (value.__qualname__, cells, picture(value.__defaults__, seen), picture(value.__dict__, seen))


def _method(value: types.MethodType, seen: dict) -> tuple:
    return (picture(value.__func__, seen), picture(value.__self__, seen))


MOST_ITEMS = 50


def _generator(value: types.GeneratorType, seen: dict) -> tuple:
    """A generator is pictured by what it gives from now on, and by how it ends; one may go on without end."""
    found = []
    try:
        for item in itertools.islice(value, MOST_ITEMS):
            found.append(picture(item, seen))
    except Exception as error:  # noqa: BLE001  the way it ends
        found.append(("raised", type(error).__name__))
    return (value.__name__, found)


def _exception(value: BaseException, seen: dict) -> tuple:
    around = (picture(value.__cause__, seen), picture(value.__context__, seen))
    return (picture(value.args, seen), *around, value.__suppress_context__, value.__traceback__ is not None)


def _cell(value: types.CellType, seen: dict) -> Any:
    try:
        return picture(value.cell_contents, seen)
    except ValueError:
        return "empty"


PICTURES: dict[type, Callable] = {
    list: _items,
    tuple: _items,
    set: _items,
    frozenset: _items,
    dict: _entries,
    collections.deque: _items,
    Array: _array,
    types.FunctionType: _function,
    types.MethodType: _method,
    types.GeneratorType: _generator,
    types.CellType: _cell,
    BaseException: _exception,
    type: lambda value, seen: value.__qualname__,
    types.BuiltinFunctionType: lambda value, seen: value.__name__,
}
"""class -> picture of what its C storage holds"""
