"""The plan: what one entry does, before it is bytecode.

    read sources -> host nodes -> graph -> host nodes -> fresh objects -> operations -> exit

A plan is made from a finished trace.  `emit` turns it into a code object, `render` into text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from frameloom.codegen.build import Reached
from frameloom.codegen.merge import merged
from frameloom.symbolic.domain import GraphCall
from frameloom.symbolic.graph import PURE, Operation
from frameloom.symbolic.layouts.effect import AFTER_GRAPH
from frameloom.symbolic.guards import mortal_keys
from frameloom.symbolic.source import Source
from frameloom.symbolic.values import INPUT, Node, Obj, Value


class FrameState(NamedTuple):
    """A frame that a break suspends: where it stands, what its slots and its stack hold (UNBOUND for an unbound slot), the
    exceptions it is handling (one for each marker on its stack, outermost first), and the function that it runs (an Obj;
    None for the root).  `link` tells how it waits for the next inner frame; None for the innermost.  `joined` tells that it goes on in
    one trace with what goes on there."""

    program: Any
    index: int
    slots: tuple[Value, ...]
    stack: tuple[Value, ...]
    handled: tuple[Value, ...] = ()
    function: Obj | None = None
    link: Any = None
    globals: dict | None = None
    joined: bool = False

    def values(self) -> list[Value]:
        """Everything that the frame needs when it goes on."""
        function = () if self.function is None else (self.function,)
        given = () if self.link is None else self.link.values
        return [*self.slots, *self.stack, *self.handled, *function, *given]


class Return(NamedTuple):
    """The exit of a trace that ran to its end."""

    value: Value

    def values(self) -> list[Value]:
        return [self.value]


class Break(NamedTuple):
    """The exit of a trace that stopped: the suspended frames, outermost first, why, and whether it stopped at a look at the
    running frame itself."""

    frames: tuple[FrameState, ...]
    reason: Any
    reads_frame: bool = False

    def values(self) -> list[Value]:
        return [value for frame in self.frames for value in frame.values()]


class Plan:
    """What an entry does, in order.

    program: the root's.  sources: what is read of the state at entry; the graph alone needs `graph_sources` of them.  before, after: host nodes that run before and after the
    graph.  graph: a GraphCall or None.  results: the graph's outputs that are used.  fresh: objects to make, each after what
    its creation loads.  operations: mutations and effects.  exit: Return or Break.  mortal: objects that the guards find alive, and
    the entry does not keep.
    """

    __slots__ = ("program", "sources", "graph_sources", "before", "graph", "results", "after", "fresh", "nodes", "operations", "exit", "mortal")

    def __init__(self, program: Any, session: Any, exit_: Any, finish: Callable[[list[Node]], GraphCall | None]) -> None:
        self.program = program
        self.exit = exit_
        self.operations: list[Operation] = merged(session.operations, session.guards)
        hosts = [node for node in session.nodes if node.tape == "host" and node.target is not INPUT]
        reached = Reached()
        reached.add(exit_.values())
        reached.add(value for operation in self.operations for value in values_of(operation))
        reached.add(node for node in hosts if node.target not in PURE)
        self.results = [node for node in reached.nodes if node.tape == "graph" and node.real is None]
        self.results.sort(key=lambda node: node.number)
        self.graph = finish(self.results)
        elsewhere = set(reached.sources)
        if self.graph is not None:
            reached.add(self.graph.inputs)
        used = {id(node) for node in reached.nodes}
        hosts = [node for node in hosts if id(node) in used]
        late = depending_on(hosts, self.results) | postponed(hosts, self.graph)
        self.before = [node for node in hosts if id(node) not in late]
        self.after = [node for node in hosts if id(node) in late]
        self.sources: list[Source] = list(reached.sources)
        self.graph_sources = reached.sources.keys() - elsewhere
        self.fresh: list[Obj] = reached.fresh
        self.nodes = [node for node in reached.nodes if node.real is None and node.attributes is not None]
        self.mortal = list(mortal_keys(session.guards.values()))

    @property
    def can_run_again(self) -> bool:
        """Whether the frame can still run from its start when the graph has raised: nothing was drawn or changed before."""
        graph = self.graph
        return getattr(graph, "may_fail", False) and not getattr(graph, "writes_inputs", True) and all(
            node.target in PURE for node in self.before
        )

    @property
    def has_break(self) -> bool:
        """Whether the entry ends by handing over to the user's own instructions."""
        return type(self.exit) is Break

    @property
    def has_effects(self) -> bool:
        """Whether running the entry changes anything that the user can see, beyond what the graph does."""
        return bool(self.operations)


def values_of(operation: Operation) -> Iterable[Any]:
    """The values (and lists of values) among an operation's target and arguments."""
    parts = operation.arguments if operation.target is None else (operation.target, *operation.arguments)
    return [part for part in parts if isinstance(part, (Value, list, tuple))]


def postponed(hosts: list[Node], graph: GraphCall | None) -> set[int]:
    """The ids of the host nodes that wait for the graph although they need nothing of it: if it fails, they have not run."""
    if graph is None or not any(node.target in AFTER_GRAPH for node in hosts):
        return set()
    needed = Reached()
    needed.add(graph.inputs)
    needed_ids = {id(node) for node in needed.nodes}
    late: set[int] = set()
    for node in hosts:  # in program order: one that waits makes its users wait
        used = Reached()
        used.add([*node.args, *node.kwargs.values()])
        waits = node.target in AFTER_GRAPH or any(id(other) in late for other in used.nodes)
        if waits and id(node) not in needed_ids:
            late.add(id(node))
    return late


def depending_on(hosts: list[Node], results: list[Node]) -> set[int]:
    """The ids of the host nodes that need a result of the graph, through others or directly."""
    late = {id(node) for node in results}
    graph = set(late)
    for node in hosts:  # in program order: operands come before their users
        reached = Reached()
        reached.add([*node.args, *node.kwargs.values()])
        if any(id(other) in late for other in reached.nodes):
            late.add(id(node))
    return late - graph
