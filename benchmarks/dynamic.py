"""What symbolic sizes and numbers cost: calls that hit, and captures, against static ones and against torch.compile(dynamic=True).

    python -m benchmarks.dynamic NAME ENGINE...
"""
from __future__ import annotations

import functools
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.engines import ENGINES, Engine, NoOp
from benchmarks.row import STATIC, show
from benchmarks.subjects import CALLS, DYNAMIC, IN_GRAD_MODE, Subject
from benchmarks.timing import interleaved

WARM = 5
AGAIN = 3


def ready(engine: Engine, subject: Subject, dynamic: bool) -> Callable[[], Any]:
    """A call that hits; one that would be captured again is no subject."""
    backend = NoOp()
    compiled = engine.compile(subject.function, backend=backend, dynamic=dynamic)
    call = functools.partial(compiled, *subject.arguments, **subject.keywords)
    for _ in range(WARM):
        call()
    if backend.graphs != 1:
        raise RuntimeError(f"{engine.name} captured {backend.graphs} graphs")
    return call


def calls(name: str, engines: list[Engine]) -> None:
    static = {engine.name: ready(engine, CALLS[name](), dynamic=False) for engine in engines if engine.name == "frameloom"}
    dynamic = {engine.name: ready(engine, CALLS[name](), dynamic=True) for engine in engines}
    figures = interleaved({**dynamic, **{STATIC: call for call in static.values()}})
    show("dynamic call", name, {engine.name: figures[engine.name] for engine in engines})
    if static:
        show("dynamic over static call", name, {STATIC: figures[STATIC], "frameloom": figures["frameloom"]})


def capture(engine: Engine, subject: Subject, dynamic: bool) -> float:
    """Seconds of one capture from nothing, without the run of the graph."""
    engine.reset()
    gc.collect()
    backend = NoOp()
    compiled = engine.compile(subject.function, backend=backend, dynamic=dynamic)
    start = time.perf_counter()
    compiled(*subject.arguments, **subject.keywords)
    return time.perf_counter() - start - backend.inside


def captures(name: str, engines: list[Engine]) -> None:
    subject = CALLS[name]()
    found: dict[str, list[float]] = {engine.name: [] for engine in engines}
    static: list[float] = []
    for turn in range(AGAIN + 1):
        for engine in engines:
            taken = capture(engine, subject, dynamic=True)
            fixed = capture(engine, subject, dynamic=False) if engine.name == "frameloom" else None
            if turn:  # the first turn imports and remembers
                found[engine.name].append(taken)
                static += [fixed] if fixed is not None else []
    show("dynamic capture", name, found)
    if static:
        show("dynamic over static capture", name, {STATIC: static, "frameloom": found["frameloom"]})


def measure(name: str, names: list[str]) -> None:
    engines = [ENGINES[engine]() for engine in names]
    captures(name, engines)
    for engine in engines:
        engine.reset()
    calls(name, engines)


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] not in DYNAMIC:
        raise SystemExit(f"no subject {sys.argv[1]}: {', '.join(DYNAMIC)}")
    with torch.set_grad_enabled(sys.argv[1].endswith(IN_GRAD_MODE)):
        measure(sys.argv[1], sys.argv[2:])
