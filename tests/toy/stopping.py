"""A domain without operations that stops traces before instructions of choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from frameloom.codegen.resume import origin_of
from frameloom.interpreter import loop
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.registry import HANDLERS
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.signals import GraphBreak


class Stopping(Domain):
    """Breaks each trace where `stops(number)` says so, `number` counting the instructions of the user's since the domain was
    made (`total`) or, for `every`, since the trace began.

    It works inside `in_force` only.
    """

    name = "stopping"

    def __init__(self, stops: Callable[["Stopping"], bool]) -> None:
        self.stops = stops
        self.total = 0
        self.in_trace = 0
        self.stopped = 0

    def begin(self, session: Any) -> None:
        self.in_trace = 0

    def before(self, frame: Frame) -> None:
        """Called before each instruction at which a frame may be left."""
        self.total += 1
        self.in_trace += 1
        if self.stops(self):
            self.stopped += 1
            raise GraphBreak("FL401", "the test stops here")


def every(count: int) -> Stopping:
    """Stops each trace before its `count`-th instruction."""
    return Stopping(lambda domain: domain.in_trace == count)


def only(number: int) -> Stopping:
    """Stops once, before the `number`-th of all instructions."""
    return Stopping(lambda domain: domain.total == number)


def is_stop(frame: Frame) -> bool:
    """Whether a frame can be left before its current instruction: a group of the user's code begins there."""
    program, index = frame.program, frame.index
    if index < program.start or program.group_of(index).first != index:
        return False
    origin = origin_of(program.code)
    return origin is None or origin.indices[index] is not None


def _asking(handler: Callable) -> Callable:
    def run(frame: Frame, arg: Any) -> Any:
        if is_stop(frame):
            frame.session.domain.before(frame)
        return handler(frame, arg)

    return run


@contextmanager
def in_force() -> Iterator[None]:
    """Every trace made meanwhile must have a `Stopping` domain, which is asked before each instruction."""
    plain = loop.HANDLERS
    loop.HANDLERS = {name: _asking(handler) for name, handler in HANDLERS.items()}
    try:
        yield
    finally:
        loop.HANDLERS = plain
