"""The cost of a call that hits: guards, dispatch and the way back, without the graph.

    python -m benchmarks.calls NAME ENGINE...
"""
from __future__ import annotations

import functools
import sys

import torch

from benchmarks.engines import ENGINES, NoOp
from benchmarks.row import show
from benchmarks.subjects import CALLS, IN_GRAD_MODE, one_operation
from benchmarks.timing import interleaved

WARM = 5


def measure(name: str, engines: list[str]) -> None:
    subject = CALLS[name]()
    calls, backends = {}, {}
    used = [ENGINES[engine]() for engine in engines]
    for engine in used:  # the first use of one may cost the other all its entries
        first = one_operation()
        engine.compile(first.function, backend=NoOp())(*first.arguments)
    for engine in used:
        backends[engine.name] = NoOp()
        compiled = engine.compile(subject.function, backend=backends[engine.name])
        calls[engine.name] = functools.partial(compiled, *subject.arguments, **subject.keywords)
        calls[engine.name]()
    for _ in range(WARM):
        for call in calls.values():
            call()
    before = {engine: backend.graphs for engine, backend in backends.items()}
    figures = interleaved(calls)
    notes = [f"{engine}: {backend.graphs} graphs" for engine, backend in backends.items() if backend.graphs != 1]
    if before != {engine: backend.graphs for engine, backend in backends.items()}:
        raise RuntimeError(f"something was captured while calls were timed: {notes}")
    show("call", name, figures, "; ".join(notes))


if __name__ == "__main__":
    torch.set_num_threads(1)
    with torch.set_grad_enabled(sys.argv[1].endswith(IN_GRAD_MODE)):
        measure(sys.argv[1], sys.argv[2:])
