"""The main job: real models, captured, compared with eager and timed.

    python examples/demo.py [--backend eager inductor] [--model NAME ...]

Nothing is downloaded: the models are tiny and their weights random. With backend `eager` every result must be eager's
to the last bit, with `inductor` it must satisfy the defaults of `torch.testing.assert_close`. The exit status is
non-zero if anything differs or fails.
"""
from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that the script finds the tests' tiny models

import torch
import transformers
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from transformers import DynamicCache

import frameloom
from examples.gpt import PROMPT, Vocabulary, continued, small_gpt
from tests.models.compare import differences
from tests.models.reference import reference
from tests.models.tiny import inputs_for, model_for

DECODED = 8  # tokens decoded one by one in the jobs that decode
TIMED = 0.2  # seconds of calls from which the time of one is taken


@dataclass(frozen=True)
class Job:
    """`run(model)` is the work, done with the eager and with the compiled model; `given` what results may alias."""

    model: torch.nn.Module
    run: Callable[[Any], Any]
    given: Any = ()


@dataclass
class Outcome:
    """One line of the table."""

    name: str
    backend: str
    graphs: int = 0
    operations: int = 0
    breaks: int = 0
    differing: list[str] = field(default_factory=list)
    capture: float = 0.0
    eager: float = 0.0
    compiled: float = 0.0
    failure: str = ""

    @property
    def fine(self) -> bool:
        return not self.differing and not self.failure


def forward(name: str, **keywords: Any) -> Job:
    """One forward pass of a model type."""
    model = model_for(name)
    given = inputs_for(model, masked=True) | keywords
    return Job(model, lambda model: model(**given), [given, list(model.parameters())])


def decoding(name: str) -> Job:
    """A prompt, and then single tokens, each seeing those before it through a cache."""
    model = model_for(name)
    tokens = torch.randint(4, 128, (1, 8 + DECODED), generator=torch.Generator().manual_seed(0))

    def run(model: Any) -> list[torch.Tensor]:
        cache, states = DynamicCache(config=model.config), []
        for start, end in [(0, 8), *((position, position + 1) for position in range(8, 8 + DECODED))]:
            states.append(model(input_ids=tokens[:, start:end], past_key_values=cache).last_hidden_state)
        return states

    return Job(model, run)


def continuation() -> Job:
    """The GPT of the examples continues the prompt that lies beside it."""
    text = PROMPT.read_text(encoding="utf-8")
    vocabulary = Vocabulary(text)
    prompt = vocabulary.encode(text[:24])
    return Job(small_gpt(vocabulary), lambda model: continued(model, prompt, DECODED))


JOBS: dict[str, Callable[[], Job]] = {
    "BERT": lambda: forward("bert"),
    "GPT-2": lambda: forward("gpt2"),
    "Llama": lambda: forward("llama", use_cache=False),
    "Llama, cache": lambda: decoding("llama"),
    "T5": lambda: forward("t5"),
    "ViT": lambda: forward("vit"),
    "Whisper": lambda: forward("whisper"),
    "Mixtral": lambda: forward("mixtral"),
    "small GPT": continuation,
}


def distances(expected: Any, actual: Any) -> list[str]:
    """What `torch.testing.assert_close` says of the tensors in two results, which must be of the same make."""
    pairs = [torch.utils._pytree.tree_flatten(plain(result)) for result in (expected, actual)]
    if pairs[0][1] != pairs[1][1]:
        return [f"the results have different structures: {pairs[0][1]} and {pairs[1][1]}"]
    found = []
    for left, right in zip(pairs[0][0], pairs[1][0]):
        try:
            torch.testing.assert_close(right, left)
        except AssertionError as error:
            found.append(" ".join(str(error).split()))
    return found


def plain(result: Any) -> Any:
    """`result` with caches as the keys and values that they hold."""
    if isinstance(result, DynamicCache):
        return [(layer.keys, layer.values) for layer in result.layers]
    if isinstance(result, transformers.EncoderDecoderCache):
        return [plain(result.self_attention_cache), plain(result.cross_attention_cache)]
    if isinstance(result, dict):
        return {name: plain(value) for name, value in result.items()}
    return result


