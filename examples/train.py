"""The small GPT learns the text that lies beside it: whole training steps, compiled, beside eager ones.

    python examples/train.py [--backend eager aot_eager inductor] [--steps 30]

One function is a step: forward with dropout, loss, `backward()`, clipping of gradients, AdamW and a schedule of its rate.  Losses and
parameters must be eager's to the last bit with backends that compute with eager's kernels, and close with `inductor`.  Times are medians of steps that
both take in turn.  The exit status is non-zero if the curves differ.
"""
from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
from torch import nn
from torch.nn import functional

import frameloom
from examples.gpt import CONTEXT, PROMPT, Vocabulary, small_gpt
from tests.models.reference import reference

BATCH = 8
EXACT = ("eager", "aot_eager")
TOLERANCE = 1e-3  # of losses, where the backend has kernels of its own


class Run(NamedTuple):
    """What a training run gave: a loss and the seconds of each step, and the parameters at the end."""

    losses: list[float]
    seconds: list[float]
    parameters: list[torch.Tensor]


class Training:
    """A model, its optimizer and its data, and `step`, which takes one batch and gives its loss."""

    def __init__(self, wrap: Callable[[Callable], Callable]) -> None:
        torch.manual_seed(0)
        text = PROMPT.read_text(encoding="utf-8")
        vocabulary = Vocabulary(text)
        self.tokens = vocabulary.encode(text)[0]
        self.length = min(CONTEXT, len(self.tokens) - 1)
        self.data = torch.Generator().manual_seed(1)
        self.model = nn.Sequential(small_gpt(vocabulary), nn.Dropout(0.1)).train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer, 1.0, 0.5, total_iters=10)
        self.call = wrap(self.step)
        self.random = torch.get_rng_state()
        self.run = Run([], [], [])

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        logits = self.model(tokens[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()

    def advance(self) -> None:
        """One step on a random batch, timed; the random numbers are those of this training alone."""
        starts = torch.randint(0, len(self.tokens) - self.length, (BATCH,), generator=self.data)
        batch = torch.stack([self.tokens[start : start + self.length + 1] for start in starts.tolist()])
        torch.set_rng_state(self.random)
        began = time.perf_counter()
        loss = self.call(batch)
        self.run.seconds.append(time.perf_counter() - began)
        self.random = torch.get_rng_state()
        self.run.losses.append(loss.item())
        self.schedule.step()


def compare(backend: str, steps: int) -> tuple[Training, Training, bool]:
    """Train eagerly and compiled in turn; gives both and whether they agree."""
    frameloom.reset()
    plain, compiled = Training(lambda step: step), Training(frameloom.compile(backend=backend))
    for _ in range(steps):
        with reference():
            plain.advance()
        compiled.advance()
    if backend in EXACT:
        pairs = zip(plain.model.parameters(), compiled.model.parameters(), strict=True)
        agree = plain.run.losses == compiled.run.losses and all(torch.equal(one, other) for one, other in pairs)
    else:
        agree = max(abs(one - other) for one, other in zip(plain.run.losses, compiled.run.losses)) < TOLERANCE
    return plain, compiled, agree


def curve(losses: list[float]) -> str:
    """Every few losses in a line."""
    return " ".join(f"{loss:6.3f}" for loss in losses[:: max(1, len(losses) // 8)])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backend", nargs="+", default=["eager", "inductor"])
    parser.add_argument("--steps", type=int, default=30)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    failed = 0
    for backend in given.backend:
        plain, compiled, agree = compare(backend, given.steps)
        failed += not agree
        before, after = (statistics.median(run.run.seconds[given.steps // 2 :]) * 1e3 for run in (plain, compiled))
        print(f"{backend}: {'equal' if agree and backend in EXACT else 'close' if agree else 'DIFFERENT'}")
        print(f"  loss, eager     {curve(plain.run.losses)}")
        print(f"  loss, compiled  {curve(compiled.run.losses)}")
        print(f"  a step: eager {before:.2f} ms, compiled {after:.2f} ms; first steps {sum(compiled.run.seconds[:3]):.1f} s")
        stats = frameloom.stats()
        print(f"  {stats.graphs} graphs, breaks {dict(stats.breaks)}, eager {dict(stats.eager)}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
