"""Writes `docs/torch.md`: programs of training scripts, one for each feature, run eagerly, under frameloom and under torch.compile.

    python -m tests.pytorch.features [--write] [WORD ...]

Every program is run in its own state by each of the three, with backends that run the graphs as they are, and all that it gives
is compared with eager's bit for bit.  With WORDs only rows that have one in their name are run.
"""
from __future__ import annotations

import contextlib
import functools
import io
import logging
import random
import sys
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple

import numpy
import torch
from torch.utils._pytree import tree_leaves

import frameloom
from tests.models.reference import reference
from tests.pytorch.scripts import derivatives, loops, modules, randomness, settings, subclasses, transforms  # noqa: F401
from tests.pytorch.scripts.row import ROWS
from tests.pytorch import test_autocast, test_checkpoint, test_function, test_functional_call, test_hooks, test_training_step

PAGE = Path(__file__).parents[2] / "docs" / "torch.md"
Wrap = Callable[[Callable], Callable]


class Feature(NamedTuple):
    """A row: `run(wrap)` runs the program, what is captured of it given through `wrap`, and gives all that shows."""

    group: str
    name: str
    run: Callable[[Wrap], Any]


def features() -> Iterator[Feature]:
    """Every row, in the order of the page."""
    for name, make in test_training_step.OPTIMIZERS.items():
        yield Feature("training step", name, functools.partial(test_training_step.train, make, steps=4))
    for function in (*test_autocast.WHOLE, test_autocast.broken):
        yield Feature("autocast", function.__name__, lambda wrap, f=function: test_autocast.results(wrap(f), True))
    for function in test_function.WHOLE:
        yield Feature("autograd.Function", function.__name__, lambda wrap, f=function: test_function.outcome(f, wrap))
    for function in (*test_checkpoint.WHOLE, *map(checkpointed, test_checkpoint.TWICE)):
        yield Feature("checkpoint", function.__name__, lambda wrap, f=function: test_checkpoint.outcome(f, wrap))
    for function in test_hooks.FUNCTIONS:
        yield Feature("tensor hooks", function.__name__, lambda wrap, f=function: hooked(f, wrap))
    for kind in test_hooks.MODULES:
        yield Feature("module hooks", kind, functools.partial(module_hooked, kind))
    for name in ("doubled", "buffers", "raises", "unknown"):
        function = getattr(test_functional_call, name)
        yield Feature("functional_call", name, lambda wrap, f=function: test_functional_call.outcome(f, wrap))
    for name in ("each_gradient", "forward_mode", "kernel", "numpy_random", "seeds", "subclass", "twice_derived"):
        function = getattr(test_functional_call, name)
        yield Feature("other", name, lambda wrap, f=function: wrap(f)(torch.arange(6.0).view(2, 3)))
    for group, program in ROWS:
        yield Feature(group, program.__name__, program)


