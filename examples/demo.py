"""The main job: real models, captured, compared with eager and timed.

    python examples/demo.py [--backend eager inductor] [--model NAME ...]

Nothing is downloaded: the models are tiny and their weights random. With backend `eager` every result must be eager's
to the last bit, with `inductor` it must satisfy the defaults of `torch.testing.assert_close`. The exit status is
non-zero if anything differs, fails, breaks or runs eagerly.
"""
from __future__ import annotations

import argparse
import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
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
TIMED, LEAST = 0.2, 5  # seconds of runs from which the time of one is taken, and how many there are at least
WIDTH = 100


@dataclass(frozen=True)
class Job:
    """`run(model)` is the work, done with the eager and with the compiled model, and calls the model `calls` times.

    `given` is what results may alias.
    """

    model: torch.nn.Module
    run: Callable[[Any], Any]
    calls: int = 1
    given: Any = ()


@dataclass
class Outcome:
    """One line of the table; times in seconds."""

    name: str
    backend: str
    graphs: int = 0
    operations: int = 0
    breaks: int = 0
    ran_eagerly: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    capture: float = 0.0
    eager: float = 0.0
    compiled: float = 0.0
    failure: str = ""

    @property
    def complaint(self) -> str:
        """What is wrong, in one line, or nothing."""
        if self.failure:
            return self.failure
        if self.differing:
            return f"{len(self.differing)} differences, the first: {self.differing[0]}"
        if self.ran_eagerly:
            return f"ran eagerly: {', '.join(self.ran_eagerly)}"
        return f"{self.breaks} graph breaks" if self.breaks else "" if self.graphs else "nothing was captured"

    @property
    def equal(self) -> str:
        if self.failure:
            return "failed"
        return "NO" if self.differing else "bit for bit" if self.backend == "eager" else "close"


def forward(name: str, **keywords: Any) -> Job:
    """One forward pass of a model type."""
    model = model_for(name)
    given = inputs_for(model, masked=True) | keywords
    return Job(model, lambda model: model(**given), given=[given, list(model.parameters())])


def decoding(name: str) -> Job:
    """A prompt, and then single tokens, each seeing those before it through a cache."""
    model = model_for(name)
    tokens = torch.randint(4, 128, (1, 8 + DECODED), generator=torch.Generator().manual_seed(0))

    def run(model: Any) -> list[torch.Tensor]:
        cache, states = DynamicCache(config=model.config), []
        for start, end in [(0, 8), *((position, position + 1) for position in range(8, 8 + DECODED))]:
            states.append(model(input_ids=tokens[:, start:end], past_key_values=cache).last_hidden_state)
        return states

    return Job(model, run, calls=1 + DECODED)


def continuation() -> Job:
    """The GPT of the examples continues the prompt that lies beside it."""
    text = PROMPT.read_text(encoding="utf-8")
    vocabulary = Vocabulary(text)
    prompt = vocabulary.encode(text[:24])
    return Job(small_gpt(vocabulary), lambda model: continued(model, prompt, DECODED), calls=DECODED)


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


def time_of(job: Job, model: Any) -> float:
    """Seconds of one call of `model`, from the shortest of several runs."""
    runs: list[float] = []
    while sum(runs) < TIMED or len(runs) < LEAST:
        start = time.perf_counter()
        job.run(model)
        runs.append(time.perf_counter() - start)
    return min(runs) / job.calls


def differing(job: Job, backend: str, expected: Any, result: Any) -> list[str]:
    """What is not equal, by the measure of the backend."""
    return differences(expected, result, given=(job.given, job.given)) if backend == "eager" else distances(expected, result)


def examine(name: str, backend: str, say: Callable[[str], None]) -> Outcome:
    """Runs one job eagerly and compiled."""
    outcome = Outcome(name, backend)
    say("building the model, running it eagerly")
    job = JOBS[name]()
    with torch.no_grad():
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
            outcome.differing += differing(job, backend, expected, result)
        say("timing it")
        outcome.eager, outcome.compiled = time_of(job, job.model), time_of(job, compiled)
    stats = frameloom.stats()
    outcome.graphs, outcome.operations, outcome.breaks = stats.graphs, stats.ops, sum(stats.breaks.values())
    outcome.ran_eagerly = [str(reason) for reason in stats.eager]
    return outcome


def table(outcomes: list[Outcome]) -> Table:
    shown = Table(title="tiny models in eval mode under no_grad, one thread; time of a call in milliseconds")
    for heading in ("model", "backend", "graphs", "ops", "breaks", "equal to eager", "capture", "eager", "compiled"):
        shown.add_column(heading, justify="left" if heading in {"model", "backend"} else "right")
    for outcome in outcomes:
        counts = (str(count) for count in (outcome.graphs, outcome.operations, outcome.breaks))
        times = (f"{1000 * seconds:.2f}" for seconds in (outcome.eager, outcome.compiled))
        shown.add_row(outcome.name, outcome.backend, *counts, outcome.equal, f"{outcome.capture:.2f} s", *times)
    return shown


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Gives a function that shows what is being done: in one line that changes, or where that is no terminal, in lines."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda what: print(what, file=sys.stderr, flush=True)
        return
    with console.status("starting") as status:
        yield lambda what: status.update(escape(what))


def branch_on_data(x: torch.Tensor) -> torch.Tensor:
    """What no graph can hold: which way to go depends on what is in the tensor."""
    scores = torch.softmax(x, dim=-1)
    if scores.max() > 0.5:
        scores = scores * 2
    return scores.sum()


def explain_a_break(console: Console) -> None:
    console.rule("one graph break, explained")
    frameloom.reset()
    explanation = frameloom.explain(branch_on_data)(torch.arange(4.0))
    console.print(str(explanation), markup=False, highlight=False, soft_wrap=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", nargs="*", default=["eager", "inductor"])
    parser.add_argument("--model", nargs="*", default=list(JOBS), choices=list(JOBS), metavar="NAME")
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    transformers.logging.set_verbosity_error()
    warnings.filterwarnings("ignore", module="torch")
    torch.set_num_threads(1)  # on models this small, threads would only wait for each other
    console = Console(width=WIDTH)
    work = [(name, backend) for backend in asked.backend for name in asked.model]
    outcomes: list[Outcome] = []
    with progress() as show:
        for number, (name, backend) in enumerate(work, start=1):
            outcomes.append(examine(name, backend, lambda what: show(f"[{number}/{len(work)}] {name} ({backend}): {what}")))
    console.print(table(outcomes))
    explain_a_break(console)
    wrong = [outcome for outcome in outcomes if outcome.complaint]
    for outcome in wrong:
        console.print(f"[bold red]{escape(outcome.name)} ({escape(outcome.backend)}):[/] {escape(outcome.complaint)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
