"""Generators of random numbers: objects of graphs that run as they are.

Where a seed or a state is set between draws, the order of all of them counts: they are operations of the graph, in program order. Backends that
trace a graph again would run them while compiling only; for these there is one case left, a seed that is set before anything else happens.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Callable

import torch

from frameloom.pytorch import own_code
from frameloom.pytorch.applied import WithBody
from frameloom.pytorch.facts import GeneratorFact, TensorFact, fact
from frameloom.pytorch.state import State
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node

CPU = torch.device("cpu")
STATE = fact(torch.uint8, CPU, (torch.Generator().get_state().numel(),), (1,))
"""What is known of the state of a generator on the CPU, as a tensor."""


class OfGenerator(WithBody):
    """An operation that reads or sets what a generator goes on from; a state or a seed that comes as data may be refused."""

    kind, draws = "FL307", False

    def __init__(self, title: str, run: Callable, may_fail: bool) -> None:
        self.title = title
        self.run = run
        self.may_fail = may_fail
        self.__name__ = self.__qualname__ = run.__name__

    def __call__(self, *operands: Any) -> Any:
        return self.run(*operands)


def get_state(generator: torch.Generator) -> torch.Tensor:
    return generator.get_state()


def set_state(generator: torch.Generator, state: torch.Tensor) -> None:
    generator.set_state(state)


def seed(generator: torch.Generator, number: int) -> None:
    generator.manual_seed(number)


def seed_all(number: int) -> None:
    """Every device's generator."""
    torch.manual_seed(number)


def clone(generator: torch.Generator) -> torch.Generator:
    return generator.clone_state()


MAKE = OfGenerator("torch.Generator", torch.Generator, False)
GET_STATE = OfGenerator("get_state", get_state, False)
SET_STATE = OfGenerator("set_state", set_state, True)
SEED = OfGenerator("manual_seed", seed, True)
SEED_ALL = OfGenerator("torch.manual_seed", seed_all, True)
CLONE = OfGenerator("clone_state", clone, False)


def is_generator(value: Any) -> bool:
    """Whether a value is a generator that the trace follows."""
    return type(value) is Node and type(value.fact) is GeneratorFact


def require(state: State, what: str) -> None:
    """Break where a generator cannot be part of the graph."""
    if state.bodies or state.tries or state.regions_open:
        raise GraphBreak("FL307", f"{what} in a function that an operation of torch runs")
    if not own_code.require(state):
        raise GraphBreak("FL307", f"{what}, and this backend makes code of its own of the graph")


def record(state: State, target: OfGenerator, operands: tuple, cls: type, known: Any) -> Node:
    """An operation on generators that runs where it stands, whoever reads what it gives."""
    node = state.session.record(target, operands, {}, cls, known)
    state.session.journal.set_item(state.impure, node, True)
    return node


def is_state(value: Any) -> bool:
    """Whether a value is a tensor of the kind that holds a generator's state."""
    return type(value) is Node and type(value.fact) is TensorFact and value.fact.ungraded is STATE


def defaults() -> list[torch.Generator]:
    """The generators that operations draw by which are given none."""
    return [torch.default_generator, *(torch.cuda.default_generators if torch.cuda.is_initialized() else ())]


@contextlib.contextmanager
def kept(live: list[Node], own: list[torch.Generator]) -> Iterator[None]:
    """Generators that a graph sets are behind it as they were before, though its operations were run.  `own` are those it is given."""
    if not any(isinstance(node.target, OfGenerator) for node in live):
        yield
        return
    before = _states([*defaults(), *own])
    try:
        yield
    finally:
        _set(before)


def set_back_on_failure(given: list[Node], function: Callable) -> Callable:
    """A graph that fails has drawn nothing: the frame runs again, and draws then."""
    own = [index for index, node in enumerate(given) if is_generator(node)]

    def run(*found: Any) -> Any:
        before = _states([*defaults(), *[found[index] for index in own]])
        try:
            return function(*found)
        except BaseException:
            _set(before)
            raise

    return run


def _states(generators: list[torch.Generator]) -> list[tuple[torch.Generator, torch.Tensor]]:
    return [(generator, generator.get_state()) for generator in generators]


def _set(states: list[tuple[torch.Generator, torch.Tensor]]) -> None:
    for generator, before in states:
        generator.set_state(before)
