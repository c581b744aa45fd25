"""A capture as it is explained."""

from __future__ import annotations

import types

from frameloom.bytecode.decode import decode
from frameloom.codegen.plan import Break
from frameloom.codegen.render import effects_text, exit_text, show
from frameloom.codegen.resume import state_of
from frameloom.compile.hook import break_report
from frameloom.compile.locations import chain_of, first_line
from frameloom.compile.pipeline import Capture
from frameloom.codegen.written import is_state, written
from frameloom.compile.trace import Trace
from frameloom.diagnostics.location import Location, users_first
from frameloom.report.frames import Check, FrameExplanation, source_lines
from frameloom.symbolic.guards import Guard, text_of


def explained(capture: Capture) -> FrameExplanation:
    """What was made of one frame."""
    trace, plan = capture.trace, capture.plan
    code, graph = trace.program.code, plan.graph
    users = _users_code(trace)
    return FrameExplanation(
        name=_name(code) if users is code else f"{users.co_qualname}, called by {_name(code)}",
        filename=users.co_filename,
        source=source_lines(users),
        checks=tuple(map(_check, capture.guards.guards)),
        graph="" if graph is None else f"{graph.text.rstrip()}\n-> {', '.join(show(node, plan) for node in graph.outputs) or 'nothing'}",
        operations=0 if graph is None else graph.operations,
        effects=effects_text(plan),
        exit=exit_text(plan.exit, plan),
        breaks=(break_report(trace),) if trace.is_break else (),
        seconds=capture.seconds,
    )


def _users_code(trace: Trace) -> types.CodeType:
    """The outermost code of the trace that is the user's own: a module is called through functions of the library."""
    wheres = [part.where for part in (*trace.session.nodes, *trace.session.guards.values())]
    if type(trace.exit) is Break:
        wheres.append(trace.exit.reason.where)
    for where in wheres:
        codes = []
        while where is not None:
            program, _, where = where
            codes.append(program.code)
        for code in reversed(codes):
            if not first_line(code).of_library:
                return code
    return trace.program.code


def _name(code: types.CodeType) -> str:
    """The function's name; for the rest of a function behind a break also the line where it goes on."""
    state = state_of(code)
    if state is None:
        return code.co_qualname
    line = decode(state.code).instructions[state.index].position.lineno
    return f"{code.co_qualname}, the rest" + ("" if line is None else f" from line {line}")


def _check(guard: Guard) -> Check:
    text = text_of(guard, lambda source: written(source, guard.where))
    library, chain = users_first(chain_of(guard.where))
    return Check(text, chain[0] if chain else None, _is_of_code(guard) or _passes_by(guard, bool(library) or _of_library(chain)))


def _of_library(chain: tuple[Location, ...]) -> bool:
    return bool(chain) and chain[0].of_library


def _passes_by(guard: Guard, in_library: bool) -> bool:
    """Whether a check is of what is looked up on the way to something else: by libraries, or of what is private."""
    if guard.check == "IS":
        return in_library and type(guard.source.key) is str and guard.source.base is None
    return guard.check in LOOK_UPS and (in_library or _is_private(guard) or guard.payload is types.CellType)


LOOK_UPS = frozenset(
    {"TYPE", "LENGTH", "LENGTH_AT_LEAST", "KEYS", "HAS_KEY", "NO_KEY", "MEMBER", "NOT_MEMBER", "NO_ATTRIBUTE", "NO_TYPE_ATTRIBUTE"}
)
"""Checks that follow from looking something up, as often as not on the way to something else."""


def _is_of_code(guard: Guard) -> bool:
    if guard.check == "RETURNS":
        return False
    return guard.source.root().step in ("const", "function_globals") or is_state(guard.source, guard.where) or (
        guard.check == "TYPE" and guard.payload is types.FunctionType
    )


def _is_private(guard: Guard) -> bool:
    """Whether what is checked is private to some class, or the absence of an attribute before the class is asked."""
    return guard.check == "NO_ATTRIBUTE" or any(
        step.step == "attribute" and type(step.key) is str and step.key.startswith("_") for step in guard.source.path()
    )
