"""Runs a test module in processes of its own, and survives what happens to them."""

from __future__ import annotations

import functools
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PATIENCE = float(os.environ.get("CPYTHON_PATIENCE", "300"))
"""Seconds a test may take."""


class Ran(NamedTuple):
    """outcomes: test -> how it ended, in the order they ran.  figures: what was counted.  ends: what the process said where it
    died."""

    outcomes: dict[str, str]
    figures: dict[str, Any]
    ends: list[str]
    seconds: float


@functools.cache
def run(module: str, how: str, wanted: tuple[str, ...] = ()) -> Ran:
    """Run a module in one way; a test in which the process dies or hangs has that outcome, and the next process goes on
    behind it."""
    outcomes: dict[str, str] = {}
    figures: dict[str, Any] = {}
    ends: list[str] = []
    first = 0
    began = time.monotonic()
    while True:
        part = _Process(module, how, first, wanted)
        death = part.follow()
        outcomes.update(part.outcomes)
        _add(figures, part.figures)
        if death is None:
            return Ran(outcomes, figures, ends, time.monotonic() - began)
        ends.append(f"{part.running or 'outside any test'}: {death}\n{part.errors[-3000:]}")
        if part.running is None:
            if not part.started:
                outcomes["(loading)"] = death
            return Ran(outcomes, figures, ends, time.monotonic() - began)
        outcomes[part.running] = death
        first += part.started


def _add(figures: dict[str, Any], more: dict[str, Any]) -> None:
    for name, found in more.items():
        if type(found) is dict:
            _add(figures.setdefault(name, {}), found)
        else:
            figures[name] = figures[name] + found if name in figures else found


class _Process:
    """One run of `child.py`, from a test on to the end, or to its death."""

    def __init__(self, module: str, how: str, first: int, wanted: tuple[str, ...]) -> None:
        self.command = [sys.executable, "-m", "tests.cpython.child", module, how, str(first), *wanted]
        self.outcomes: dict[str, str] = {}
        self.figures: dict[str, Any] = {}
        self.started = 0
        self.running: str | None = None
        self.errors = ""

    def follow(self) -> str | None:
        """Read what it tells; how it died, or None where it came to its end."""
        places = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places)), "PYTHONHASHSEED": "0"}
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(
                self.command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                start_new_session=True,
            )
            hung = not self._read(child)
            if hung:
                os.killpg(child.pid, signal.SIGKILL)
            code = child.wait()
            errors.seek(0)
            self.errors = errors.read().decode(errors="replace")
        if hung:
            return "timed out"
        return None if code == 0 else f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"

    def _read(self, child: subprocess.Popen) -> bool:
        """Read to the end of its answer; False where it says nothing for too long."""
        rest = b""
        with selectors.DefaultSelector() as waiting, child.stdout as pipe:
            waiting.register(pipe, selectors.EVENT_READ)
            while True:
                if not waiting.select(PATIENCE):
                    return False
                read = os.read(pipe.fileno(), 1 << 16)
                if not read:
                    return True
                *lines, rest = (rest + read).split(b"\n")
                for line in lines:
                    self._take(json.loads(line))

    def _take(self, told: dict[str, Any]) -> None:
        if "started" in told:
            self.running = told["started"]
            self.started += 1
        else:
            self.outcomes[told["test"]] = told["outcome"]
            self.figures = told["figures"] or {}
            self.running = None
