"""The engine's callback: what happens when a frame is met that no entry fits.

The one place where internal errors are caught.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple

from frameloom import config
from frameloom.codegen.plan import Break
from frameloom.codegen.resume import ByCode, origin_of, state_of, users_code
from frameloom.compile import collector, foundations, logs, profile, recompiles, stances
from frameloom.compile.cache import CodeRecord, Records
from frameloom.compile.locations import caller, chain_of, first_line
from frameloom.compile.pipeline import Capture, Refused, compile_frame
from frameloom.compile.policy import MOST_FRUITLESS, Verdict, is_fruitless, verdict
from frameloom.compile.recompiles import Miss
from frameloom.compile.trace import Trace, path_of
from frameloom.compile.whole_frames import measures_memory
from frameloom.diagnostics import events
from frameloom.diagnostics.errors import FrameloomError, GraphBreakError, InternalError, RecompileError, RecompileLimitReached
from frameloom.diagnostics.failure import write_report
from frameloom.diagnostics.reports import REFUSED, RESUMES, BreakReport
from frameloom.native import SKIP, SKIP_BELOW, Engine
from frameloom.symbolic.declared import Declared
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.source import Missing, Source

ANSWERS = {Verdict.PASS: SKIP, Verdict.LEAVE: SKIP_BELOW}
STAYS_WHOLE = "the function runs as it is, and what it calls is looked at"
NOTICES = {
    "tracing": "FL903", "stack": "FL905", "interpreter": "FL907", "given_up": "FL906", "busy": "FL914", "unseen": "FL904"
}


class Settings(NamedTuple):
    """How one compiled callable wants its frames.

    domain: what operations are.  fullgraph: a graph break is an error.  replay: every frame gets an entry, whether it has
    operations or not, and whatever file it is of (tests of the language).  on_capture: called with each Capture.
    declared: what the program says of the arguments of the function that it compiles.
    """

    domain: Domain
    fullgraph: bool = False
    replay: bool = False
    on_capture: Callable[[Capture], None] | None = None
    declared: Declared | None = None


class Compiler:
    """Compiles the frames of one compiled callable, and of whatever it calls.  `engine` is its native side."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.records = Records()
        self.roots: ByCode[bool] = ByCode()
        self.endless: ByCode[bool] = ByCode()
        self.engine = Engine(self.compile, self.notice)
        self.again = 0  # recompiles of all that is captured
        self.untold = 0  # calls that ran eagerly while a built-in name was replaced, and the name
        self.replaced = ""

    def root(self, code: types.CodeType) -> None:
        """The user asked for the function with this code."""
        self.roots.set(code, True)

    def reset(self) -> None:
        """Forget every entry and every record."""
        self.engine.reset()
        self.records.clear()
        self.again = 0
        self.endless = ByCode()

    # -- called by the engine --------------------------------------------------------------------------------------
    def compile(self, function: types.FunctionType, code: types.CodeType, arguments: tuple, misses: tuple) -> Any:
        """An Entry for the call, or a decision to run it eagerly.  Raises errors that are the user's to see."""
        if stances.captures_nothing():
            events.eager(BreakReport.of("FL916", (first_line(code),), f"set_stance({stances.current()!r})"), tell=False)
            return None
        name = foundations.replaced()
        if name is not None:
            self.untold += 1
            self.replaced = name
            return None
        if self.untold:
            self._tell_of_replaced(code)
        if self._goes_on_without_end(code):
            return SKIP
        answer = ANSWERS.get(verdict(function, code, self._asked_for(code)))
        if answer is not None:
            return answer
        record = self._record_of(code)
        try:
            if self._is_unfit(code):
                return None
            if misses and not self._learn(function, code, arguments, misses, record):
                return None
            return self._capture(function, code, arguments, record)
        except Exception as error:  # noqa: BLE001  the one place: a fault of the compiler must not become the program's
            if isinstance(error, FrameloomError) and not isinstance(error, InternalError):
                raise
            if isinstance(error, RecursionError) and _stack_was_short():
                events.eager(BreakReport.of("FL905", (first_line(code),), "not enough for this capture"))
                return None
            if config.current().strict:
                raise InternalError(f"{type(error).__name__}: {error}") from error
            self._announce_fault(error, code)
            return SKIP

    def notice(self, kind: str) -> None:
        """Frames run eagerly for a reason of the interpreter's; they are counted in C."""
        events.eager(BreakReport.of(NOTICES[kind], caller(sys._getframe(1))), tell=kind != "busy", counted=True)

    def _tell_of_replaced(self, code: types.CodeType) -> None:
        """Now that the built-in names are what they were, say what could not be said meanwhile: telling needs them too."""
        told, self.untold = self.untold, 0
        for _ in range(told):
            events.eager(BreakReport.of("FL915", (first_line(code),), f"{self.replaced} was another meanwhile"))

    def _is_unfit(self, code: types.CodeType) -> bool:
        """Whether the domain says that nothing must be captured now."""
        reason = self.settings.domain.unfit()
        if reason is not None:
            kind, detail = reason
            events.eager(BreakReport.of(kind, (first_line(code),), detail))
        return reason is not None

    def _goes_on_without_end(self, code: types.CodeType) -> bool:
        """Whether the code goes on behind a break that a trace made because it was too long: another one would be too."""
        return state_of(code) is not None and self.endless.get(users_code(code)) is True

    def _record_of(self, code: types.CodeType) -> CodeRecord:
        """What is known of a code object: what was declared, what this process has found out, and what earlier ones have."""
        record = self.records.find(code)
        if record is None:
            record = self.records.of(code)
            if self.roots.get(users_code(code)) is True:
                record.declared = self.settings.declared
            profile.restore(record, code, self.settings.domain)
        return record

    # -- stages ----------------------------------------------------------------------------------------------------
    def _learn(
        self, function: types.FunctionType, code: types.CodeType, arguments: tuple, misses: tuple, record: CodeRecord
    ) -> bool:
        """Tell why the call fitted no entry, and draw what follows for the next one; False where the limit is reached."""
        if not self._may_recompile(code):
            return False
        scope = recompiles.scope_of(function, code, arguments)
        miss = recompiles.first_miss(misses, scope)
        report = None
        if miss is not None:
            known = len(record.decisions), len(record.promoted)
            self._draw(miss, misses, record)
            self._draw_from_all(misses, scope, record)
            sizes, numbers = len(record.decisions) > known[0], len(record.promoted) > known[1]
            done = recompiles.what_is_done(sizes, numbers, is_drawn(miss) and path_if_any(miss.guard.source) in record.promoted)
            report = recompiles.report(miss, code, len(self.engine.entries(code)), record.again + 1, done)
        if stances.fails_on_recompile():
            raise RecompileError(report)
        if report is not None:
            events.recompile(report)
        record.again += 1
        self.again += 1
        profile.keep(record, code, self.settings.domain)
        return True

    def _may_recompile(self, code: types.CodeType) -> bool:
        """Whether no limit is reached.  Raises RecompileLimitReached where the settings want that."""
        settings, entries = config.current(), self.engine.entries(code)
        if self.again >= settings.accumulated_recompile_limit:
            detail = f"{self.again} recompiles of all that is captured here, the accumulated limit"
        elif len(entries) < settings.recompile_limit:
            return True
        elif settings.at_limit == "replace":
            entries[-1].invalidate()
            return True
        else:
            detail = f"{len(entries)} entries, and none fits this call"
        report = BreakReport.of("FL902", (first_line(code),), detail)
        if settings.fail_on_recompile_limit:
            raise RecompileLimitReached(report)
        events.eager(report)
        return False

    def _draw_from_all(self, misses: tuple, scope: Any, record: CodeRecord) -> None:
        """Draw what follows from every guard that failed in the entry that was tried first."""
        domain = self.settings.domain
        decided: frozenset = frozenset()
        for other in recompiles.all_misses(misses, scope, domain.decides | {"EQUAL", "LENGTH"}):
            if other.guard.check in domain.decides:
                decided |= domain.decide(other.guard, other.found)
            elif not domain.varies:
                continue
            elif other.guard.check == "LENGTH":
                if recompiles.only_counts(other, misses):
                    record.promoted.add((*path_of(other.guard.source), ("length", None)))
            elif is_drawn(other):
                record.promoted.add(path_of(other.guard.source))
        if decided:
            record.decisions = record.decisions.union(
                decided, *[domain.likely(guard, scope) for guard in recompiles.guards_of(misses, domain.decides)]
            )

    def _draw(self, miss: Miss, misses: tuple, record: CodeRecord) -> None:
        path = path_if_any(miss.guard.source)
        if path is not None and any(path in entry.info.overwritten for entry, _ in misses):
            record.promoted.add(path)

    def _capture(self, function: types.FunctionType, code: types.CodeType, arguments: tuple, record: CodeRecord) -> Any:
        events.frame(code.co_qualname, first_line(code))
        with collector.paused():
            captured = self._compiled(function, code, arguments, record)
            if captured is None:
                return SKIP_BELOW if measures_memory(code) else SKIP
            self._tell(captured.trace, captured.plan.graph, code)
            logs.write(captured)
            if self.settings.on_capture is not None:
                self.settings.on_capture(captured)
            else:
                captured.trace.session.close()
        if is_fruitless(captured.plan) and not self._asked_for(code):
            return self._fruitless(record)
        record.fruitless = 0
        return captured.entry

    def _asked_for(self, code: types.CodeType) -> bool:
        """Whether the frame is one that gets an entry in any case: the user's function, or what goes on behind a break of it."""
        return self.settings.replay or self.roots.get(code) is True or origin_of(code) is not None

    def _accept(self, trace: Trace) -> bool:
        return not (self.settings.fullgraph and trace.is_break or trace.must_stay_whole)

    def _compiled(self, function: types.FunctionType, code: types.CodeType, arguments: tuple, record: CodeRecord) -> Capture | None:
        """The capture; None where the function must run as a whole."""
        try:
            return compile_frame(function, code, arguments, self.settings.domain, record, self._accept)
        except Refused as refused:
            if not refused.trace.is_break:  # the program raises where a resume function begins: it does so as it is
                self._tell_of_exception(refused.trace)
                refused.trace.session.close()
                return None
            broken = break_report(refused.trace, REFUSED if self.settings.fullgraph else STAYS_WHOLE)
            refused.trace.session.close()
        if self.settings.fullgraph:
            raise GraphBreakError(broken)
        events.graph_break(broken)
        return None

    def _fruitless(self, record: CodeRecord) -> Any:
        """There was nothing to capture: this call runs as it is, and after a few such calls all do."""
        record.fruitless += 1
        return SKIP if record.fruitless >= MOST_FRUITLESS else None

    def _tell(self, trace: Trace, graph: Any, code: types.CodeType) -> None:
        if graph is not None:
            events.graph(code.co_qualname, graph.operations, lambda: graph.text)
        if trace.is_break:
            events.graph_break(break_report(trace))
            if trace.exit.reason.kind == "FL007":
                for frame in trace.exit.frames:
                    self.endless.set(users_code(frame.program.code), True)
        elif type(trace.exit) is Break:
            self._tell_of_exception(trace)

    def _tell_of_exception(self, trace: Trace) -> None:
        events.user_exception(exception_class(trace), next(iter(chain_of(trace.exit.reason.where)), None))

    def _announce_fault(self, error: Exception, code: types.CodeType) -> None:
        try:
            place = f"report in {write_report(error, code)}"
        except OSError as failed:
            place = f"no report could be written: {failed}"
        events.eager(BreakReport.of("FL901", (first_line(code),), f"{type(error).__name__}: {error}", notes=(place,)))


