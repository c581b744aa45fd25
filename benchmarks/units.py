"""What one more unit of a program adds to its capture: an instruction, an inlined call, an attribute read, a node.

    python -m benchmarks.units NAME ENGINE...

Two functions are captured, one with twice as many units as the other; the figure is the difference, per unit.
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from benchmarks.captures import capture
from benchmarks.engines import ENGINES, Engine
from benchmarks.row import show
from benchmarks.subjects import Subject

REPEAT = 400
TURNS = 7


class Unit(NamedTuple):
    statement: str
    units: int  # in one statement


UNITS = {
    "instruction": Unit("a = b; b = a", 4),
    "inlined call": Unit("identity(a)", 1),
    "attribute read": Unit("thing.value", 1),
    "node": Unit("x = -x", 1),
}


class Thing:
    def __init__(self) -> None:
        self.value = 1


def identity(value: Any) -> Any:
    return value


def function_of(statement: str, times: int) -> Callable[..., Any]:
    """A function whose body is `statement` over and over, and one operation so that there is a graph."""
    source = "def function(x, a, b, thing):\n" + f"    {statement}\n" * times + "    return x + 1\n"
    scope: dict[str, Any] = {"identity": identity}
    exec(compile(source, f"<{times} times {statement}>", "exec"), scope)
    return scope["function"]


def slope(engine: Engine, unit: Unit) -> float:
    """Seconds a unit."""
    taken = []
    for times in (REPEAT, 2 * REPEAT):
        subject = Subject(function_of(unit.statement, times), (torch.ones(2), 1, 2, Thing()), {})
        taken.append(capture(engine, subject))
    return (taken[1] - taken[0]) / (REPEAT * unit.units)


def measure(name: str, names: list[str]) -> None:
    engines = [ENGINES[engine]() for engine in names]
    figures: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for turn in range(TURNS + 1):
        for engine in engines:
            found = slope(engine, UNITS[name])
            if turn:  # the first warms up
                figures[engine.name].append(found)
    show("unit", name, figures)


if __name__ == "__main__":
    torch.set_num_threads(1)
    with torch.no_grad():
        measure(sys.argv[1], sys.argv[2:])
