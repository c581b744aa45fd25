"""The canonical form of a code object: what the interpreter runs and the code generators copy from."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from functools import cached_property
from types import CodeType
from typing import Any, NamedTuple


class Position(NamedTuple):
    """Where an instruction stands in the user's source; any field may be None, as in `code.co_positions()` (PEP 657)."""

    lineno: int | None
    end_lineno: int | None
    col_offset: int | None
    end_col_offset: int | None


class Instruction(NamedTuple):
    """One canonical instruction.

    `op` is a key of `canonical.OPCODES`, interned; the meaning of `arg` is stated there. `origin` is the index in
    `Program.groups` of the original instructions that it came from.
    """

    op: str
    arg: Any
    origin: int
    position: Position


class Slot(NamedTuple):
    """A place for a variable in the frame. `kind` is "local", "cell" or "free"; an argument that is a cell is one slot."""

    name: str
    kind: str
    is_argument: bool


class Group(NamedTuple):
    """Original instructions that stand or fall together: execution may stop before a group, never inside one.

    `offset` is the byte offset in `co_code` where the group begins (EXTENDED_ARG included), `raws` the
    original (opcode, argument) pairs without caches and with EXTENDED_ARG folded in, `first` the canonical index of its
    first instruction, `count` how many canonical instructions it became. A superinstruction on two slots is two groups at one
    offset, each with the plain instruction that it stands for.
    """

    offset: int
    raws: tuple[tuple[int, int], ...]
    first: int
    count: int


class Handler(NamedTuple):
    """A row of the exception table: cut the stack to `depth`, push the offset if `lasti`, push the exception, go to `target`."""

    target: int
    depth: int
    lasti: bool


class With(NamedTuple):
    """An open `with` block: its exit function is the stack item `exit` (counted from the bottom), its handler `target`."""

    exit: int
    target: int


class Analyses(NamedTuple):
    """What is computed of a program when it is first asked for: stack depths and live slots (as bit masks), by instruction."""

    depths: Callable[[Program], tuple[int | None, ...]]
    live_masks: Callable[[Program], tuple[int, ...]]


class Program:
    """A decoded code object. Immutable; indices named `index` or `i` are indices into `instructions`.

    The code object is held weakly, so that a cached program does not keep it alive: `code` raises ReferenceError once
    it has died, hence whoever keeps a program keeps its code object too.
    """

    def __init__(
        self,
        code: CodeType,
        instructions: tuple[Instruction, ...],
        slots: tuple[Slot, ...],
        groups: tuple[Group, ...],
        start: int,
        handlers: tuple[Handler | None, ...],
        analyses: Analyses,
    ) -> None:
        self._code = weakref.ref(code)
        self._label = f"{code.co_qualname} at {code.co_filename}:{code.co_firstlineno}"
        self.instructions = instructions
        self.slots = slots
        self.groups = groups
        self.start = start
        self.handlers = handlers
        self.analyses = analyses

    @property
    def code(self) -> CodeType:
        """The code object this program was decoded from; ReferenceError if it is gone."""
        code = self._code()
        if code is None:
            raise ReferenceError(f"the code object of {self._label} is gone")
        return code

    def handler_at(self, index: int) -> Handler | None:
        """The handler that an exception raised by the instruction at `index` goes to, or None if it leaves the frame."""
        return self.handlers[index]

    def group_of(self, index: int) -> Group:
        """The original group of the instruction at `index`."""
        return self.groups[self.instructions[index].origin]

    def index_at(self, offset: int) -> int:
        """The canonical index of the group that contains the byte offset `offset` (a frame's `f_lasti`)."""
        return self.groups[self._group_offsets[offset]].first

    def depth_at(self, index: int) -> int | None:
        """The depth of the value stack before the instruction at `index`; None where no path from the start leads there."""
        return self._depths[index]

    def live_slots(self, index: int) -> frozenset[int]:
        """Indices of the slots whose present contents some path from `index` reads, exception handlers included.

        A cell that is only stored to is live, since others may read it. MAKE_CELL is neither a read nor a write.
        Introspection (`locals()`, `sys._getframe`) is not seen here.
        """
        mask = self._live[index]
        return frozenset(slot for slot in range(len(self.slots)) if mask >> slot & 1)

    def withs_at(self, index: int) -> tuple[With, ...]:
        """The `with` blocks open at `index`, outermost first: those whose exit function an exception there would call."""
        found = []
        seen: set[int] = set()
        handler = self.handlers[index]
        while handler is not None and handler.target not in seen:
            seen.add(handler.target)
            if self._calls_exit(handler.target):
                found.append(With(handler.depth - 1, handler.target))
            handler = self.handlers[handler.target]
        return tuple(reversed(found))

    def _calls_exit(self, target: int) -> bool:
        following = self.instructions[target : target + 2]
        return [instruction.op for instruction in following] == ["PUSH_EXC_INFO", "WITH_EXCEPT_START"]

    @cached_property
    def _group_offsets(self) -> Mapping[int, int]:
        # The halves of a superinstruction share an offset, which is the first one's.
        offsets = {}
        end = following = len(self.code.co_code)
        for number in range(len(self.groups) - 1, -1, -1):
            begin = self.groups[number].offset
            if begin != following:
                end, following = following, begin
            for offset in range(begin, end, 2):
                offsets[offset] = number
        return offsets

    @cached_property
    def _depths(self) -> tuple[int | None, ...]:
        return self.analyses.depths(self)

    @cached_property
    def _live(self) -> tuple[int, ...]:
        return self.analyses.live_masks(self)

    def __repr__(self) -> str:
        return f"<Program of {self._label}, {len(self.instructions)} instructions>"