def path_if_any(source: Source) -> tuple | None:
    """The path of a source; None where it begins at an object that is gone, which the next capture cannot begin at."""
    try:
        return path_of(source)
    except Missing:
        return None


def is_drawn(miss: Miss) -> bool:
    """Whether a number that was guarded by value is read at run time from its second value on."""
    kinds = {type(miss.guard.payload), type(miss.found)}
    return len(kinds) == 1 and kinds.pop() in (int, float)


ROOM = 400
"""Where so many calls are left, a capture that runs into the limit of recursion goes round in a circle of its own."""


def _stack_was_short() -> bool:
    """Whether the program itself had used up most of what recursion is allowed."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return sys.getrecursionlimit() - depth < ROOM


REST = {"FL007": "the rest of the function runs as it is"}


def break_report(trace: Trace, then: str | None = None) -> BreakReport:
    """What to tell about the graph break that ended a trace."""
    reason = trace.exit.reason
    operations = sum(node.tape == "graph" and node.real is None for node in trace.session.nodes)
    then = then or REST.get(reason.kind, RESUMES)
    return BreakReport.of(reason.kind, chain_of(reason.where), reason.details, operations, then, help=reason.help or "")


def exception_class(trace: Trace) -> type[BaseException]:
    """The class of the exception that ended a trace, as far as it is known."""
    return getattr(trace.exit.reason, "cls", BaseException)
