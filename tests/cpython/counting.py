"""How many instructions of a test module's own functions run: in plain Python by tracing, in traces by counting handlers.

Both count canonical instructions of function frames whose code comes from the test module, from modules of tests that it
inherits from, or from what they make at run time.  Frames that are never captured do not count: generators, coroutines, and
the bodies of modules and classes.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
import types
import unittest
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from frameloom.bytecode.decode import decode
from frameloom.codegen.resume import origin_of
from frameloom.interpreter import loop
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.registry import HANDLERS
from frameloom.symbolic.domain import Domain

FUNCTION = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
NEVER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Own:
    """Which code objects count."""

    def __init__(self, module: types.ModuleType, tests: Iterable[unittest.TestCase]) -> None:
        classes = {cls for test in tests for cls in type(test).__mro__ if cls.__module__.startswith("test.")}
        modules = {module, *(sys.modules[cls.__module__] for cls in classes if cls.__module__ in sys.modules)}
        self.files = {found.__file__ for found in modules}

    def __call__(self, code: types.CodeType) -> bool:
        if code.co_flags & (FUNCTION | NEVER) != FUNCTION:
            return False
        name = code.co_filename
        return name in self.files or name.startswith("<") and not name.startswith("<frozen ")


# -- in plain Python -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def traced(own: Own, counts: dict[types.CodeType, Counter]) -> Iterator[None]:
    """Count, for each code object and offset, how often an instruction is run."""

    def local(frame: types.FrameType, event: str, _: Any) -> Any:
        if event == "opcode":
            counts[frame.f_code][frame.f_lasti] += 1
        return local

    def entered(frame: types.FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if not own(code):
            return None
        counts.setdefault(code, Counter())
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return local

    threading.settrace(entered)
    sys.settrace(entered)
    try:
        yield
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


def untraced(function: Callable, *args: Any) -> Any:
    """Call a function whose frames are not to be counted."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        return function(*args)
    finally:
        sys.settrace(tracer)


def total(counts: dict[types.CodeType, Counter]) -> int:
    """The canonical instructions behind counts of original ones."""
    return sum(_canonical(code, found) for code, found in counts.items())


def _canonical(code: types.CodeType, found: Counter) -> int:
    program = decode(code)
    offsets = sorted({group.offset for group in program.groups})
    ends = dict(zip(offsets, [*offsets[1:], len(code.co_code)]))
    count = 0
    for group in program.groups:
        if group.first >= program.start:
            count += group.count * max(found[offset] for offset in range(group.offset, ends[group.offset], 2))
    return count


# -- in traces -----------------------------------------------------------------------------------------------------


class Counting(Domain):
    """A domain without operations that knows which instructions of the user's each trace has run, those taken back apart."""

    name = "counting"

    def __init__(self) -> None:
        self.run: list[types.CodeType] = []

    def begin(self, session: Any) -> None:
        self.run = []


def count_of(domain: Counting, own: Own) -> int:
    """How many of the instructions that the last trace has run count."""
    return sum(count for code, count in Counter(domain.run).items() if own(users_code(code)))


def users_code(code: types.CodeType) -> types.CodeType:
    origin = origin_of(code)
    return code if origin is None else origin.code


def _telling(handler: Callable) -> Callable:
    def run(frame: Frame, arg: Any) -> Any:
        program = frame.program
        if frame.index >= program.start:
            code = program.code
            origin = origin_of(code)
            if origin is None or origin.indices[frame.index] is not None:
                session = frame.session
                session.journal.append(session.domain.run, code)
        return handler(frame, arg)

    return run


@contextlib.contextmanager
def in_force() -> Iterator[None]:
    """Every trace made meanwhile must have a `Counting` domain."""
    plain = loop.HANDLERS
    loop.HANDLERS = {name: _telling(handler) for name, handler in HANDLERS.items()}
    try:
        yield
    finally:
        loop.HANDLERS = plain
