"""Resume functions: a user's code object, gone on with from any instruction in any state.

The resume code has the user's own slots, names, positions and exception table, so that `locals()`, `super()`, tracebacks and
handlers are CPython's own. Documented in `docs/design/resume.md`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from types import CodeType
from typing import Any, Generic, NamedTuple, TypeVar

from frameloom.bytecode.assemble import Label
from frameloom.bytecode.decode import decode
from frameloom.bytecode.emitter import Emitter
from frameloom.bytecode.flow import LASTI, NULL, PREVIOUS, VALUE, Kind
from frameloom.bytecode.program import Handler, Program
from frameloom.bytecode.slots import read_slots

#: Kinds of slots: an object, nothing, a cell (which the slot holds as any other object).
UNBOUND, CELL = "unbound", "cell"

HIDDEN = ".resume"

CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR = 0x20, 0x80, 0x200


class ResumeError(Exception):
    """The state asked for is none from which the code can go on; the message says why."""


class Shape(NamedTuple):
    """What a suspended frame holds, by kind.

    `stack` lists the value stack, bottom first: "value"; "null"; "previous", the marker that PUSH_EXC_INFO left below a handled
    exception; ("lasti", code unit), the offset of a raising group in the frame's code (`Group.offset // 2`).
    `slots` has "value", "unbound" or "cell" for each slot of the program in order; free slots may be left out.
    """

    stack: tuple[Kind, ...]
    slots: tuple[str, ...]


class Waits(NamedTuple):
    """How a resume code begins by waiting for an inner frame (`waiting.py`): the canonical index in it of the call, that of its copy
    of the instruction that waits, the link, and how many items lie on the stack below what the call is made of (and the value)."""

    call: int
    index: int
    link: str
    depth: int


class Origin(NamedTuple):
    """Where a resume code comes from: the user's code object, and for each canonical index of the resume code the index of the
    same instruction there, None for those that only the resume code has.  `waits` is None where it does not wait first."""

    code: CodeType
    indices: tuple[int | None, ...]
    waits: Waits | None = None


class State(NamedTuple):
    """A point in the user's code and what the frame holds there."""

    code: CodeType
    index: int
    shape: Shape


def resume_code(code: CodeType, index: int, shape: Shape) -> CodeType:
    """The code object that goes on with `code` at the canonical index `index` in a state of this shape.

    A function made of it (with the user's globals and closure) takes the contents of every slot but the free ones, in order
    (a cell as the cell object, None for an unbound one), then a tuple, bottom of the stack first: the object for each
    "value", and for each "previous" the exception being handled there.

    `code` may itself be a resume code, `index` and `shape` being of it; the result continues the user's code all the same.
    Generators and coroutines go on where they are suspended: `index` is that of the RESUME after a YIELD_VALUE, the stack is
    without the value to be sent; the function gives a generator that must be primed by one `next` (or `send(None)`).

    Made once for each code object, index and shape, for as long as it is in use. Raises ResumeError.
    """
    code, index, shape = user_state(code, index, shape)
    return MADE.get(code, (index, shape), lambda: _make(code, index, shape))


def origin_of(code: CodeType) -> Origin | None:
    """Where a resume code comes from, None for any other code object."""
    made = _ORIGINS.get(code)
    return None if made is None else made.origin(code)


def state_of(code: CodeType) -> State | None:
    """The user's code object, index and shape that a resume code was made for, None for any other code object."""
    made = _ORIGINS.get(code)
    return None if made is None else made.state


def users_code(code: CodeType) -> CodeType:
    """The user's code object that this one is, or goes on with."""
    made = _ORIGINS.get(code)
    return code if made is None else made.state.code


def awaited_code(code: CodeType) -> CodeType | None:
    """The code of the inner frame that a resume code begins by waiting for, None for any other code object."""
    made = _ORIGINS.get(code)
    return None if made is None or made.waits is None else made.waits[2]


