"""A capture as it is explained."""

from __future__ import annotations

from frameloom.codegen.render import effects_text, exit_text
from frameloom.compile.hook import break_report
from frameloom.compile.locations import chain_of
from frameloom.compile.pipeline import Capture
from frameloom.report.frames import Check, FrameExplanation, source_lines


def explained(capture: Capture) -> FrameExplanation:
    """What was made of one frame."""
    trace, plan = capture.trace, capture.plan
    code = trace.program.code
    graph = plan.graph
    return FrameExplanation(
        name=code.co_qualname,
        filename=code.co_filename,
        source=source_lines(code),
        checks=tuple(Check(str(guard), next(iter(chain_of(guard.where)), None)) for guard in capture.guards.guards),
        graph="" if graph is None else graph.text,
        operations=0 if graph is None else graph.operations,
        effects=effects_text(plan),
        exit=exit_text(plan.exit, plan),
        breaks=(break_report(trace),) if trace.is_break else (),
        seconds=capture.seconds,
    )
