"""The cost of a call that hits: guards, dispatch and the way back, without the graph.

    python -m benchmarks.calls NAME ENGINE...
"""
from __future__ import annotations

import functools
import sys

import torch

from benchmarks.engines import ENGINES, NoOp
from benchmarks.row import show
from benchmarks.subjects import CALLS
from benchmarks.timing import interleaved


def measure(name: str, engines: list[str]) -> None:
    subject = CALLS[name]()
    calls, graphs = {}, {}
    for engine in (ENGINES[engine]() for engine in engines):
        backend = NoOp()
        compiled = engine.compile(subject.function, backend=backend)
        calls[engine.name] = functools.partial(compiled, *subject.arguments, **subject.keywords)
        for _ in range(3):
            calls[engine.name]()
        graphs[engine.name] = backend.graphs
    broken = [f"{engine}: {count} graphs" for engine, count in graphs.items() if count != 1]
    show("call", name, interleaved(calls), "; ".join(broken))


if __name__ == "__main__":
    torch.set_num_threads(1)
    with torch.no_grad():
        measure(sys.argv[1], sys.argv[2:])