def checkpointed(body: Callable) -> Callable:
    def step(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return test_checkpoint.checkpoint(body, x * 2, w, use_reentrant=False).sin()

    step.__name__ = f"a function that {body.__name__}"
    return step


def hooked(function: Callable, wrap: Wrap) -> Any:
    called = wrap(function)
    return [test_hooks.outcome(called, test_hooks.nothing, test_hooks.nothing) for _ in range(2)]


def module_hooked(kind: str, wrap: Wrap) -> Any:
    test_hooks.LOG.clear()
    torch.manual_seed(0)
    model = test_hooks.Model()
    test_hooks.MODULES[kind](model)
    called = wrap(model)
    x = torch.arange(3.0, requires_grad=True)
    result = called(x)
    result.sum().backward()
    return [result.detach(), x.grad, *[p.grad for p in model.parameters()], list(test_hooks.LOG)]


class Answer(NamedTuple):
    """What an engine did with a program."""

    text: str
    whole: bool
    equal: bool


def attempt(run: Callable[[Wrap], Any], wrap: Wrap) -> list:
    """The leaves of what shows; an exception by its class and the first line of its text."""
    torch.manual_seed(0)
    numpy.random.seed(0)
    random.seed(0)
    test_checkpoint.TABLE.zero_()
    test_checkpoint.NORM.reset_running_stats()
    try:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            found = tree_leaves(run(wrap))
        return [*found, output.getvalue(), torch.get_rng_state()]
    except Exception as error:  # what a program raises is what shows of it
        return [type(error).__name__, str(error).partition("\n")[0]]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return type(one) is type(other) and one.dtype == other.dtype and torch.equal(one.detach(), other.detach())
    if type(one).__eq__ is object.__eq__:
        return type(one) is type(other)
    return type(one) is type(other) and one == other


def equal(found: list, expected: list) -> bool:
    return len(found) == len(expected) and all(map(same, found, expected))


def under_frameloom(run: Callable, expected: list) -> Answer:
    frameloom.reset()
    found = attempt(run, frameloom.compile(backend="eager"))
    stats = frameloom.stats()
    text = ", ".join(f"{code} x {count}" for code, count in sorted({**stats.breaks, **stats.eager}.items())) or "whole"
    return Answer(text, not stats.breaks and not stats.eager, equal(found, expected))


def under_torch_compile(run: Callable, expected: list) -> Answer:
    """It is asked twice: as it is, and whole, which raises where it breaks."""
    torch.compiler.reset()
    found = attempt(run, lambda function: torch.compile(function, backend="eager"))
    torch.compiler.reset()
    whole = equal(attempt(run, lambda function: torch.compile(function, backend="eager", fullgraph=True)), found)
    return Answer("whole" if whole else "broken", whole, equal(found, expected))


def row(feature: Feature) -> str:
    with reference():
        expected = attempt(feature.run, lambda function: function)
    ours, theirs = under_frameloom(feature.run, expected), under_torch_compile(feature.run, expected)
    return f"| {feature.group} | {feature.name.replace('_', ' ')} | {ours.text} | {_word(ours)} | {theirs.text} | {_word(theirs)} |"


def _word(answer: Answer) -> str:
    return "yes" if answer.equal else "**no**"


HEAD = """# Features of training scripts

Written by `python -m tests.pytorch.features --write`: one small program for each feature, in a few calls each, with torch {torch}. *Whole*:
nothing of the program ran outside a graph but its returns; else the graph breaks over all calls, by code (`docs/breaks`), and *broken* where
`torch.compile(fullgraph=True)` does not give what it gives without. *Equal*: results,
gradients, states, output and random numbers are eager's bit for bit (eager as it is where `torch.compiler.is_compiling()` is True).
`backward()` inside the function is one break (FL306) for each graph that leads to it.

{counts}

| group | program | frameloom | equal | torch.compile | equal |
|---|---|---|---|---|---|
"""


def page(words: list[str]) -> str:
    """The page, its rows run again, or those that are named."""
    known = {tuple(cells(line)[:2]): line for line in PAGE.read_text().splitlines() if line.startswith("| ")}
    rows = []
    for feature in features():
        name = feature.name.replace("_", " ")
        text = known.get((feature.group, name))
        if text is None or not words or any(word in f"{feature.group} {name}" for word in words):
            text = row(feature)
            print(text, flush=True)
        rows.append(text)
    counts = f"{len(rows)} programs. " + " ".join(
        f"{name}: {sum(cells(text)[place] == 'whole' for text in rows)} whole, {sum(cells(text)[place + 1] != 'yes' for text in rows)} not equal."
        for name, place in (("frameloom", 2), ("torch.compile", 4))
    )
    return HEAD.format(torch=torch.__version__.partition("+")[0], counts=counts) + "\n".join(rows) + "\n"


def cells(text: str) -> list[str]:
    """What a row says."""
    return [cell.strip() for cell in text.strip("|").split(" | ")]


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    written = page([word for word in arguments if word != "--write"])
    if "--write" in arguments:
        PAGE.write_text(written)


if __name__ == "__main__":
    main(sys.argv[1:])
