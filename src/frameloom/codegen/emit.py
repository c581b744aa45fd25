"""From a plan to the code object of an entry."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

from frameloom.bytecode.assemble import Label
from frameloom.bytecode.program import Position
from frameloom.bytecode.slots import argument_count
from frameloom.codegen.build import Builder, Reached
from frameloom.codegen.constants import EntryEmitter
from frameloom.codegen.plan import Break, Plan, Return, values_of
from frameloom.codegen.suspend import emit_suspension
from frameloom.symbolic.layouts import REPLAYS
from frameloom.symbolic.layouts.attributes import fill_attributes
from frameloom.symbolic.source import Source
from frameloom.symbolic.values import Node


class Emitted(NamedTuple):
    """The code of an entry, the slots it reaches objects through, each with its object, and the sources that the entry must
    find in locals of the code when it starts, each with the local."""

    code: CodeType
    slots: tuple[tuple[Any, Any], ...]
    inputs: tuple[tuple[Source, int], ...] = ()


def nothing_is_gathered(source: Source) -> bool:
    """Every source is read by the code itself."""
    return False


def emit(plan: Plan, runtime: Any, gathers: Callable[[Source], bool] = nothing_is_gathered) -> Emitted:
    """The code object that does what the plan says, with the user's slots, name and lines.

    `runtime` names what generated code calls (`codegen.runtime.Runtime`).  `gathers` tells which sources are in locals already
    when the code starts.
    """
    program = plan.program
    out = EntryEmitter(program.code, runtime.new_slot)
    build = Builder(out, runtime, plan.sources)
    out.leave_mortal(plan.mortal)
    out.prefix(cells_arrive=True)
    out.position = program.instructions[program.start].position
    received = [(source, build.receive_source(source)) for source in plan.sources if source.base is not None and gathers(source)]
    _read_sources(plan, build)
    for node in plan.before:
        _call_host(build, node)
    failed = None
    if plan.graph is not None:
        failed = Label() if plan.can_run_again else None
        _call_graph(plan, build, failed)
    for node in plan.after:
        _call_host(build, node)
    build.make(_needed_by_operations(plan))
    for node in plan.nodes:
        fill_attributes(build, node, node.cls, node.attributes)
    for operation in plan.operations:
        with out.at(_position(operation.where, out.position)):
            _replay(build, operation)
    build.make(plan.fresh)
    EXITS[type(plan.exit)](build, plan.exit)
    if failed is not None:
        _run_again(build, failed)
    finished = out.finish()
    place = {name: index for index, name in enumerate(finished.code.co_varnames)}
    return Emitted(finished.code, tuple(out.filled), tuple([(source, place[name]) for source, name in received]))


def _needed_by_operations(plan: Plan) -> list:
    """The fresh objects that must be there before the operations; the others are made behind them, since an iterator over a real
    container must find it as the trace left it."""
    reached = Reached()
    reached.add(plan.nodes)
    reached.add(value for operation in plan.operations for value in values_of(operation))
    return reached.fresh


def _read_sources(plan: Plan, build: Builder) -> None:
    """What must be read of the state at entry before anything changes it goes into temporaries first."""
    if not plan.has_effects and type(plan.exit) is Return:
        return
    for source in plan.sources:
        if not _stays_readable(source, plan):
            build.hold_source(source)


def _stays_readable(source: Source, plan: Plan) -> bool:
    """Whether the source reads the same at the end: constants, cells of the closure, and locals, until a break restores them.
    A key that a container was found to have may die when the entry changes that."""
    if source.base is not None or source.step not in ("const", "cell", "local"):
        return False
    return source.step != "const" or all(key is not source.key for key in plan.mortal)


def _call_host(build: Builder, node: Node) -> None:
    reached = Reached()
    reached.add([*node.args, *node.kwargs.values()])
    build.make(reached.fresh)
    out = build.out
    with out.at(_position(node.where, out.position)):
        out.begin_call(node.target)
        for value in (*node.args, *node.kwargs.values()):
            build.load(value)
        count = len(node.args) + len(node.kwargs)
        if node.kwargs:
            out.call_kw(count, tuple(node.kwargs))
        else:
            out.call(count)
    build.hold(node)


def _call_graph(plan: Plan, build: Builder, failed: Label | None) -> None:
    """Call the graph and keep its results.  `failed` is where an exception of it goes, if it goes anywhere."""
    graph, out = plan.graph, build.out
    reached = Reached()
    reached.add(graph.inputs)
    build.make(reached.fresh)
    out.begin_call(graph.function)
    for value in graph.inputs:
        build.load(value)
    if failed is None:
        out.end_call(len(graph.inputs))
    else:
        with out.region(failed, 0):
            out.end_call(len(graph.inputs))
    if not graph.outputs:
        out.pop_top()
        return
    out.unpack_sequence(len(graph.outputs))
    used = {id(node) for node in plan.results}
    for node in graph.outputs:
        if id(node) in used and not build.is_held(node):
            build.hold(node)
        else:
            out.pop_top()


def _run_again(build: Builder, failed: Label) -> None:
    """The graph raised before anything was changed: the user's own code runs from its start and raises its own exception."""
    out, runtime, code = build.out, build.runtime, build.out.code
    again = Label()
    out.place(failed)
    out.copy()
    out.call_constant_under(isinstance, Exception)
    out.jump_if_true(again)
    out.op("RERAISE", 0)
    out.place(again)
    out.pop_top()
    out.begin_call(runtime.tail)
    out.begin_call(runtime.resume_function)
    out.begin_call(runtime.rerun)
    out.load_const(code)
    out.end_call(1)
    out.end_call(1)
    for slot in range(argument_count(code)):
        out.load_fast(slot)
    out.end_call(1 + argument_count(code))
    out.return_value()


def _replay(build: Builder, operation: Any) -> None:
    row = REPLAYS[operation.kind]
    if operation.target is None:
        row.emit(build, *operation.arguments)
    else:
        row.emit(build, operation.target, *operation.arguments)


def _position(where: Any, otherwise: Position) -> Position:
    """The position in the root's code of an instruction, perhaps of an inlined frame."""
    if where is None:
        return otherwise
    program, index, caller = where
    while caller is not None:
        program, index, caller = caller
    return program.instructions[index].position


def _emit_return(build: Builder, exit_: Return) -> None:
    build.load(exit_.value)
    build.out.return_value()


def _emit_break(build: Builder, exit_: Break) -> None:
    emit_suspension(build, exit_.frames, build.runtime)


EXITS = {Return: _emit_return, Break: _emit_break}
