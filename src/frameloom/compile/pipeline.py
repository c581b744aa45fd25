"""From a call of a function to an entry: the stages of one capture."""

from __future__ import annotations

import time
import types
from collections.abc import Callable
from typing import Any, NamedTuple

from frameloom import config
from frameloom.bytecode.verify import verify_code
from frameloom.codegen.emit import emit
from frameloom.codegen.plan import Plan
from frameloom.codegen.runtime import Runtime
from frameloom.compile import guard_program, marks  # noqa: F401  marks: rules for frameloom's own functions
from frameloom.compile.cache import CodeRecord, EntryInfo, overwritten
from frameloom.compile.joints import joint
from frameloom.compile.reruns import rerun
from frameloom.compile.trace import Trace, trace
from frameloom.diagnostics import events
from frameloom.native import (
    Entry,
    Slot,
    Tail,
    call_keyed,
    caught,
    enter,
    go_on,
    make_function,
    open_scope,
    resume_function,
    take,
    trampoline,
)
from frameloom.symbolic.signals import RestartCapture

RUNTIME = Runtime(Slot, Tail, caught, resume_function, make_function, open_scope, trampoline, enter, go_on, take, joint, rerun, call_keyed)


class Capture(NamedTuple):
    """One finished capture: the trace, the plan, the code that runs, the guards it stands under, and how long it took."""

    trace: Trace
    plan: Plan
    code: types.CodeType
    guards: guard_program.Lowered
    entry: Entry
    seconds: float


class Refused(Exception):
    """The trace is not to become an entry; `trace` says what it was."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace


def compile_frame(
    function: types.FunctionType,
    code: types.CodeType,
    arguments: tuple,
    domain: Any,
    record: CodeRecord,
    accept: Callable[[Trace], bool] = lambda trace: True,
) -> Capture:
    """Capture one call and make its entry.

    `accept` looks at the trace before the backend does; Refused is raised where it says no.  Raises BackendError, and whatever
    a fault of the compiler raises.
    """
    started = time.perf_counter()
    while True:
        traced = _trace(function, code, arguments, domain, record)
        if not accept(traced):
            raise Refused(traced)
        try:
            return _made(traced, code, domain, started)
        except RestartCapture as restart:  # what a backend gives may be an answer, too
            traced.session.close()
            _settle(restart, code, record)
        except BaseException:
            traced.session.close()
            raise


def _made(traced: Trace, code: types.CodeType, domain: Any, started: float) -> Capture:
    session = traced.session
    plan = Plan(traced.program, session, traced.exit, lambda outputs: domain.finish(session, outputs))
    lowering = guard_program.Lowering(session.guards.values(), code)
    emitted = emit(plan, RUNTIME, lowering.reads)
    if config.current().verify:
        verify_code(emitted.code, emitted.inputs)
    guards = lowering.finish(emitted.packed, emitted.sources)
    info = EntryInfo(guards.guards, overwritten(session))
    entry = Entry(emitted.code, guards.program, emitted.slots, info, inputs=emitted.inputs, depth=session.deepest)
    seconds = time.perf_counter() - started
    events.entry(code.co_qualname, seconds)
    return Capture(traced, plan, emitted.code, guards, entry, seconds)


def _trace(function: types.FunctionType, code: types.CodeType, arguments: tuple, domain: Any, record: CodeRecord) -> Trace:
    """Trace until no question is left that must be settled by beginning again."""
    while True:
        try:
            return trace(function, code, arguments, domain, record.decisions, record.promoted, record.declared)
        except RestartCapture as restart:
            _settle(restart, code, record)


def _settle(restart: RestartCapture, code: types.CodeType, record: CodeRecord) -> None:
    if restart.decision in record.decisions:
        raise AssertionError(f"a settled question was asked again: {restart.decision!r}") from None
    record.decisions |= {restart.decision}
    events.restart(code.co_qualname, str(restart.decision))
