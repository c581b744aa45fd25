"""What has to be arranged around a page's program, for kinds that a plain program cannot bring about."""
from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from unittest import mock

from frameloom import config
from tests.native.foreign import build

Stage = Callable[[], contextlib.AbstractContextManager[object]]
FOLDER = Path(__file__).resolve().parent


@contextlib.contextmanager
def _a_fault() -> Iterator[None]:
    """A stage of the pipeline fails, with a user's settings: the tests run with `strict`."""
    pipeline = importlib.import_module("frameloom.compile.pipeline")
    fault = AssertionError("an invariant does not hold")
    with config.patch(strict=False, report_directory="."), mock.patch.object(pipeline, "emit", side_effect=fault):
        yield


@contextlib.contextmanager
def _another_hook() -> Iterator[None]:
    """Another engine has set a hook while one of frameloom's was in, and never calls it."""
    native = importlib.import_module("frameloom.native")
    other = build(FOLDER / "unchained_hook.c")
    native.Callable(lambda: other.put_in(), native.Engine(lambda *_: native.SKIP))()
    try:
        yield
    finally:
        other.take_out()
        native.Callable(lambda: None, native.Engine(lambda *_: native.SKIP))()


@contextlib.contextmanager
def _unsupported(reason: Callable[[], str]) -> Iterator[None]:
    """Frames cannot be captured in this Python."""
    availability = importlib.import_module("frameloom.compile.availability")
    with mock.patch.object(availability, "unsupported", reason):
        yield


def _not_built() -> str:
    return importlib.import_module("frameloom.native").NOT_BUILT


STAGES: Mapping[str, Stage] = MappingProxyType({
    "FL901": _a_fault,
    "FL904": _another_hook,
    "FL907": lambda: _unsupported(lambda: "frameloom knows CPython 3.11, 3.12 and 3.13, not 3.10"),
    "FL913": lambda: _unsupported(_not_built),
})
"""By code: a context in which the program of the page gives its message."""

ALONGSIDE: Mapping[str, frozenset[str]] = MappingProxyType({"FL906": frozenset({"FL102"})})
"""By code: breaks of other kinds that the program cannot do without."""

VARYING: Mapping[str, tuple[str, str]] = MappingProxyType({
    "FL006": (r"\d+ (more callers|calls deep|graph nodes)", r"90 \1"),  # by how much of the stack the caller has left
    "FL901": (r"report in \S+frameloom-doubled-\w+\.txt", "report in /tmp/frameloom-doubled-....txt"),
})
"""By code: what differs from run to run in the message, and what the page shows instead."""


def stage(code: str) -> contextlib.AbstractContextManager[object]:
    """The context in which the program of `code` runs."""
    return STAGES.get(code, contextlib.nullcontext)()


def steady(code: str, message: str) -> str:
    """The message without what differs from run to run."""
    return re.sub(*VARYING[code], message) if code in VARYING else message
