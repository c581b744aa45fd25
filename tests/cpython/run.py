"""Runs the running Python's own tests without and with capture, and compares the outcomes of the tests.

    python -m tests.cpython.run [--ways replay,1,...] [--jobs N] [--tests PART] [--quarter N] [--save DIRECTORY] [MODULE ...]
    python -m tests.cpython.run --forwarding [MODULE ...]

All modules of the table by default, in all ways.  A difference is allowed only where a hook that does nothing makes it too;
`--forwarding` lists those.  `--save` writes what `table.py` reads.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from tests.cpython.modules import MODULES, WAYS, quarter
from tests.cpython.process import Ran, run


class Compared(NamedTuple):
    """different: test -> (plain outcome, outcome under capture), those apart which the hook alone makes different.  executed:
    instructions that plain Python runs, where they were counted."""

    module: str
    how: str
    tests: int
    different: dict[str, tuple[Any, Any]]
    found: Ran
    executed: int | None

    @property
    def faults(self) -> list[str]:
        """Texts of errors of the compiler's own."""
        return self.found.figures.get("faults", [])

    @property
    def share(self) -> float | None:
        """The share of executed instructions that ran symbolically; None where nothing is executed, or it was not counted."""
        return self.found.figures.get("symbolic", 0) / self.executed if self.executed else None

    @property
    def is_same(self) -> bool:
        return not self.different and not self.faults and not self.found.ends

    def __str__(self) -> str:
        """The summary, one line."""
        share = "" if self.share is None else f", share {self.share:.1%}"
        deaths = f", {len(self.found.ends)} deaths" if self.found.ends else ""
        return (
            f"{self.module} {self.how}: {self.tests} tests, {len(self.different)} different, {len(self.faults)} faults{deaths}, "
            f"{self.found.figures.get('captures', 0)} captures{share}, {self.found.seconds:.0f} s"
        )


def differences(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple[Any, Any]]:
    """The tests whose outcomes differ."""
    names = dict.fromkeys([*before, *after])
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def compare(module: str, how: str, wanted: tuple[str, ...] = (), counted: bool = False) -> Compared:
    """One module, run in one way, against plain Python."""
    plain, found = run(module, "plain", wanted).outcomes, run(module, how, wanted)
    different = differences(plain, found.outcomes)
    if different:
        forwarded = run(module, "forwarding", wanted).outcomes
        different = {name: pair for name, pair in different.items() if forwarded.get(name) == pair[0]}
    executed = run(module, "counting", wanted).figures.get("executed") if counted and how == "replay" else None
    return Compared(module, how, len(plain), different, found, executed)


def details(compared: Compared) -> Iterator[str]:
    """What there is to say beyond the summary."""
    for name, (before, after) in compared.different.items():
        yield f"    {name}: {before!r} became {after!r}"
    for end in compared.found.ends:
        yield f"    {end}"
    for fault in compared.faults:
        where, _, text = fault.partition(":")
        yield f"    fault in {where}: {text.strip().splitlines()[-1]}"


def save(directory: Path, compared: Compared) -> None:
    """Write one comparison where `table.py` finds it."""
    version = "%d.%d" % sys.version_info[:2]
    place = directory / version
    place.mkdir(parents=True, exist_ok=True)
    told = {
        "module": compared.module, "how": compared.how, "tests": compared.tests, "different": compared.different,
        "faults": compared.faults, "deaths": compared.found.ends, "executed": compared.executed,
        "symbolic": compared.found.figures.get("symbolic"), "breaks": compared.found.figures.get("breaks"),
    }
    (place / f"{compared.module}-{compared.how}.json").write_text(json.dumps(told))


def list_forwarding(modules: tuple[str, ...]) -> None:
    """Print the differences that a hook makes which does nothing."""
    for module in modules:
        for name, (before, after) in differences(run(module, "plain").outcomes, run(module, "forwarding").outcomes).items():
            print(f"{name}: {before!r} became {after!r}", flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cpython.run")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tests", action="append", default=[])
    parser.add_argument("--quarter", type=int)
    parser.add_argument("--share", action="store_true")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--forwarding", action="store_true")
    asked = parser.parse_args(arguments)
    modules = tuple(asked.modules) or (MODULES if asked.quarter is None else quarter(asked.quarter))
    if asked.forwarding:
        list_forwarding(modules)
        return 0
    wanted, counted = tuple(asked.tests), asked.share or asked.save is not None
    same = True
    with ThreadPoolExecutor(asked.jobs) as workers:
        for compared in workers.map(
            lambda case: compare(*case, wanted, counted), [(module, how) for module in modules for how in asked.ways.split(",")]
        ):
            print(compared, *details(compared), sep="\n", flush=True)
            if asked.save is not None:
                save(asked.save, compared)
            same = same and compared.is_same
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
