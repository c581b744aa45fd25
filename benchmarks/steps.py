"""What a training step costs with inductor, and the capture of one without it.

    python -m benchmarks.steps NAME ENGINE...

A step is one compiled function: forward with dropout, loss, `backward()`, clipping of gradients, optimizer.  Steps of both engines run in
turns, both with eager's random numbers.  A capture is what the first steps take beyond as many later ones, with a backend that gives back the
graph as it is: the first makes the optimizer's state, the second finds it.
"""
from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from benchmarks.engines import ENGINES, Engine
from benchmarks.row import show
from benchmarks.timing import interleaved, seconds_for
from examples.gpt import PROMPT, Vocabulary, small_gpt

FIRST = 3
"""so many steps until nothing is captured any more"""
AGAIN = 3
TURNS = 61
OPTIONS = {"fallback_random": True}


class Step:
    """A model, its optimizer and one batch; `call` takes a step."""

    def __init__(self, model: nn.Module, given: torch.Tensor, wanted: torch.Tensor) -> None:
        self.model, self.given, self.wanted = model.train(), given, wanted
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def call(self) -> torch.Tensor:
        self.optimizer.zero_grad()
        result = self.model(self.given)
        loss = functional.cross_entropy(result.flatten(0, -2), self.wanted.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()


def small() -> Step:
    torch.manual_seed(0)
    vocabulary = Vocabulary(PROMPT.read_text(encoding="utf-8"))
    tokens = vocabulary.encode(PROMPT.read_text(encoding="utf-8"))[0][: 8 * 17].view(8, 17)
    return Step(nn.Sequential(small_gpt(vocabulary), nn.Dropout(0.1)), tokens[:, :-1], tokens[:, 1:])


def perceptron() -> Step:
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Dropout(0.1)) for _ in range(10)]
    return Step(nn.Sequential(*layers), torch.randn(32, 64), torch.randint(0, 64, (32,)))


STEPS: dict[str, Callable[[], Step]] = {"small GPT": small, "MLP 10": perceptron}


def as_it_is(gm: torch.fx.GraphModule, example_inputs: Any) -> Callable[..., Any]:
    return gm.forward


def compiled(engine: Engine, step: Step, backend: Any) -> Callable[[], Any]:
    options = OPTIONS if backend == "inductor" else None
    return engine.compile(step.call, backend=backend, options=options)


def capture(engine: Engine, make: Callable[[], Step]) -> float:
    """Seconds that the first steps take for being captured."""
    engine.reset()
    gc.collect()
    call = compiled(engine, make(), as_it_is)
    first = seconds_for(call, FIRST)
    return first - seconds_for(call, FIRST)


def measure(name: str, names: list[str]) -> None:
    engines = [ENGINES[engine]() for engine in names]
    for engine in engines:
        capture(engine, STEPS[name])
    found: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for _ in range(AGAIN):
        for engine in engines:
            found[engine.name].append(capture(engine, STEPS[name]))
    show("step capture", name, found)
    calls = {}
    for engine in engines:
        engine.reset()
        calls[engine.name] = compiled(engine, STEPS[name](), "inductor")
        seconds_for(calls[engine.name], FIRST)
    show("training step", name, interleaved(calls, TURNS))


if __name__ == "__main__":
    torch.set_num_threads(1)
    measure(sys.argv[1], sys.argv[2:])
