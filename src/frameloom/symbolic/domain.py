"""The domain protocol: what a frontend with operations to capture (tensors) tells the core, and the domain of nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frameloom.symbolic.values import Node, Value

NOT_HANDLED = object()
"""Answer of a domain hook that leaves the case to the core."""


class Domain:
    """Base of domains, and `NullDomain`'s behaviour: nothing is captured.

    `session` is the running trace; hooks record operations by `session.record(target, args, kwargs, cls, fact)`.
    """

    name = "null"
    decides: frozenset[str] = frozenset()
    """The checks whose failing `decide` draws something from."""
    varies = True
    """Whether a number that was guarded by value is read at run time from its second value on."""
    begins_varying = False
    """Whether numbers among the arguments are read at run time from the start."""

    def kept(self, decision: Any) -> list | None:
        """A decision that `decide` or `likely` made as lists, texts and numbers, for the profile that other processes read; None where it
        is not to be kept."""
        return None

    def restored(self, kept: list) -> Any:
        """The decision that `kept` gave these for.  Raises ValueError or TypeError for what it cannot have given."""
        raise ValueError(kept)

    def claims(self, cls: type) -> bool:
        """Whether instances of `cls` are nodes of this domain."""
        return False

    def input(self, session: Any, real: Any) -> Value:
        """The node for a real object of the domain (`real` is a `Real`), with the guards that make its fact true.

        NOT_HANDLED where the object is to be met as any other of its Python class.  Never breaks: frames that go on after a
        break load all that they hold before they run.
        """
        raise AssertionError("a domain that claims classes must make inputs")

    def records(self, function: Any) -> bool:
        """Whether a call of this C-implemented or opaque callable is an operation of the domain when it meets a node."""
        return False

    def apply(self, session: Any, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Record a call of `function`; gives the symbolic result.  May raise GraphBreak or SymbolicRaise."""
        raise AssertionError

    def attribute(self, session: Any, node: Node, name: str) -> Any:
        """The value of an attribute of a node, or NOT_HANDLED."""
        return NOT_HANDLED

    def set_attribute(self, session: Any, node: Node, name: str, value: Value) -> Any:
        """Perform `node.name = value`, or NOT_HANDLED."""
        return NOT_HANDLED

    def operator(self, session: Any, name: str, operands: list[Value]) -> Any:
        """A Python operator ("+", "+=", "<", "[]", "[]=", "neg", "len", "iter", ...) that met a node, or NOT_HANDLED."""
        return NOT_HANDLED

    def truth(self, session: Any, node: Node) -> Any:
        """A Const bool for the truth of a node, or a GraphBreak raised."""
        return NOT_HANDLED

    def constant(self, value: Any) -> bool:
        """Whether an object of a C type is an immutable constant of the domain, known by identity (a dtype)."""
        return False

    def snapshot(self, session: Any, node: Node) -> Value | None:
        """A node as an effect later in the entry is to see it now, whatever is written in place after; None where it cannot."""
        return node

    def unfit(self) -> tuple[str, str] | None:
        """Why no frame must be captured now: an FL9 code and a detail (a mode under which every operation must be seen as it
        happens), or None."""
        return None

    def begin(self, session: Any) -> None:
        """Called before the root frame runs: global state that the trace depends on."""

    def ended(self, session: Any, broke: bool) -> None:
        """Called when the root frame has ended, by a break or not; may raise RestartCapture."""

    def mark(self) -> Any:
        """Host state to restore at rollback beyond the journal."""

    def decide(self, guard: Any, found: Any) -> frozenset:
        """Answers for the next capture to be drawn from a guard that failed: `found` is what its source reads now."""
        return frozenset()

    def likely(self, guard: Any, scope: Any) -> frozenset:
        """What the next capture takes as varying too of what a guard speaks of, where `decide` drew something from another of the entry."""
        return frozenset()

    def finish(self, session: Any, outputs: list[Node]) -> Any:
        """Hand the recorded graph to the backend: gives a `GraphCall` or None where nothing was recorded."""
        return None

    def abandon(self, session: Any) -> None:
        """Called when a trace ends for whatever reason: leave every host mode it entered."""


class GraphCall:
    """What the entry calls: `function(*inputs)` gives a sequence with one item per output node.

    `inputs` are Values (input nodes, host nodes, constants).  `tell()` writes the graph as text, for those who ask.
    """

    __slots__ = ("function", "inputs", "outputs", "tell", "operations")

    def __init__(self, function: Any, inputs: list[Value], outputs: list[Node], tell: Callable[[], str], operations: int) -> None:
        self.function = function
        self.inputs = inputs
        self.outputs = outputs
        self.tell = tell
        self.operations = operations

    @property
    def text(self) -> str:
        return self.tell()
