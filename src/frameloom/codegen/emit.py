"""From a plan to the code object of an entry."""

from __future__ import annotations

import contextlib
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


WORTH_PACKING = 4
"""inputs of a graph that are handed to it as a tuple: of fewer each is loaded sooner"""


class Emitted(NamedTuple):
    """The code of an entry, the slots it reaches objects through, each with its object, and what it must find in locals of the
    code when it starts: what the `packed` sources read, as one tuple, if there are any, then what each of the `sources` reads.
    `inputs`: these locals."""

    code: CodeType
    slots: tuple[tuple[Any, Any], ...]
    packed: tuple[Source, ...] = ()
    sources: tuple[Source, ...] = ()
    inputs: tuple[int, ...] = ()


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
    packed = _packed(plan, gathers)
    apart = plan.graph_sources.intersection(packed)
    sources = [source for source in plan.sources if source not in apart]
    build = Builder(out, runtime, sources)
    out.leave_mortal(plan.mortal)
    out.prefix(cells_arrive=True)
    out.position = program.instructions[program.start].position
    names: list[str] = []
    if packed:
        pack, name = out.named_temporary()
        names.append(name)
    received = [source for source in sources if source.base is not None and gathers(source)]
    names += [build.receive_source(source) for source in received]
    _read_sources(plan, build, sources)
    for node in plan.before:
        _call_host(build, node)
    failed = None
    if plan.graph is not None:
        failed = Label() if plan.can_run_again else None
        _call_graph(plan, build, failed, pack if packed else None)
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
    return Emitted(finished.code, tuple(out.filled), packed, tuple(received), tuple([place[name] for name in names]))


def _packed(plan: Plan, gathers: Callable[[Source], bool]) -> tuple[Source, ...]:
    """The sources of a graph's inputs, in their order, where one tuple of what they read can be found when the code starts and
    saves anything."""
    if plan.graph is None or len(plan.graph.inputs) < WORTH_PACKING:
        return ()
    sources = [value.real.source if type(value) is Node and value.real is not None else None for value in plan.graph.inputs]
    return tuple(sources) if all(source is not None and gathers(source) for source in sources) else ()


def _needed_by_operations(plan: Plan) -> list:
    """The fresh objects that must be there before the operations; the others are made behind them, since an iterator over a real
    container must find it as the trace left it."""
    reached = Reached()
    reached.add(plan.nodes)
    reached.add(value for operation in plan.operations for value in values_of(operation))
    return reached.fresh


def _read_sources(plan: Plan, build: Builder, sources: list[Source]) -> None:
    """What must be read of the state at entry before anything changes it goes into temporaries first."""
    if not plan.has_effects and type(plan.exit) is Return:
        return
    for source in sources:
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


def _call_graph(plan: Plan, build: Builder, failed: Label | None, pack: int | None) -> None:
    """Call the graph and keep its results.  `failed` is where an exception of it goes, if it goes anywhere; `pack` the local that
    has all its inputs, if one has."""
    graph, out = plan.graph, build.out
    if pack is None:
        reached = Reached()
        reached.add(graph.inputs)
        build.make(reached.fresh)
    out.begin_call(graph.function)
    if pack is None:
        for value in graph.inputs:
            build.load(value)
    else:
        out.move_fast(pack)
    with contextlib.nullcontext() if failed is None else out.region(failed, 0):
        if pack is None:
            out.end_call(len(graph.inputs))
        else:
            out.end_call_ex()
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