def time_of(call: Callable[[], Any]) -> float:
    """Seconds of one call, the least of those that fit into the time, after one that warms up."""
    call()
    best, end = float("inf"), time.perf_counter() + TIMED
    while (start := time.perf_counter()) < end:
        call()
        best = min(best, time.perf_counter() - start)
    return best


def examine(name: str, backend: str, say: Callable[[str], None]) -> Outcome:
    """Runs one job eagerly and compiled."""
    outcome = Outcome(name, backend)
    say("building the model")
    job = JOBS[name]()
    with torch.no_grad():
        say("running it eagerly")
        with reference():
            expected = job.run(job.model)
        say("capturing it" if backend == "eager" else "capturing and compiling it (this can take a minute)")
        frameloom.reset()
        try:
            start = time.perf_counter()
            compiled = frameloom.compile(job.model, backend=backend)
            results = [job.run(compiled)]
            outcome.capture = time.perf_counter() - start
            results.append(job.run(compiled))
        except Exception as error:  # shown in the table and in the exit status
            outcome.failure = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            return outcome
        for result in results:
            exact = backend == "eager"
            outcome.differing += differences(expected, result, given=(job.given, job.given)) if exact else distances(expected, result)
        say("timing it")
        outcome.eager, outcome.compiled = time_of(lambda: job.run(job.model)), time_of(lambda: job.run(compiled))
    stats = frameloom.stats()
    outcome.graphs, outcome.operations, outcome.breaks = stats.graphs, stats.ops, sum(stats.breaks.values())
    return outcome


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.2f}"


def table(outcomes: list[Outcome]) -> Table:
    shown = Table(title="tiny models in eval mode under no_grad; times in milliseconds")
    for heading in ("model", "backend", "graphs", "ops", "breaks", "equal", "capture", "eager", "compiled"):
        shown.add_column(heading, justify="left" if heading in {"model", "backend"} else "right")
    for outcome in outcomes:
        equal = "failed" if outcome.failure else "NO" if outcome.differing else "bit for bit" if outcome.backend == "eager" else "close"
        counts = (str(count) for count in (outcome.graphs, outcome.operations, outcome.breaks))
        times = map(milliseconds, (outcome.capture, outcome.eager, outcome.compiled))
        shown.add_row(outcome.name, outcome.backend, *counts, equal, *times)
    return shown


def branch_on_data(x: torch.Tensor) -> torch.Tensor:
    """What no graph can hold: which way to go depends on what is in the tensor."""
    scores = torch.softmax(x, dim=-1)
    if scores.max() > 0.5:
        scores = scores * 2
    return scores.sum()


def explain_a_break(console: Console) -> None:
    console.rule("one graph break, explained")
    frameloom.reset()
    console.print(str(frameloom.explain(branch_on_data)(torch.arange(4.0))), markup=False, highlight=False)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", nargs="*", default=["eager", "inductor"])
    parser.add_argument("--model", nargs="*", default=list(JOBS), choices=list(JOBS), metavar="NAME")
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    transformers.logging.set_verbosity_error()
    warnings.filterwarnings("ignore", module="torch")
    console = Console(width=120)
    outcomes: list[Outcome] = []
    work = [(name, backend) for backend in asked.backend for name in asked.model]
    with Console(stderr=True).status("starting") as status:
        for number, (name, backend) in enumerate(work, start=1):
            say = lambda what: status.update(f"[{number}/{len(work)}] {name} with {backend}: {what}")  # noqa: E731
            outcomes.append(examine(name, backend, say))
    console.print(table(outcomes))
    explain_a_break(console)
    wrong = [outcome for outcome in outcomes if not outcome.fine]
    for outcome in wrong:
        what = outcome.failure or f"{len(outcome.differing)} differences, the first: {outcome.differing[0]}"
        console.print(f"[bold red]{escape(outcome.name)} with {escape(outcome.backend)}:[/] {escape(what)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
