"""One trace's state: the journal, guards, nodes, the write log, the identity memo."""

from __future__ import annotations

from typing import Any, NamedTuple

from frameloom import config
from frameloom.symbolic.declared import Declared
from frameloom.symbolic.displaced import require_quiet
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.graph import Operation
from frameloom.symbolic.guards import Guard
from frameloom.symbolic.journal import Journal
from frameloom.symbolic.observe import Observer
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.source import Source, Sources
from frameloom.symbolic.values import Const, Node, Obj, Value


MOST_DEPTH = 180
"""How many calls deep functions are inlined, where the host's stack allows it."""


class Depth(NamedTuple):
    """The decision to inline no more than `levels` calls deep."""

    levels: int


class Session:
    """Everything one capture knows.  All changes go through methods here or through `journal`, so that `rollback` restores."""

    def __init__(self, domain: Domain, decisions: frozenset = frozenset()) -> None:
        self.journal = Journal()
        self.domain = domain
        self.decisions = decisions
        self.declared: Declared | None = None  # what the program says of the arguments of the root function
        self.sources = Sources()
        self.guards: dict[tuple, Guard] = {}
        self.nodes: list[Node] = []
        self.operations: list[Operation] = []
        self.written: dict[int, Value] = {}
        self.observe = Observer(self)
        self.frame: Any = None
        self.handled: Value | None = None
        self.ambient: BaseException | None = None  # what the callers of the root handle
        self.raised: list[Value] = []  # exceptions of the trace's own that handlers caught
        self.instructions = 0
        self.hashed = False
        self.computed: dict[Value, Any] = {}  # number -> what it is computed of: no part of the state, since it never changes
        self.most_instructions = config.current().trace_limit
        self.quiet: dict[int, bool] = {}  # containers none of whose items shows its end
        self.depth = 0
        self.deepest = 0
        self.most_depth: int = min((found.levels for found in decisions if type(found) is Depth), default=MOST_DEPTH)
        self.root_globals: Any = None
        self.root_cells: dict[str, Value] = {}
        self.root_arguments: tuple[Value, ...] = ()
        self.machine: Any = None
        self.binds = False
        self.generators: list[Obj] = []
        self.advancing: list[Obj] = []  # the iterators that are being advanced, outermost first

    def close(self) -> None:
        """Let everything go.  The parts of a session point at each other, and the user's objects that a trace has seen must not
        wait for the collector to die; what was rolled back is among them."""
        self.observe.forget()
        self.sources.forget()
        self.journal.clear()
        vars(self.machine).clear()
        vars(self).clear()

    # -- position ------------------------------------------------------------------------------------------------
    def where(self) -> Any:
        """The user's instruction being run: (program, index, where of the caller), or None outside a frame."""
        frame = self.frame
        return None if frame is None else (frame.program, frame.index, frame.called_from)

    # -- exceptions ----------------------------------------------------------------------------------------------
    def handling(self) -> Value | None:
        """The exception being handled, by the trace or by the callers of its root: where it is not by the trace, that is looked
        at."""
        if self.handled is not None:
            return self.handled
        found = self.observe.wrap(self.ambient, self.sources.handled())
        return None if type(found) is Const else found

    # -- rollback ------------------------------------------------------------------------------------------------
    def mark(self) -> int:
        return self.journal.mark()

    def rollback(self, mark: int) -> None:
        self.journal.rollback(mark)

    # -- guards --------------------------------------------------------------------------------------------------
    def guard(self, check: str, source: Source, payload: Any = None) -> None:
        """Assume that `check` holds of what `source` reads."""
        key = (check, source) if check not in MANY_PER_SOURCE else (check, source, type(payload), payload)
        if key in self.guards:
            return
        if len(self.guards) >= MOST_GUARDS and self.frame is not None:
            raise GraphBreak("FL007", f"{MOST_GUARDS:,} guards have been made")
        self.journal.set_item(self.guards, key, Guard(check, source, payload, self.where()))

    def strengthen(self, check: str, source: Source, payload: Any) -> None:
        """As `guard`, for a check that implies the same one with what it asked before."""
        key = (check, source)
        before = self.guards.get(key)
        if before is None:
            self.guard(check, source, payload)
        else:
            self.journal.set_item(self.guards, key, before._replace(payload=payload))

    # -- nodes ---------------------------------------------------------------------------------------------------
    def record(
        self, target: Any, args: tuple, kwargs: dict, cls: type, fact: Any, tape: str = "graph", real: Any = None
    ) -> Node:
        """Append an operation; gives its result."""
        node = Node(tape, target, args, kwargs, cls, fact, self.where(), real)
        node.number = len(self.nodes)
        self.journal.append(self.nodes, node)
        return node

    def set_fact(self, node: Node, fact: Any) -> None:
        """An in-place or metadata change: the node is the same object with a new fact."""
        self.journal.set_field(node, "fact", fact)

    # -- write log -----------------------------------------------------------------------------------------------
    def note_hashed(self) -> None:
        """A key whose `__hash__` is written in Python is about: containers must look for such keys from now on."""
        if not self.hashed:
            self.journal.set_field(self, "hashed", True)

    def operation(self, kind: str, target: Value, *arguments: Any) -> None:
        """Log a mutation of `target`.  A fresh object is built from its final state, so only real ones need the row."""
        if target.real is None:
            return
        require_quiet(self, kind, target, arguments)
        self.journal.append(self.operations, Operation(kind, target, arguments, self.where()))
        if id(target) not in self.written:
            self.journal.set_item(self.written, id(target), target)
        owner = getattr(getattr(target, "body", None), "owner", None)
        if owner is not None and owner is not target:
            self.operation("attributes.changed", owner)

    def effect(self, kind: str, *arguments: Any) -> None:
        """Log an ordered effect that mutates no object of the heap (printing, a host mode)."""
        self.journal.append(self.operations, Operation(kind, None, arguments, self.where()))

    # -- heap ----------------------------------------------------------------------------------------------------
    def alloc(self, cls: type, body: Any = None) -> Obj:
        """A fresh object of class `cls` with the given storage."""
        made = Obj(cls, None, body, self.where())
        if self.decisions and made.where is not None and ("make", made.where[0].code, made.where[1]) in self.decisions:
            raise GraphBreak("FL504", f"an instance of {cls.__qualname__}")
        return made

    def alloc_bound(self, cls: type, body: Any = None) -> Obj:
        """As `alloc`, for an object that perhaps cannot be made anew (its layout's `is_bound` tells): where it turns out to
        outlive the trace, the capture begins again and breaks here."""
        self.will_bind()
        return self.alloc(cls, body)

    def will_bind(self) -> None:
        """Something was made or looked at that perhaps cannot outlive the trace: the end of the capture asks."""
        if not self.binds:
            self.journal.set_field(self, "binds", True)


MOST_GUARDS = 30_000
"""Each takes one or two registers of the guard program, which has 65,534."""

MANY_PER_SOURCE = frozenset(
    {"HAS_KEY", "NO_KEY", "MEMBER", "NOT_MEMBER", "NO_ATTRIBUTE", "NO_TYPE_ATTRIBUTE", "SAME", "DISTINCT", "LENGTH_AT_LEAST", "CALL", "OUTCOME",
     "FLAGS"}
)
