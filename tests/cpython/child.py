"""Runs one of the running Python's test modules and tells each test's outcome: the other side of `run.py`.

    python -m tests.cpython.child MODULE HOW

HOW is "plain" (nothing of ours is imported), "forwarding" (the hook is in, and does nothing), "replay" (every frame runs by
its entry), or a number n (the same, and each trace stops before its n-th instruction).  One JSON object comes out.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import unittest
import warnings
from collections.abc import Callable, Iterator
from typing import Any


class Outcomes(unittest.TestResult):
    """The outcome of each test, by its name; of a failed one, the failure's class and first line."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.found.setdefault(test.id(), "passed")

    def addFailure(self, test: unittest.TestCase, error: Any) -> None:
        super().addFailure(test, error)
        self._failed(test, error)

    def addError(self, test: unittest.TestCase, error: Any) -> None:
        super().addError(test, error)
        self._failed(test, error)

    def addSubTest(self, test: unittest.TestCase, subtest: Any, error: Any) -> None:
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._failed(test, error)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.found[test.id()] = "skipped"

    def addExpectedFailure(self, test: unittest.TestCase, error: Any) -> None:
        super().addExpectedFailure(test, error)
        self.found[test.id()] = "failed as expected"

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.found[test.id()] = "passed unexpectedly"

    def _failed(self, test: unittest.TestCase, error: Any) -> None:
        text = str(error[1]).splitlines()
        self.found[test.id()] = f"{error[0].__name__}: {text[0] if text else ''}"


Way = Callable[[unittest.TestCase, unittest.TestResult], None]


def plainly(test: unittest.TestCase, result: unittest.TestResult) -> None:
    test.run(result)


@contextlib.contextmanager
def plain(figures: dict) -> Iterator[Way]:
    yield plainly


@contextlib.contextmanager
def forwarding(figures: dict) -> Iterator[Way]:
    """The hook is in, and each frame is evaluated as it is."""
    from frameloom.native import Callable as Compiled, Engine

    engine = Engine(lambda *frame: None)
    yield Compiled(plainly, engine)
    figures.update(engine.counters())


@contextlib.contextmanager
def capturing(figures: dict, count: int | None) -> Iterator[Way]:
    """Each frame runs by its entry, and each trace stops before its `count`-th instruction."""
    from frameloom import config, native
    from frameloom.symbolic.domain import Domain
    from tests.cpython.watched import Watched
    from tests.toy import stopping

    domain = Domain() if count is None else stopping.every(count)
    compiler = Watched(domain, figures)
    with contextlib.ExitStack() as stack:
        stack.enter_context(config.patch(strict=True, recompile_limit=64))
        if count is not None:
            stack.enter_context(stopping.in_force())
        yield native.Callable(plainly, compiler.engine)
    figures.update(compiler.engine.counters())


def way_of(how: str) -> Any:
    named = {"plain": plain, "forwarding": forwarding, "replay": lambda figures: capturing(figures, None)}
    return named.get(how) or (lambda figures: capturing(figures, int(how)))


def tests_of(module: str) -> Iterator[unittest.TestCase]:
    """The tests of a module, one by one, in the order of their names."""
    waiting = [unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(f"test.{module}"))]
    while waiting:
        found = waiting.pop()
        if isinstance(found, unittest.TestSuite):
            waiting.extend(reversed(list(found)))
        else:
            yield found


def main(module: str, how: str, *wanted: str) -> dict:
    """Run the tests of a module, or those whose names contain one of `wanted`."""
    figures: dict[str, Any] = {}
    outcomes = Outcomes()
    tests = [test for test in tests_of(module) if not wanted or any(part in test.id() for part in wanted)]
    with way_of(how)(figures) as run:
        for test in tests:
            run(test, outcomes)
    return {"outcomes": outcomes.found, "figures": figures}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    answer = os.dup(1)
    os.dup2(2, 1)  # what tests print is no part of the answer
    with contextlib.redirect_stdout(io.StringIO()):
        told = json.dumps(main(*sys.argv[1:]))
    os.write(answer, told.encode())