def user_state(code: CodeType, index: int, shape: Shape) -> tuple[CodeType, int, Shape]:
    """The same state in terms of the user's code, with a slot kind for each slot that is an argument. Raises ResumeError."""
    origin = origin_of(code)
    if origin is not None:
        there = decode(code)
        hidden = argument_slots(origin.code)
        if shape.slots[hidden] != UNBOUND:
            raise ResumeError("a resume code cannot stop in its prologue")
        stack = tuple(_user_kind(there, origin, kind) for kind in shape.stack)
        found = origin.indices[index]
        if found is None or origin.waits is not None and index == origin.waits.call:
            raise ResumeError(f"{index} is no instruction of the user")
        code, index, shape = origin.code, found, Shape(stack, shape.slots[:hidden])
    count = argument_slots(code)
    if len(shape.slots) < count:
        raise ResumeError(f"{count} slots, {len(shape.slots)} kinds")
    program = decode(code)
    if program.group_of(index).first != index:
        raise ResumeError(f"{index} is inside a group of {code.co_qualname}")
    return code, index, Shape(tuple(shape.stack), tuple(shape.slots[:count]))


def _user_kind(program: Program, origin: Origin, kind: Kind) -> Kind:
    if not isinstance(kind, tuple):
        return kind
    index = origin.indices[program.index_at(2 * kind[1])]
    if index is None:
        raise ResumeError(f"no instruction of the user raised at {kind[1]}")
    return (LASTI, decode(origin.code).group_of(index).offset // 2)


def argument_slots(code: CodeType) -> int:
    """How many slots a resume function of the code takes as arguments: all but the free ones, which come last."""
    return sum(slot.kind != "free" for slot in read_slots(code))


Made = TypeVar("Made")


class ByCode(Generic[Made]):
    """A mapping from code objects, by identity (they compare by content), that does not keep them alive."""

    def __init__(self) -> None:
        self._items: dict[int, tuple[weakref.ref[CodeType], Made]] = {}

    def get(self, code: CodeType) -> Made | None:
        found = self._items.get(id(code))
        return found[1] if found is not None and found[0]() is code else None

    def set(self, code: CodeType, value: Made) -> None:
        key = id(code)

        def forget(reference: weakref.ref[CodeType]) -> None:
            found = self._items.get(key)
            if found is not None and found[0] is reference:
                del self._items[key]

        self._items[key] = (weakref.ref(code, forget), value)


class Codes:
    """Code objects made from a code object, each kept as long as somebody uses it and its original lives."""

    def __init__(self) -> None:
        self._made: ByCode[dict[Hashable, weakref.ref[CodeType]]] = ByCode()

    def get(self, code: CodeType, key: Hashable, make: Any) -> CodeType:
        """The code object made for `key`, by `make()` if it is not there (any more)."""
        known = self._made.get(code)
        if known is None:
            known = {}
            self._made.set(code, known)
        reference = known.get(key)
        found = reference() if reference is not None else None
        if found is None:
            found = make()
            known[key] = weakref.ref(found)
        return found


MADE = Codes()


class _MadeFrom:
    """What the registry keeps of a resume code; the indices are computed when asked for."""

    def __init__(self, state: State, offsets: list[int | None], waits: Any = None) -> None:
        self.state = state
        self.offsets = offsets  # by original group, the code unit of its copy
        self.waits = waits  # the code unit of the call of an inner frame, the link, and the code of that frame
        self.known: Origin | None = None

    def origin(self, resume: CodeType) -> Origin:
        if self.known is None:
            copy, user = decode(resume), decode(self.state.code)
            indices: list[int | None] = [None] * len(copy.instructions)
            for group, unit in zip(user.groups, self.offsets):
                if unit is not None:
                    first = copy.index_at(2 * unit)
                    indices[first : first + group.count] = range(group.first, group.first + group.count)
            waits = None
            if self.waits is not None:
                unit, link, _ = self.waits
                waits = Waits(copy.index_at(2 * unit), indices.index(self.state.index), link, len(self.state.shape.stack))
                indices[waits.call] = self.state.index  # so that an offset of the call is one of the instruction that waits
            self.known = Origin(self.state.code, tuple(indices), waits)
        return self.known


_ORIGINS: ByCode[_MadeFrom] = ByCode()


def _make(code: CodeType, index: int, shape: Shape) -> CodeType:
    program = decode(code)
    out = Emitter(code)
    suspended = bool(code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR))
    here = Label()
    with out.at(program.instructions[index].position):
        prologue = Prologue(out, program, shape, generator=suspended)
        prologue.restore(shape.stack)
        prologue.finish()
        awaited = _prime(out, program, index) if suspended else []
        out.jump(here)
    copies = out.copy_body(program)
    here.unit = copies(index + 1 if suspended else index).unit
    for label, target in awaited:
        label.unit = copies(target).unit
    for label, target in prologue.offsets:
        label.unit = copies(target).unit
    return register(out, copies, State(code, index, shape))


