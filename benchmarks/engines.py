"""The two compilers under one interface, and the backend that leaves the graph out of what is measured."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch


class Engine(NamedTuple):
    name: str
    compile: Callable[..., Any]  # compile(fn, backend=...)
    reset: Callable[[], None]


def torch_engine() -> Engine:
    return Engine("torch", torch.compile, torch.compiler.reset)


def frameloom_engine() -> Engine:
    import frameloom

    return Engine("frameloom", frameloom.compile, frameloom.reset)


ENGINES: dict[str, Callable[[], Engine]] = {"torch": torch_engine, "frameloom": frameloom_engine}


class NoOp:
    """A backend whose graphs run once, and give the outputs of that run ever after.

    `graphs` counts them, `inside` is the time their one run took: what a first call took beyond it is the capture.
    """

    def __init__(self) -> None:
        self.graphs = 0
        self.inside = 0.0

    def __call__(self, gm: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        self.graphs += 1
        outputs: Any = None

        def stand_in(*arguments: Any) -> Any:
            nonlocal outputs
            if outputs is None:
                start = time.perf_counter()
                outputs = gm.forward(*arguments)
                self.inside += time.perf_counter() - start
            return outputs

        return stand_in
