"""Runs every benchmark in a process of its own and prints the table of ratios.

    python -m benchmarks [--only GROUP ...] [--subject NAME ...] [--engines torch frameloom] [--markdown FILE]

Groups: calls, dynamic, captures, steps, units, floor. The exit status is non-zero if a benchmark failed.
"""
from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from benchmarks.row import Row, rows_in
from benchmarks.steps import STEPS
from benchmarks.subjects import CALLS, DYNAMIC, MODELS
from benchmarks.table import markdown, print_table
from benchmarks.units import UNITS

TIMEOUT = 600


class Job(NamedTuple):
    group: str  # the module of this package that runs
    subject: str
    engines: tuple[str, ...]


def jobs(engines: tuple[str, ...]) -> Iterator[Job]:
    """Every benchmark; captures twice, so that each engine is once the first."""
    for subject in CALLS:
        yield Job("calls", subject, engines)
    for subject in DYNAMIC:
        yield Job("dynamic", subject, engines)
    for subject in MODELS:
        for order in dict.fromkeys((engines, engines[::-1])):
            yield Job("captures", subject, order)
    for subject in STEPS:
        yield Job("steps", subject, engines)
    for subject in UNITS:
        yield Job("units", subject, engines)
    for subject in MODELS:
        yield Job("floor", subject, ())


def run(job: Job) -> list[Row]:
    """The rows of one benchmark; one row with a note if it failed."""
    command = [sys.executable, "-m", f"benchmarks.{job.group}", job.subject, *job.engines]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return [Row(job.group, job.subject, {}, f"failed: not done after {TIMEOUT} s")]
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return [Row(job.group, job.subject, {}, f"failed: {last[:100]}")]
    return rows_in(done.stdout.splitlines())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], choices=["calls", "dynamic", "captures", "steps", "units", "floor"])
    parser.add_argument("--subject", nargs="*", default=[])
    parser.add_argument("--engines", nargs="*", default=["torch", "frameloom"])
    parser.add_argument("--markdown", type=Path, help="also write the table to this file")
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    console, progress = Console(width=150), Console(stderr=True)
    chosen = [job for job in jobs(tuple(asked.engines))
              if job.group in (asked.only or [job.group]) and job.subject in (asked.subject or [job.subject])]  # fmt: skip
    rows: list[Row] = []
    with progress.status("starting") as status:
        for number, job in enumerate(chosen, start=1):
            status.update(f"[{number}/{len(chosen)}] {job.group}: {job.subject}")
            rows += run(job)
    print_table(rows, console)
    if asked.markdown:
        asked.markdown.write_text(markdown(rows))
    return any(row.note.startswith("failed") for row in rows)


if __name__ == "__main__":
    sys.exit(main())
