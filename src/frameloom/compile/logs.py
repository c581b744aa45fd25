"""A capture in the readable logs: its guards, and what its entry does."""

from __future__ import annotations

from frameloom.codegen.render import render
from frameloom.compile.locations import chain_of
from frameloom.compile.pipeline import Capture
from frameloom.codegen.written import written
from frameloom.diagnostics import events
from frameloom.diagnostics.location import users_first
from frameloom.symbolic.guards import Guard, text_of


def write(capture: Capture) -> None:
    """Write to the channels `guards` and `source`, where they are on."""
    name = capture.trace.program.code.co_qualname
    events.log("guards", lambda: "\n".join([f"guards of {name}, in the order in which the trace needed them", *map(_guard, capture.guards.guards)]))
    events.log("source", lambda: f"entry of {name}\n{render(capture.plan)}")


def _guard(guard: Guard) -> str:
    text = text_of(guard, lambda source: written(source, guard.where))
    chain = users_first(chain_of(guard.where))[1]
    return f"  {text:<70}  {chain[0].place}" if chain else f"  {text}"
