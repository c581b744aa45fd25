"""Law 4: whatever a trace did since, rolling back restores all that it knew, and what it does then is as if it had not been.

A trace goes ahead for some instructions, into calls and handlers and breaks, is rolled back, and goes on.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frameloom.interpreter import loop
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.registry import HANDLERS
from frameloom.symbolic.signals import Suspend, SymbolicRaise
from tests.differential.compiled import loaded
from tests.differential.grammar import programs
from tests.differential.world import World
from tests.symbolic.state import Picture, picture
from tests.toy.domain import ToyDomain

from .test_rollback import PROGRAMS, Box
from .tracing import Trace, trace


class Enough(Exception):
    """The trace has gone far enough ahead."""


class Excursions:
    """Goes ahead, from the instructions with given numbers, as many instructions as given, and comes back."""

    def __init__(self, lengths: dict[int, int]) -> None:
        self.lengths = lengths
        self.number = 0
        self.left: int | None = None
        self.made = 0

    def before(self, frame: Frame) -> None:
        """Called before each instruction."""
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Enough
            return
        self.number += 1
        if self.number in self.lengths:
            self.left = self.lengths[self.number]
            self.go(frame)
            self.left = None
            self.made += 1

    def go(self, frame: Frame) -> None:
        session = frame.session
        state, mark = frame.snapshot(), session.mark()
        known = (frame.parent, frame.link, frame.mark, frame.result, dict(frame.origins))
        before, instructions = picture(session, frame), session.instructions
        frame.next, session.frame = frame.index, frame.parent
        try:
            loop.run(session, frame)
        except (Enough, SymbolicRaise, Suspend):
            pass
        session.frame, session.instructions = frame, instructions
        session.rollback(mark)
        frame.restore(state)
        frame.parent, frame.link, frame.mark, frame.result, frame.origins = known
        different = picture(session, frame).difference(before)
        assert different is None, different

    @contextmanager
    def in_force(self) -> Iterator[None]:
        def asking(handler: Callable) -> Callable:
            def run(frame: Frame, arg: Any) -> Any:
                self.before(frame)
                return handler(frame, arg)

            return run

        plain = loop.HANDLERS
        loop.HANDLERS = {name: asking(handler) for name, handler in HANDLERS.items()}
        try:
            yield
        finally:
            loop.HANDLERS = plain


def outcome(traced: Trace) -> Picture:
    """All that a trace ended with."""
    return picture(traced.session, traced.result, traced.chain, traced.reason)


def compare(function: Callable, args: tuple, lengths: dict[int, int]) -> Excursions:
    """The trace with excursions ends as the one without."""
    plain = trace(function, *args, domain=ToyDomain())
    excursions = Excursions(lengths)
    with excursions.in_force():
        again = trace(function, *args, domain=ToyDomain())
    different = outcome(again).difference(outcome(plain), identities=False)
    assert different is None, different
    return excursions


LENGTHS = st.dictionaries(st.integers(1, 60), st.integers(1, 80), min_size=1, max_size=6)


@given(st.sampled_from(PROGRAMS), LENGTHS)
def test_small_programs(program: Callable, lengths: dict[int, int]) -> None:
    compare(program, (Box(),), lengths)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_from_every_instruction_to_the_end(program: Callable) -> None:
    excursions = compare(program, (Box(),), dict.fromkeys(range(1, 1000), 1000))
    assert excursions.made > 20


@given(programs(), st.integers(0, 2), LENGTHS)
@settings(suppress_health_check=list(HealthCheck))
def test_generated_programs(source: str, variant: int, lengths: dict[int, int]) -> None:
    function = loaded(source)
    world = World(variant)
    function.__globals__.update(world.names())
    args = (world.a, world.b, world.box, world.xs, world.table, world.flag, world.other)
    compare(function, args, lengths)
