"""Running a function through the interpreter alone, without compiling anything."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import frameloom.interpreter.opcodes  # noqa: F401  registers the handlers
import frameloom.rules  # noqa: F401  registers the rules
from frameloom.interpreter.calls import enter_root
from frameloom.interpreter.exits import settle
from frameloom.interpreter.loop import run
from frameloom.interpreter.machine import Machine
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.session import Session
from frameloom.symbolic.signals import Suspend


class Trace(NamedTuple):
    """What a trace gave: the session, the result's Value, or the frames and the reason of a break."""

    session: Session
    result: Any
    chain: list
    reason: Any

    def guards(self) -> list[str]:
        return [str(guard) for guard in self.session.guards.values()]

    def operations(self) -> list[tuple]:
        return [(op.kind, str(op.target and op.target.source)) for op in self.session.operations]


def trace(function: Callable, *args: Any, domain: Domain | None = None) -> Trace:
    """Run `function` symbolically on real arguments."""
    session = Session(domain or Domain())
    session.machine = Machine(session)
    session.domain.begin(session)
    frame = enter_root(session.machine, function, function.__code__, args)
    try:
        run(session, frame)
    except Suspend as suspended:
        return Trace(session, None, settle(suspended.chain), suspended.reason)
    return Trace(session, frame.result, [], None)
