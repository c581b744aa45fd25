"""Runs the running Python's own tests without and with capture, and compares the outcomes of the tests.

    python -m tests.cpython.run [MODULE ...]     all modules of the table by default

A difference is allowed only where a hook that does nothing makes it too.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.cpython.modules import MODULES

ROOT = Path(__file__).parents[2]
WAYS = ("replay", "1", "2", "3", "5", "7")
"""How the tests are run: each frame by its entry; the same with traces that stop before their n-th instruction."""


class Compared(NamedTuple):
    """different: test -> (plain outcome, outcome under capture), those apart which the hook alone makes different."""

    module: str
    how: str
    tests: int
    different: dict[str, tuple[Any, Any]]
    figures: dict[str, Any]

    def __str__(self) -> str:
        """The summary, one line."""
        broken = sum(self.figures["breaks"].values())
        share = self.figures["instructions"] / max(1, self.figures["instructions"] + broken)
        return (
            f"{self.module} {self.how}: {self.tests} tests, {self.tests - len(self.different)} same, "
            f"{len(self.different)} different, {len(self.figures['faults'])} faults, {self.figures['captures']} captures, "
            f"{share:.1%} of the instructions that traces met ran symbolically"
        )


@functools.cache
def run(module: str, how: str) -> dict[str, Any]:
    """What `child.py` says, in a process of its own."""
    places = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places)), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.cpython.child", module, how], cwd=ROOT, env=environment, capture_output=True, timeout=1200
    )
    if done.returncode:
        raise RuntimeError(f"{module} {how} ended with {done.returncode}:\n{done.stderr.decode(errors='replace')[-3000:]}")
    return json.loads(done.stdout)


def compare(module: str, how: str) -> Compared:
    """One module, run in one way, against plain Python."""
    plain, found = run(module, "plain")["outcomes"], run(module, how)
    outcomes = found["outcomes"]
    different = {name: (plain.get(name), outcomes.get(name)) for name in {*plain, *outcomes} if plain.get(name) != outcomes.get(name)}
    if different:
        forwarded = run(module, "forwarding")["outcomes"]
        different = {name: pair for name, pair in different.items() if forwarded.get(name) == pair[0]}
    return Compared(module, how, len(plain), different, found["figures"])


def main(*modules: str) -> int:
    """Compare modules in all ways; the number of differences."""
    count = 0
    for module in modules or MODULES:
        for how in WAYS:
            compared = compare(module, how)
            print(compared, flush=True)
            for name, (before, after) in compared.different.items():
                print(f"    {name}: {before!r} became {after!r}")
            for fault in compared.figures["faults"]:
                print(f"    fault: {fault.strip().splitlines()[-1]}")
            count += len(compared.different) + len(compared.figures["faults"])
    return count


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