def register(out: Emitter, copies: Callable[[int], Label], state: State, waits: tuple[Label, str, CodeType] | None = None) -> CodeType:
    """Finish a resume code, and remember where it comes from: `copies` gives the labels of the copied body.

    `waits` has the label of the call of an inner frame, the link, and the code of that frame, which lives as long.
    """
    finished = out.finish(slots_are_arguments=True)
    program = decode(state.code)
    begin = program.instructions[program.start].origin
    offsets = [finished.offset(copies(group.first)) if number >= begin else None for number, group in enumerate(program.groups)]
    if waits is not None:
        waits = (finished.offset(waits[0]), *waits[1:])  # type: ignore[assignment]
    _ORIGINS.set(finished.code, _MadeFrom(state, offsets, waits))
    return finished.code


class Prologue:
    """The beginning of code that takes over a frame's state: its prefix, and the way back from arguments to slots and stack."""

    def __init__(self, out: Emitter, program: Program, shape: Shape, *, generator: bool = False) -> None:
        self.out = out
        self.program = program
        self.shape = shape
        self.offsets: list[tuple[Label, int]] = []  # labels to be placed at the copy of the group at a canonical index
        self.hidden = out.hidden_argument(HIDDEN)
        self._next = 0
        out.prefix(generator=generator, cells_arrive=True)

    def restore(self, stack: tuple[Kind, ...]) -> None:
        """Push items of the stack, taking their objects from the hidden argument, in order. Raises ResumeError."""
        for kind in stack:
            if kind == VALUE:
                self.load_next()
            elif kind == NULL:
                self.out.push_null()
            elif kind == PREVIOUS:
                self.load_next()
                self.out.op("PUSH_EXC_INFO")
                self.out.pop_top()
            elif isinstance(kind, tuple) and kind[0] == LASTI:
                label = Label()
                self.offsets.append((label, self._raising(kind[1])))
                self.out.load_offset(label)
            else:
                raise ResumeError(f"no kind of stack item: {kind!r}")

    def load_next(self) -> None:
        """Push the next object of the hidden argument."""
        self.out.load_fast(self.hidden)
        self.out.load_const(self._next)
        self.out.load_subscript()
        self._next += 1

    def finish(self) -> None:
        """Empty the hidden slot and the unbound ones."""
        self.out.delete_fast(self.hidden)
        for index, kind in enumerate(self.shape.slots):
            if kind == UNBOUND:
                self.out.delete_fast(index)

    def _raising(self, unit: int) -> int:
        try:
            index = self.program.index_at(2 * unit)
        except KeyError:
            raise ResumeError(f"no instruction at code unit {unit}") from None
        if index < self.program.start:
            raise ResumeError(f"nothing raises at code unit {unit}")
        return index


def _prime(out: Emitter, program: Program, index: int) -> list[tuple[Label, int]]:
    """Suspend the new generator as the user's is: at a yield under the same handlers, followed by the same RESUME."""
    code = program.code
    if code.co_flags & CO_ASYNC_GENERATOR:
        raise ResumeError("an asynchronous generator cannot be rebuilt")
    before = program.instructions[index - 1].op if index else ""
    if program.instructions[index].op != "RESUME" or before != "YIELD_VALUE":
        raise ResumeError(f"{code.co_qualname} is not suspended at {index}")
    out.load_const(None)
    labels = []
    for at in (index - 1, index):
        handler: Handler | None = program.handler_at(at)
        group = program.group_of(at)
        with out.at(program.instructions[at].position):
            if handler is None:
                out.raw(program, group)
                continue
            label = Label()
            labels.append((label, handler.target))
            with out.region(label, handler.depth, handler.lasti):
                out.raw(program, group)
    return labels

