"""The classes and functions that programs of the grammar meet."""

from __future__ import annotations

import abc
import collections
import contextlib
import contextvars
import dataclasses
import enum
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from frameloom.interpreter.registry import refuse
from tests.toy.array import Array


class Problem(Exception):
    """Raised by programs."""


class Box:
    """An object with a property, a class attribute and a method."""

    gain = 2

    def __init__(self, n: Any, items: list) -> None:
        self.n = n
        self.items = items

    @property
    def twice(self) -> Any:
        return self.n * self.gain

    @twice.setter
    def twice(self, value: Any) -> None:
        self.n = value + 1

    def apply(self, value: Array, factor: Any) -> Array:
        self.n += 1
        return value * factor + self.gain


class Manager:
    """A context manager that tells what it sees, and swallows exceptions if asked."""

    def __init__(self, log: Callable, tag: Any, swallow: bool) -> None:
        self.log, self.tag, self.swallow = log, tag, swallow

    def __enter__(self) -> "Manager":
        self.log(f"enter {self.tag}")
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.log(f"exit {self.tag} {kind and kind.__name__}")
        return self.swallow


@contextlib.contextmanager
def managed(log: Callable) -> Iterator[int]:
    log("in")
    try:
        yield 5
    finally:
        log("out")


def breaker(value: Any = None) -> Any:
    """Breaks the graph; gives its argument back."""
    return value


def failer(value: Any) -> Any:
    """Breaks the graph, and raises."""
    raise Problem(value)


refuse("FL401", "the test breaks here", breaker, failer)


def breaking(box: Box, value: Any) -> Any:
    """A callee with a break in its middle."""
    before = box.n
    breaker()
    box.items.append(value)
    return before


def gen(count: int) -> Iterator[int]:
    for i in range(count):
        yield i


def logged(tag: str) -> Callable:
    """A decorator with an argument, that keeps its function's name."""

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def call(*args: Any, **names: Any) -> Any:
            return function(*args, **names)

        call.tag = tag
        return call

    return decorate


class Odd:
    """Defines nearly every operator in Python, and tells which ran; with `breaks`, most of them break in their middle."""

    gain = 3

    def __init__(self, n: Any, log: Callable, breaks: bool = False) -> None:
        object.__setattr__(self, "log", log)
        self.n = n
        self.items = [n, 2]
        self.breaks = breaks

    def told(self, name: str) -> None:
        self.log(name)
        if self.breaks:
            breaker(self)

    def __setattr__(self, name: str, value: Any) -> None:
        self.log(f"set {name}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self.log(f"delete {name}")
        object.__delattr__(self, name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("missing"):
            return len(name)
        raise AttributeError(name)

    def __add__(self, other: Any) -> Any:
        self.told("add")
        return self.n + other if isinstance(other, (int, float)) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        self.told("radd")
        return other + self.n

    def __iadd__(self, other: Any) -> "Odd":
        self.told("iadd")
        self.n += other
        return self

    def __matmul__(self, other: Any) -> Any:
        return NotImplemented

    def __neg__(self) -> Any:
        self.told("neg")
        return -self.n

    def __eq__(self, other: Any) -> Any:
        self.told("eq")
        return self.n == (other.n if isinstance(other, Odd) else other)

    def __lt__(self, other: Any) -> bool:
        self.told("lt")
        return self.n < other.n

    def __hash__(self) -> int:
        return hash(self.n)

    def __bool__(self) -> bool:
        self.told("bool")
        return self.n != 2

    def __len__(self) -> int:
        self.told("len")
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        self.told("iter")
        return iter(self.items)

    def __contains__(self, item: Any) -> bool:
        self.told("contains")
        return item in self.items

    def __getitem__(self, index: Any) -> Any:
        self.told("getitem")
        return self.items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.told("setitem")
        self.items[index] = value

    def __delitem__(self, index: Any) -> None:
        self.told("delitem")
        del self.items[index]

    def __index__(self) -> int:
        self.told("index")
        return 1

    def __call__(self, value: Any) -> Any:
        self.told("call")
        return [self.n, value]

    def __format__(self, spec: str) -> str:
        self.told("format")
        return f"odd {self.n}"

    @property
    def twice(self) -> Any:
        self.told("twice")
        return self.n * 2

    @twice.setter
    def twice(self, value: Any) -> None:
        self.told("set twice")
        self.n = value


class Point(collections.namedtuple("Point", "x y")):
    """A named tuple with a method."""

    def norm(self) -> Any:
        return self.x * self.x + self.y * self.y


@dataclasses.dataclass
class Pair:
    """A dataclass."""

    left: Any
    right: Any = None


class Color(enum.Enum):
    """An enum."""

    RED = 1
    BLUE = 2


class Slotted:
    """Slots, one of which stays empty."""

    __slots__ = ("value", "missing")

    def __init__(self, value: Any) -> None:
        self.value = value

    def twice(self) -> Any:
        return self.value * 2


@functools.total_ordering
class Ordered:
    """Compares by two methods that it writes itself."""

    def __init__(self, n: Any) -> None:
        self.n = n

    def __eq__(self, other: Any) -> bool:
        return self.n == other.n

    def __lt__(self, other: Any) -> bool:
        return self.n < other.n


@functools.singledispatch
def shape(value: Any) -> str:
    """Tells of kinds of values."""
    return "other"


@shape.register
def _(value: int) -> str:
    return "number"


@shape.register
def _(value: str) -> str:
    return "text"


@functools.lru_cache(maxsize=2)
def remembered(value: Any) -> list:
    """A list for each value, the same one while it is remembered."""
    return [value]


class Counted:
    """Computes its total once."""

    counted = 0

    @functools.cached_property
    def total(self) -> int:
        self.counted += 1
        return 7


class Told:
    """Keeps its numbers through a data descriptor."""

    class Number:
        """The descriptor."""

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type) -> Any:
            return self if instance is None else instance.__dict__[self.name] * 2

        def __set__(self, instance: Any, value: Any) -> None:
            instance.__dict__[self.name] = value

        def __delete__(self, instance: Any) -> None:
            del instance.__dict__[self.name]

    n = Number()
    other = Number()

    def __init__(self, n: Any) -> None:
        self.n = n


class Seeing:
    """Counts how often its attributes are asked for."""

    def __init__(self, n: Any) -> None:
        self.n = n
        self.asked = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "n":
            self.asked += 1
        return object.__getattribute__(self, name)


class Ending:
    """Tells of its end."""

    def __init__(self, n: Any, log: Callable) -> None:
        self.n = n
        self.log = log

    def __del__(self) -> None:
        self.log(f"end {self.n}")


class Sized(abc.ABC):
    """What has a length."""

    @abc.abstractmethod
    def size(self) -> int:
        """How long it is."""

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        return hasattr(other, "__len__")


variable: contextvars.ContextVar = contextvars.ContextVar("variable", default=0)


class Local(threading.local):
    """State of a thread."""
