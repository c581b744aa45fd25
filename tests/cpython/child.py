"""Runs one of the running Python's test modules and tells each test's outcome: the other side of `process.py`.

    python -m tests.cpython.child MODULE HOW FIRST [PART ...]

HOW is "plain" (nothing of ours is imported), "forwarding" (the hook is in, and does nothing), "counting" (plain, and the
instructions are counted), "replay" (every frame runs by its entry), or a number n (the same, and each trace stops before its n-th
instruction).  Tests before the FIRST are left out, and those whose names contain none of the PARTs.  Lines of JSON come out: the
name of each test as it starts, its outcome, and figures so far.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import importlib
import io
import json
import logging
import os
import sys
import tempfile
import unittest
import warnings
from collections.abc import Callable, Iterator
from typing import Any

Way = Callable[[Callable, unittest.TestResult], None]
Tell = Callable[..., None]


class Outcomes(unittest.TestResult):
    """Tells the outcome of each test, by its name; of a failed one, the failure's class and first line."""

    def __init__(self, tell: Tell, figures: Callable[[], Any]) -> None:
        super().__init__()
        self.tell = tell
        self.figures = figures
        self.found: dict[str, str] = {}

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.tell(started=test.id())

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.tell(test=test.id(), outcome=self.found.setdefault(test.id(), "passed"), figures=self.figures())

    def addFailure(self, test: unittest.TestCase, error: Any) -> None:
        super().addFailure(test, error)
        self._failed(test, error)

    def addError(self, test: unittest.TestCase, error: Any) -> None:
        super().addError(test, error)
        self._failed(test, error)
        if not isinstance(test, unittest.TestCase):  # a fixture of a class or module, which is never started
            self.tell(started=test.id())
            self.stopTest(test)

    def addSubTest(self, test: unittest.TestCase, subtest: Any, error: Any) -> None:
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._failed(test, error)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.found.setdefault(test.id(), "skipped")

    def addExpectedFailure(self, test: unittest.TestCase, error: Any) -> None:
        super().addExpectedFailure(test, error)
        self.found[test.id()] = "failed as expected"

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.found[test.id()] = "passed unexpectedly"

    def _failed(self, test: unittest.TestCase, error: Any) -> None:
        text = str(error[1]).splitlines()
        self.found[test.id()] = f"{error[0].__name__}: {text[0] if text else ''}"


def plainly(test: Callable, result: unittest.TestResult) -> None:
    test(result)


# -- ways ------------------------------------------------------------------------------------------------------------


class Ready:
    """What a way needs to know: the module, its tests, and whom to tell.  It sets `figures` and gives the way to run a test."""

    def __init__(self, module: Any, tests: list[unittest.TestCase], tell: Tell) -> None:
        self.module = module
        self.tests = tests
        self.tell = tell
        self.figures: Callable[[], Any] = lambda: None


@contextlib.contextmanager
def plain(ready: Ready) -> Iterator[Way]:
    yield plainly


@contextlib.contextmanager
def forwarding(ready: Ready) -> Iterator[Way]:
    """The hook is in, and each frame is evaluated as it is."""
    from frameloom.native import Callable as Compiled, Engine

    engine = Engine(lambda *frame: None)
    yield Compiled(plainly, engine)


@contextlib.contextmanager
def counting(ready: Ready) -> Iterator[Way]:
    """In plain Python, and the instructions of the module's functions are counted."""
    from tests.cpython import counting

    own = counting.Own(ready.module, ready.tests)
    counts: dict = {}

    def run(test: Callable, result: unittest.TestResult) -> None:
        with counting.traced(own, counts):
            test(result)

    ready.figures = lambda: {"executed": counting.untraced(counting.total, counts)}
    yield run


@contextlib.contextmanager
def capturing(ready: Ready, count: int | None) -> Iterator[Way]:
    """Each frame runs by its entry, and each trace stops before its `count`-th instruction."""
    from frameloom import config, native
    from tests.cpython import counting
    from tests.cpython.watched import Figures, Watched
    from tests.toy import stopping

    logging.getLogger("frameloom").setLevel(logging.CRITICAL)  # tests look at what is written to standard error
    figures = Figures()
    ready.figures = native.Callable(figures.summary, None)
    ready.tell = native.Callable(ready.tell, None)  # so that neither is captured
    if count is None:
        domain, force = counting.Counting(), counting.in_force
        own = counting.Own(ready.module, ready.tests)
        compiler = Watched(domain, figures, lambda: counting.count_of(domain, own))
    else:
        compiler, force = Watched(stopping.every(count), figures), stopping.in_force
    compiled = native.Callable(plainly, compiler.engine)

    def run(test: Callable, result: unittest.TestResult) -> None:
        compiled(test, result)
        compiler.reset()  # what runs tests would have an entry for each, and all are tried at every call

    with config.patch(strict=True, recompile_limit=64), force():
        yield run


def way_of(how: str) -> Any:
    named = {"plain": plain, "forwarding": forwarding, "counting": counting, "replay": lambda ready: capturing(ready, None)}
    return named.get(how) or (lambda ready: capturing(ready, int(how)))


# -- tests -----------------------------------------------------------------------------------------------------------


def tests_of(module: Any) -> Iterator[unittest.TestCase]:
    """The tests of a module, doctests among them, one by one, in the order of their names."""
    waiting = [unittest.defaultTestLoader.loadTestsFromModule(module)]
    while waiting:
        found = waiting.pop()
        if isinstance(found, unittest.TestSuite):
            waiting.extend(reversed(list(found)))
        else:
            yield found


def main(tell: Tell, name: str, how: str, first: str, *wanted: str) -> None:
    """Run the tests of a module, as the module says above."""
    from test import support

    support.use_resources = ()
    module = importlib.import_module(f"test.{name}")
    tests = [test for test in tests_of(module) if not wanted or any(part in test.id() for part in wanted)]
    ready = Ready(module, tests, tell)
    with way_of(how)(ready) as way:
        outcomes = Outcomes(ready.tell, ready.figures)
        for test in tests[int(first) :]:
            # Shadows the method: suites call tests, which call `self.run`.
            test.run = functools.partial(way, test.run)  # type: ignore[method-assign]
        unittest.TestSuite(tests[int(first) :]).run(outcomes)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    answer = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what tests print is no part of the answer
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(place)
        main(lambda **told: print(json.dumps(told), file=answer), *sys.argv[1:])
        os.chdir("/")
