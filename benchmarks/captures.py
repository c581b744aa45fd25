"""The time of a capture: from the first call until the graph is called.

    python -m benchmarks.captures NAME ENGINE...

The process has captured another model before. Its first capture of this one is kept for the engine named first only:
the second engine finds what torch remembers of the first's. Further captures follow a reset, the engines in turns.
"""
from __future__ import annotations

import gc
import sys
import time

import torch

from benchmarks.engines import ENGINES, Engine, NoOp
from benchmarks.row import show
from benchmarks.subjects import MODELS, Subject

AGAIN = 3


def capture(engine: Engine, subject: Subject) -> float:
    """Seconds of one capture from nothing, without the run of the graph."""
    engine.reset()
    gc.collect()
    backend = NoOp()
    compiled = engine.compile(subject.function, backend=backend)
    start = time.perf_counter()
    compiled(*subject.arguments, **subject.keywords)
    taken = time.perf_counter() - start - backend.inside
    if not backend.graphs:
        raise RuntimeError(f"{engine.name} captured no graph")
    return taken


def measure(name: str, names: list[str]) -> None:
    engines = [ENGINES[engine]() for engine in names]
    other = MODELS["GPT-2 12" if name == "BERT 12" else "BERT 12"]()
    subject = MODELS[name]()
    subject.function(*subject.arguments, **subject.keywords)
    for engine in engines:
        capture(engine, other)
    first = {engine.name: [capture(engine, subject)] for engine in engines}
    show("first capture", name, {names[0]: first[names[0]]})
    again: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for _ in range(AGAIN):
        for engine in engines:
            again[engine.name].append(capture(engine, subject))
    show("second capture", name, again)


if __name__ == "__main__":
    torch.set_num_threads(1)
    with torch.no_grad():
        measure(sys.argv[1], sys.argv[2:])
