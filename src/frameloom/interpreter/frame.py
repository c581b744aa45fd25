"""A frame of the symbolic machine."""

from __future__ import annotations

from typing import Any, NamedTuple

from frameloom.symbolic.values import UNBOUND, Obj, Value


class Link(NamedTuple):
    """How a frame waits for the frame it called, so that a break can suspend both (DESIGN section 7).

    kind: what becomes of the callee's result (`codegen/links.py` has them all); depth: how many stack entries stay below the operands
    of the instruction; values: what the kind needs besides.
    """

    kind: str
    depth: int
    values: tuple[Value, ...] = ()

    def of(self, kind: str, *values: Value) -> Link:
        """The same with another meaning of the result."""
        return Link(kind, self.depth, values)


class Checkpoint(NamedTuple):
    """A frame's state just before the instruction that raised an exception which the trace itself made."""

    exception: Obj
    mark: int
    index: int
    slots: list
    stack: list
    caught: list


class Frame:
    """One activation: program, slots, value stack, position.

    `index` is the instruction being run and `mark` the journal before it; `link` says how it waits for a callee;
    `names` is the namespace of a class body, None in a function; `told` the dictionary that `locals()` last gave;
    `caught` holds a checkpoint for each exception made by the trace that a handler of this frame is handling.
    """

    __slots__ = (
        "session",
        "program",
        "function",
        "globals",
        "names",
        "told",
        "slots",
        "stack",
        "index",
        "next",
        "mark",
        "link",
        "parent",
        "called_from",
        "caught",
        "result",
        "generator",
        "origins",
    )

    def __init__(self, session: Any, program: Any, function: Obj | None, globals_: dict) -> None:
        self.session = session
        self.program = program
        self.function = function
        self.globals = globals_
        self.names: Value | None = None
        self.told: Obj | None = None
        self.slots: list[Value] = [UNBOUND] * len(program.slots)
        self.stack: list[Value] = []
        self.index = 0
        self.next = 0
        self.mark = 0
        self.link: Link | None = None
        self.parent: Frame | None = None
        self.called_from: Any = None
        self.caught: list[Checkpoint] = []
        self.origins: dict[int, Checkpoint] = {}
        self.result: Value | None = None
        self.generator: Obj | None = None

    def push(self, value: Value) -> None:
        self.stack.append(value)

    def snapshot(self) -> tuple:
        """State to restore when a rollback undoes a resumption of this frame (generators)."""
        return (self.index, self.next, list(self.slots), list(self.stack), list(self.caught))

    def restore(self, state: tuple) -> None:
        self.index, self.next, self.slots, self.stack, self.caught = state[0], state[1], *map(list, state[2:])
