"""What programs of the grammar meet: objects, managers, a function that breaks, and pictures of what they left behind."""

from __future__ import annotations

import contextlib
import random
import traceback
import types
from typing import Any, Callable

from frameloom.interpreter.registry import refuse

from tests.toy.array import Array, Mode, array


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

    def __init__(self, log: Callable, tag: str, swallow: bool) -> None:
        self.log, self.tag, self.swallow = log, tag, swallow

    def __enter__(self) -> "Manager":
        self.log(f"enter {self.tag}")
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.log(f"exit {self.tag} {kind and kind.__name__}")
        return self.swallow


@contextlib.contextmanager
def managed(log: Callable) -> Any:
    log("in")
    try:
        yield 5
    finally:
        log("out")


def breaker(value: Any = None) -> Any:
    """Breaks the graph; gives its argument back."""
    return value


refuse("FL401", "the test breaks here", breaker)


def breaking(box: Box, value: Any) -> Any:
    """A callee with a break in its middle."""
    before = box.n
    breaker()
    box.items.append(value)
    return before


def gen(count: int) -> Any:
    for i in range(count):
        yield i


class World:
    """One set of arguments and everything a program can change."""

    def __init__(self, variant: int) -> None:
        random.seed(7)
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
        made = {name: globals()[name] for name in ("Problem", "Manager", "managed", "breaker", "breaking", "gen")}
        return {**made, "log": self.logged.append}

    def run(self, function: Callable, filename: str) -> Any:
        """Call the function; gives a picture of the result and of everything it may have changed.  Tracebacks count as far as
        they are in `filename`."""
        args = (self.a, self.b, self.box, self.xs, self.table, self.flag, self.other)
        try:
            outcome = ("returned", function(*args))
        except Exception as error:  # noqa: BLE001  the exception is part of the outcome
            outcome = ("raised", error.args, chain(error, filename))
        return picture([outcome, args, self.logged, random.random(), Mode.tracking], {})


def chain(error: BaseException | None, filename: str) -> list:
    """The classes along `__cause__` and `__context__`, with the places that the tracebacks name."""
    found = []
    while error is not None:
        places = [(f.name, f.lineno, f.colno) for f in traceback.extract_tb(error.__traceback__) if f.filename == filename]
        found.append((type(error).__name__, error.__suppress_context__, error.__cause__ is not None, places))
        error = error.__cause__ or error.__context__
    return found


def picture(value: Any, seen: dict) -> Any:
    """A comparable form with identity relations: an object met again is a number."""
    if value is None or type(value) in (bool, int, float, str):
        return (type(value).__name__, repr(value))
    if id(value) in seen:
        return ("again", seen[id(value)][0])
    seen[id(value)] = (len(seen), value)
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [picture(item, seen) for item in value])
    if isinstance(value, dict):
        return (type(value).__name__, [(picture(k, seen), picture(v, seen)) for k, v in value.items()])
    if isinstance(value, (set, frozenset)):
        return (type(value).__name__, [picture(item, seen) for item in value])
    if isinstance(value, Array):
        storage = seen.setdefault(id(value.storage), (len(seen), value.storage))[0]
        return ("array", storage, value.start, value.numbers(), value.tracked)
    if isinstance(value, types.FunctionType):
        cells = [cell_picture(cell, seen) for cell in value.__closure__ or ()]
        return ("function", value.__qualname__, cells)
    if isinstance(value, types.GeneratorType):
        return ("generator", value.__name__, [picture(item, seen) for item in value])
    if hasattr(value, "__dict__"):
        return (type(value).__name__, picture(dict(vars(value)), seen))
    return (type(value).__name__,)


def cell_picture(cell: Any, seen: dict) -> Any:
    if id(cell) in seen:
        return ("cell again", seen[id(cell)][0])
    seen[id(cell)] = (len(seen), cell)
    try:
        return ("cell", picture(cell.cell_contents, seen))
    except ValueError:
        return ("cell", "empty")
