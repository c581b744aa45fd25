"""Programs given as text, run by Python and compiled, side by side."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any

from frameloom import native
from frameloom.compile.hook import Compiler, Settings
from frameloom.compile.pipeline import Capture
from frameloom.symbolic.domain import Domain

from . import things
from .world import World, picture

VARIANTS = (0, 0, 1, 2, 0)
"""The calls of one comparison: a first one, a second, changed inputs, and back."""

_NUMBERS = itertools.count()


def loaded(source: str, name: str = "program") -> FunctionType:
    """The function that a program defines, in a namespace of its own; its lines are known to tracebacks."""
    filename = f"<differential {next(_NUMBERS)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    space: dict[str, Any] = {"__name__": "differential"}
    exec(compile(source, filename, "exec"), space)
    return space[name]


class Compiled(Compiler):
    """A compiler that counts its captures and keeps every error of its own, since a program may swallow it.

    `keeps`: the captures are kept, and with them every object that they saw.
    """

    def __init__(self, domain: Domain, replay: bool, keeps: bool = True) -> None:
        self.keeps = keeps
        self.captures: list[Capture] = []
        self.faults: list[Exception] = []
        self.instructions = 0
        self.count = 0
        super().__init__(Settings(domain, replay=replay, on_capture=self.captured))

    def captured(self, capture: Capture) -> None:
        self.count += 1
        self.instructions += capture.trace.session.instructions
        if self.keeps:
            self.captures.append(capture)
        else:
            capture.trace.session.close()

    def compile(self, *call: Any) -> Any:
        try:
            return super().compile(*call)
        except Exception as error:
            self.faults.append(error)
            raise

    def of(self, function: FunctionType) -> Callable:
        """The function, compiled."""
        self.root(function.__code__)
        return native.Callable(function, self.engine)


def pictures(function: FunctionType, call: Callable, variants: tuple = VARIANTS) -> list:
    """What each call of the variants leaves, made by `call`; all calls share the function and its globals."""
    found = []
    for variant in variants:
        world = World(variant)
        function.__globals__.update(world.names())
        left = world.run(call, function.__code__.co_filename)
        found.append((left, picture(function.__globals__.get("GLOBAL"), {})))
    things.Odd.gain = 3
    return found


def compare(source: str, domain: Domain, replay: bool = False, variants: tuple = VARIANTS) -> Compiled:
    """Run a program both ways; AssertionError where they differ, and the compiler's own error where it has one."""
    by_python = loaded(source)
    expected = pictures(by_python, by_python, variants)
    by_us = loaded(source)
    compiler = Compiled(domain, replay, keeps=False)
    found = pictures(by_us, compiler.of(by_us), variants)
    if compiler.faults:
        raise compiler.faults[0]
    for number, (one, other) in enumerate(zip(expected, found)):
        assert other == one, f"call {number} (variant {variants[number]}) differs in\n{source}"
    return compiler
