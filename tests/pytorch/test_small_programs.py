"""Small programs such as people write: eager and compiled must not be told apart.

Each is called several times by both: with its arguments, with them again, and with others that differ in size, type,
memory, requires_grad and aliasing. After each call everything that a program can see is compared: the result or the
exception, the arguments, the state of the program, gradients after a backward pass, output, and random states.
"""
from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch.utils._pytree import tree_leaves

import frameloom
from tests.models.compare import differences
from tests.models.recorder import Recorder
from tests.models.reference import reference
from tests.pytorch.programs.program import Program, all_programs
from tests.pytorch.variations import VARIATIONS

pytestmark = pytest.mark.torch
PROGRAMS = all_programs()
WHOLE = [program for program in PROGRAMS if program.graphs == 1]


@pytest.fixture(autouse=True)
def clean():
    frameloom.reset()
    before = torch.is_grad_enabled(), torch.is_warn_always_enabled()
    torch.set_warn_always(True)  # else only the first of two runs is warned
    yield
    torch.set_grad_enabled(before[0])
    torch.set_warn_always(before[1])
    frameloom.reset()


class Trace(NamedTuple):
    """Everything that could be seen of one call."""

    outcome: str
    result: Any
    gradient: Any
    output: str
    warned: list[tuple[type, str]]
    random: tuple[Any, ...]
    grad_mode: bool


def run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Trace:
    """Calls `function` and, where its result leads back to a leaf, runs the backward pass."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome, result = attempt(lambda: function(*arguments))
        grad_mode = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        gradient = attempt(lambda: backward(result)) if outcome == "returned" else None
    warned = [(warning.category, str(warning.message)) for warning in caught]
    states = torch.get_rng_state(), random.getstate()
    return Trace(outcome, result, gradient, stream.getvalue(), warned, states, grad_mode)


def attempt(call: Callable[[], Any]) -> tuple[str, Any]:
    try:
        return "returned", call()
    except Exception as error:  # an exception is an outcome like any other
        return "raised", error


def backward(result: Any) -> None:
    """Accumulates the gradients of all that in `result` depends on a leaf."""
    tensors = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.grad_fn is not None]
    for tensor in tensors:
        tensor.real.sum().backward(retain_graph=True)


def calls_of(program: Program) -> list[tuple[str, Callable[[], tuple[Any, ...]]]]:
    """Name and maker of the arguments of every call."""
    varied = [(name, lambda vary=vary: vary(program.arguments())) for name, vary in VARIATIONS.items()]
    return varied + [(f"call {number}", make) for number, make in enumerate(program.calls)]


class Run:
    """A program under one engine: its own callable, and random states of its own."""

    def __init__(self, program: Program, engine: Callable[[Any], Any], context: Callable[[], Any]):
        self.program = program.make()
        self.callable = engine(self.program)
        self.context = context
        torch.manual_seed(0)
        random.seed(0)
        self.states = torch.get_rng_state(), random.getstate()

    def call(self, arguments: tuple[Any, ...]) -> Trace:
        torch.set_rng_state(self.states[0])
        random.setstate(self.states[1])
        with self.context():
            trace = run(self.callable, arguments)
        self.states = trace.random
        return trace

    def visible(self, arguments: tuple[Any, ...]) -> list[Any]:
        """What the program was given and what it keeps."""
        return [arguments, self.program]


def check(program: Program, engine: Callable[[Any], Any], calls: list[tuple[str, Callable]]) -> None:
    eager = Run(program, lambda function: function, reference)
    compiled = Run(program, engine, contextlib.nullcontext)
    for name, make in calls:
        arguments = make(), make()
        expected, actual = eager.call(arguments[0]), compiled.call(arguments[1])
        given = eager.visible(arguments[0]), compiled.visible(arguments[1])
        found = differences(expected, actual, given=given)
        assert not found, "\n".join([f"the call named {name!r} differs:", *found[:5]])


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_equal_to_eager(program):
    check(program, lambda function: frameloom.compile(function, backend="eager"), calls_of(program))


@pytest.mark.parametrize("program", WHOLE, ids=[program.name for program in WHOLE])
def test_captured_whole(program):
    recorder = Recorder()
    check(program, lambda function: frameloom.compile(function, fullgraph=True, backend=recorder), calls_of(program)[:2])
    assert recorder.graphs <= 1
    assert not frameloom.stats().eager


def test_most_programs_have_operations():
    """Programs that are whole because nothing was captured would prove nothing."""
    empty = []
    for program in WHOLE:
        frameloom.reset()
        recorder = Recorder()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            attempt(lambda: frameloom.compile(program.make(), backend=recorder)(*program.arguments()))
        empty += [] if recorder.graphs else [program.name]
    assert len(empty) < len(WHOLE) // 10, empty


def test_variations_differ():
    """Each variation changes what it says it changes."""
    first = (torch.ones(4, 3), torch.zeros(4, 3))
    taller, wide, grad, memory, row, alias = (
        VARIATIONS[name](first) for name in ("taller", "wider type", "other grad", "other memory", "one row", "aliased")
    )
    assert taller[0].shape == (8, 3)
    assert wide[0].dtype is torch.float64
    assert grad[0].requires_grad
    assert not memory[0].is_contiguous() and torch.equal(memory[0], first[0])
    assert row[0].shape == (1, 3)
    assert alias[0] is alias[1]
