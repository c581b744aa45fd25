"""From a code object to its Program."""

from __future__ import annotations

import opcode
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat
from types import CodeType
from typing import Any

from .canonical import JUMPS
from .exception_table import read_rows
from .flow import depths
from .liveness import live_masks
from .program import Analyses, Group, Handler, Instruction, Position, Program
from .slots import read_slots
from .versions import version
from .versions.rows import View

_EXTENDED_ARG = opcode.opmap["EXTENDED_ARG"]
_PREFIX = frozenset({"COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "POP_TOP"})


class DecodeError(Exception):
    """The code object has something that the tables of the running Python do not know."""


def cache_units() -> list[int]:
    """How many cache units follow an opcode, by opcode number."""
    entries: Any = opcode._inline_cache_entries  # type: ignore[attr-defined]
    if isinstance(entries, dict):
        return [entries.get(name, 0) for name in opcode.opname[:256]]
    return list(entries[:256])


_CACHES = cache_units()
_TABLE = [version.ROWS.get(name) for name in opcode.opname[:256]]
_CONTINUES = frozenset(opcode.opmap[name] for name in version.CONTINUES)
_PAIRS = {opcode.opmap[name]: tuple(opcode.opmap[half] for half in halves) for name, halves in version.PAIRS.items()}

# As `_make`, without a call of Python for each: decoding is hot.
_INSTRUCTION: Callable[[tuple], Instruction] = partial(tuple.__new__, Instruction)
_GROUP: Callable[[tuple], Group] = partial(tuple.__new__, Group)

_ANALYSES = Analyses(depths, live_masks)

_programs: dict[int, tuple[weakref.ref[CodeType], Program]] = {}


def decode(code: CodeType) -> Program:
    """The Program of a code object; made once per code object (by identity) and dropped with it. Raises DecodeError."""
    key = id(code)
    found = _programs.get(key)
    if found is not None and found[0]() is code:
        return found[1]
    program = _Decoder(code).program()

    def forget(reference: weakref.ref[CodeType]) -> None:
        entry = _programs.get(key)
        if entry is not None and entry[0] is reference:
            del _programs[key]

    _programs[key] = (weakref.ref(code, forget), program)
    return program


def _originals(data: bytes) -> Iterator[tuple[int, int, int, list[tuple[int, int]]]]:
    """The groups as they stand in the code: first unit, unit of the last opcode, unit behind, (opcode, argument) pairs."""
    unit, end = 0, len(data) // 2
    while unit < end:
        first, arg = unit, 0
        raws: list[tuple[int, int]] = []
        while True:
            op = data[2 * unit]
            arg = arg << 8 | data[2 * unit + 1]
            unit += 1
            if op == _EXTENDED_ARG:
                continue
            last = unit - 1
            unit += _CACHES[op]
            raws.append((op, arg))
            if op not in _CONTINUES:
                break
            arg = 0
        yield first, last, unit, raws


def _halves(raws: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """A superinstruction on two slots is two groups, of the plain instructions that it stands for."""
    op, arg = raws[-1]
    halves = _PAIRS[op]
    return [[(halves[0], arg >> 4)], [(halves[1], arg & 15)]]


class _Decoder:
    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.ops: list[str] = []
        self.args: list[Any] = []
        self.origins: list[int] = []
        self.positions: list[Position] = []
        self.groups: list[Group] = []
        self.jumps: list[int] = []  # indices of jumps, whose arguments are code units until `_aim`
        self.opcode_units: list[int] = []  # per group, the unit of its last opcode: the one that raises
        self.group_at: dict[int, int] = {}  # first unit of a group -> its number

    def program(self) -> Program:
        self._read()
        self._aim()
        instructions = tuple(map(_INSTRUCTION, zip(self.ops, self.args, self.origins, self.positions)))
        handlers = self._handlers()
        return Program(self.code, instructions, read_slots(self.code), tuple(self.groups), self._start(), handlers, _ANALYSES)

    def _read(self) -> None:
        view = View(self.code.co_consts, self.code.co_names)
        places = [*self.code.co_positions()]
        place: Any = None
        group_at, groups, units = self.group_at, self.groups, self.opcode_units
        for first, last, after, raws in _originals(self.code.co_code):
            if places[last] != place:
                place = places[last]
                position = Position._make(place)
            group_at[first] = len(groups)
            for members in _halves(raws) if raws[-1][0] in _PAIRS else (raws,):
                view.raws = members
                units.append(last)
                self._expand(view, 2 * first, after, position)

    def _expand(self, view: View, offset: int, after: int, position: Position) -> None:
        """One group, whose raws the view has, at a byte offset and before the code unit `after`."""
        op, arg = view.raws[-1]
        row = _TABLE[op]
        if row is None:
            raise DecodeError(f"{opcode.opname[op]} in {self.code.co_qualname} has no row")
        ops, number = self.ops, len(self.groups)
        begin = len(ops)
        expansion = row(view, arg, after)
        for canonical, value in expansion:
            if canonical in JUMPS:
                self.jumps.append(len(ops))
            ops.append(canonical)
            self.args.append(value)
            self.origins.append(number)
            self.positions.append(position)
        self.groups.append(_GROUP((offset, tuple(view.raws), begin, len(expansion))))

    def _aim(self) -> None:
        for index in self.jumps:
            op, unit = self.ops[index], self.args[index]
            number = self._group_at(unit)
            for landing in version.LANDINGS.get(op, ()):
                found = opcode.opname[self.groups[number].raws[-1][0]]
                if found != landing:
                    raise DecodeError(f"{op} in {self.code.co_qualname} lands on {found}, not {landing}")
                number += 1
            self.args[index] = self.groups[number].first

    def _group_at(self, unit: int) -> int:
        number = self.group_at.get(unit)
        if number is None:
            raise DecodeError(f"unit {unit} of {self.code.co_qualname} is not the start of an instruction")
        return number

    def _handlers(self) -> tuple[Handler | None, ...]:
        rows = read_rows(self.code)
        if not rows:
            return (None,) * len(self.ops)
        found: list[Handler | None] = []
        current, handler = 0, None
        for unit, group in zip(self.opcode_units, self.groups):
            while current < len(rows) and rows[current].end <= unit:
                current, handler = current + 1, None
            if current < len(rows) and rows[current].start <= unit:
                if handler is None:
                    row = rows[current]
                    handler = Handler(self.groups[self._group_at(row.target)].first, row.depth, row.lasti)
                found.extend(repeat(handler, group.count))
            else:
                found.extend(repeat(None, group.count))
        return tuple(found)

    def _start(self) -> int:
        for index, op in enumerate(self.ops):
            if op == "RESUME":
                return index + 1
            if op not in _PREFIX:
                break
        return 0
