"""Draws configuration classes of the installed `transformers`, captures each, and says what became of them.

    python -m tests.models.survey [--seed 0] [--count 60] [--backend eager] [--timeout 120] [--only NAME ...]

A class whose eager model cannot be built or run at a tiny size is replaced by the next one drawn, and counted. Each
model has a process of its own. Verdicts: `whole` (one graph under fullgraph=True, equal to eager), `broken` (more than
one graph, equal), `refused` (nothing captured, or a time-out), `different` (not equal: an error of the compiler).
The table printed at the end is Markdown. The exit status is non-zero if any verdict is `different`.
"""
from __future__ import annotations

import argparse
import collections
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

VERDICTS = ("whole", "broken", "refused", "different")
RESULT = "SURVEY "


@dataclass(frozen=True)
class Row:
    """What became of one model type; `unusable` says why there is no eager model, else it is empty."""

    name: str
    verdict: str = ""
    graphs: int = 0
    operations: int = 0
    reason: str = ""
    unusable: str = ""


def first_line(error: BaseException) -> str:
    """The error's type and the first line of its message that says something, fit for a table cell."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:160].replace("|", "/")


def model_types() -> list[str]:
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return sorted(MODEL_MAPPING_NAMES)


def draw(seed: int, only: list[str]) -> list[str]:
    """All model types in the order in which they are tried."""
    names = only or model_types()
    random.Random(seed).shuffle(names)
    return names


def capture(model: Any, given: dict[str, Any], backend: str, fullgraph: bool) -> tuple[list[int], list[str], Any]:
    """The operations of each graph, the reasons of breaks and eager runs, and the result of a second call."""
    import frameloom
    from tests.models.recorder import Recorder

    frameloom.reset()
    recorder = Recorder()
    compiled = frameloom.compile(model, fullgraph=fullgraph, backend=recorder if backend == "eager" else backend)
    compiled(**given)
    result = compiled(**given)
    stats = frameloom.stats()
    reasons = [*stats.breaks, *stats.eager]
    return recorder.operations or [stats.ops] * stats.graphs, [str(reason) for reason in reasons], result


def judge(model: Any, given: dict[str, Any], expected: Any, backend: str) -> dict[str, Any]:
    """Verdict, graphs, operations and reason of a model that eager runs."""
    from tests.models.compare import differences

    state = [given, list(model.parameters())]
    refusal = ""
    for fullgraph in (True, False):
        try:
            operations, reasons, result = capture(model, given, backend, fullgraph)
        except Exception as error:  # whatever it is, it is the finding
            refusal = refusal or first_line(error)
            continue
        found = differences(expected, result, place=backend == "eager", given=(state, state))
        verdict = "whole" if fullgraph and len(operations) == 1 else "broken" if any(operations) else "refused"
        return {
            "verdict": "different" if found else verdict,
            "graphs": len(operations),
            "operations": sum(operations),
            "reason": found[0] if found else refusal or ", ".join(reasons),
        }
    return {"verdict": "refused", "reason": refusal}


def examine(name: str, backend: str) -> Row:
    """The row of one model type, made in this process."""
    import torch

    from tests.models.reference import reference
    from tests.models.tiny import inputs_for, model_for

    torch.set_num_threads(1)
    try:
        model = model_for(name)
        given = inputs_for(model, masked=True)
        with torch.no_grad(), reference():
            expected = model(**given)
    except Exception as error:  # any failure of the eager model means that there is nothing to compare with
        return Row(name, unusable=first_line(error))
    with torch.no_grad():
        return Row(name, **judge(model, given, expected, backend))


def examine_apart(name: str, backend: str, timeout: float) -> Row:
    """The row of one model type, made in a process of its own."""
    command = [sys.executable, "-m", "tests.models.survey", "--one", name, "--backend", backend]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return Row(name, "refused", reason=f"nothing after {timeout:g} s")
    for line in done.stdout.splitlines():
        if line.startswith(RESULT):
            return Row(**json.loads(line.removeprefix(RESULT)))
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return Row(name, "refused", reason=f"the process ended with status {done.returncode}: {last[:120]}")


def rows(names: list[str], count: int, backend: str, timeout: float) -> Iterator[Row]:
    """Rows in order until `count` usable ones were seen; the unusable come too."""
    usable = 0
    for name in names:
        if usable == count:
            return
        row = examine_apart(name, backend, timeout)
        usable += not row.unusable
        print(f"[{usable}/{count}] {name}: {row.verdict or 'no eager model'} {row.reason or row.unusable}", file=sys.stderr, flush=True)
        yield row


def report(seed: int, found: list[Row]) -> str:
    """The Markdown table: totals, and every model that is not whole with its reason."""
    usable = [row for row in found if not row.unusable]
    totals = collections.Counter(row.verdict for row in usable)
    lines = [
        f"SEED={seed}: {len(usable)} model types captured, {len(found) - len(usable)} more drawn had no eager model.",
        "",
        "| " + " | ".join(VERDICTS) + " |",
        "|" + "---|" * len(VERDICTS),
        "| " + " | ".join(str(totals[verdict]) for verdict in VERDICTS) + " |",
        "",
        "| model type | verdict | graphs | operations | reason |",
        "|---|---|---|---|---|",
    ]
    for row in sorted(usable, key=lambda row: (VERDICTS.index(row.verdict), row.name)):
        lines.append(f"| {row.name} | {row.verdict} | {row.graphs} | {row.operations} | {row.reason} |")
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--backend", default="eager")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    if asked.one:
        print(RESULT + json.dumps(asdict(examine(asked.one, asked.backend))))
        return 0
    found = list(rows(draw(asked.seed, asked.only), asked.count, asked.backend, asked.timeout))
    print(report(asked.seed, found))
    return any(row.verdict == "different" for row in found)


if __name__ == "__main__":
    sys.exit(main())
