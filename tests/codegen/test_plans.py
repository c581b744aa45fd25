"""Golden texts of plans: what an entry is to do, for small programs.

A program defines `f` and `args`; the plan is that of the first capture.
"""
from __future__ import annotations

from pathlib import Path

from frameloom.codegen.render import render
from frameloom.interpreter.registry import refuse
from tests import golden
from tests.compile.calls import Compiled, outcome
from tests.toy.array import array
from tests.toy.domain import ToyDomain


def breaks() -> None:
    """Breaks the graph."""


refuse("FL401", "the test breaks here", breaks)


class Box:
    """An object with attributes."""

    def __init__(self, **attributes: object) -> None:
        vars(self).update(attributes)


@golden.parametrize(Path(__file__).parent, "plans.test")
def test_plan(case: golden.Case) -> None:
    space = {"__name__": "program", "breaks": breaks, "Box": Box, "array": array}
    exec(compile(case.program, f"<{case.name}>", "exec"), space)
    call = Compiled(space["f"], ToyDomain())
    outcome(call, *space["args"])
    case.check("plan", render(call.captures[0].plan))
