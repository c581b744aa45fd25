"""How a small program is written down, and the list of them all."""
from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

Arguments = tuple[Any, ...]


class Program(NamedTuple):
    """A program: `make` gives a fresh callable with fresh state, `arguments` fresh positional arguments.

    `graphs` is how many graphs the first call is captured into, None where that is nobody's promise; a program of one
    graph is captured under fullgraph=True as well. `calls` are further arguments, besides the variations of the first.
    """

    name: str
    make: Callable[[], Callable[..., Any]]
    arguments: Callable[[], Arguments]
    graphs: int | None
    calls: tuple[Callable[[], Arguments], ...]


PROGRAMS: dict[str, Program] = {}


def floats(*shape: int) -> torch.Tensor:
    """Floats that are all different, negative ones among them."""
    count = torch.Size(shape).numel()
    return (torch.arange(count) * 0.37 - count * 0.11).reshape(shape)


def whole_numbers(*shape: int) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel()).reshape(shape)


def one() -> Arguments:
    return (floats(4, 3),)


def two() -> Arguments:
    return floats(4, 3), floats(4, 3) * 2 + 1


def _add(function: Callable, make: Callable, arguments: Any, graphs: int | None, calls: Sequence[Any]) -> None:
    name = f"{function.__module__.rpartition('.')[2]}:{function.__name__}"
    assert name not in PROGRAMS, f"two programs are named {name}"
    PROGRAMS[name] = Program(name, make, arguments, graphs, tuple(calls))


def program(arguments: Callable[[], Arguments] = one, *calls: Callable[[], Arguments], graphs: int | None = 1) -> Callable:
    """Decorates a function that is a program itself."""

    def register(function: Callable) -> Callable:
        _add(function, lambda: function, arguments, graphs, calls)
        return function

    return register


def fresh(arguments: Callable[[], Arguments] = one, *calls: Callable[[], Arguments], graphs: int | None = 1) -> Callable:
    """Decorates a function that makes a program with state: a module, or a closure."""

    def register(make: Callable) -> Callable:
        _add(make, make, arguments, graphs, calls)
        return make

    return register


def all_programs() -> list[Program]:
    """Every program of every module beside this one."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"tests.pytorch.programs.{module.name}")
    return list(PROGRAMS.values())
