"""From units (original opcodes with symbolic arguments) to a code object; tables are written by the package `bytecode`."""

from __future__ import annotations

import opcode
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from bytecode import ConcreteBytecode, ConcreteInstr
from bytecode.concrete import ExceptionTableEntry
from bytecode.instr import InstrLocation

from .decode import cache_units
from .program import Position


class Label:
    """A place in code being emitted. `unit` is the index of the unit that follows it, `depth` the stack depth there."""

    __slots__ = ("unit", "depth")

    def __init__(self) -> None:
        self.unit: int | None = None
        self.depth: int | None = None


class Unit(NamedTuple):
    """One original instruction to be: opcode name, argument (None, a number or a Label to jump to), position."""

    op: str
    arg: int | Label | None
    position: Position


class Region(NamedTuple):
    """Units `start` to `end` (exclusive) whose exceptions go to `target` with the stack cut to `depth`."""

    start: int
    end: int
    target: Label
    depth: int
    lasti: bool


class Signature(NamedTuple):
    """All of a code object that is not instructions."""

    name: str
    qualname: str
    filename: str
    firstlineno: int
    flags: int
    argcount: int
    posonlyargcount: int
    kwonlyargcount: int
    varnames: tuple[str, ...]
    cellvars: tuple[str, ...]
    freevars: tuple[str, ...]


_CACHES = {name: units for name, units in zip(opcode.opname, cache_units())}
_BACKWARD = {"JUMP_FORWARD": "JUMP_BACKWARD"} | {
    name.replace("BACKWARD", "FORWARD"): name for name in opcode.opmap if name.startswith("POP_JUMP_BACKWARD")
}


class AssemblyError(Exception):
    """The units cannot become a code object: an unbound label, or a jump that the running Python has no opcode for."""


class Assembled(NamedTuple):
    """A code object, and the code unit at which each unit begins (one more for the end)."""

    code: CodeType
    offsets: list[int]


def assemble(
    units: list[Unit], regions: list[Region], signature: Signature, consts: list[Any], names: list[str], stacksize: int, offset_consts: dict[int, Label]
) -> Assembled:
    """Lay the units out and make the code object.

    `offset_consts` maps indices of `consts` to labels whose code unit they are to hold. Raises AssemblyError.
    """
    units = [_directed(index, unit) for index, unit in enumerate(units)]
    args, offsets = _lay_out(units)
    for index, label in offset_consts.items():
        consts[index] = offsets[_bound(label)]
    concrete = ConcreteBytecode(_concrete(units, args), varnames=signature.varnames, names=tuple(names))
    concrete.exception_table = [_table_entry(region, args, offsets) for region in regions if region.start < region.end]
    for field in ("name", "qualname", "filename", "flags", "argcount", "posonlyargcount", "kwonlyargcount"):
        setattr(concrete, field, getattr(signature, field))
    concrete.first_lineno = signature.firstlineno
    concrete.cellvars = list(signature.cellvars)
    concrete.freevars = list(signature.freevars)
    code = concrete.to_code(stacksize=stacksize, compute_exception_stack_depths=False)
    # The package merges constants that compare equal; these are kept apart by giving it none at all.
    return Assembled(code.replace(co_consts=tuple(consts)), offsets)


def _bound(label: Label) -> int:
    if label.unit is None:
        raise AssemblyError("a label was used and never placed")
    return label.unit


def _directed(index: int, unit: Unit) -> Unit:
    # Jumps are emitted in their forward form.
    if not isinstance(unit.arg, Label) or _bound(unit.arg) > index or "BACKWARD" in unit.op:
        return unit
    op = _BACKWARD.get(unit.op)
    if op is None:
        raise AssemblyError(f"{unit.op} cannot jump backward")
    return unit._replace(op=op)


def _size(op: str, arg: int) -> int:
    return 1 + (arg > 0xFF) + (arg > 0xFFFF) + (arg > 0xFFFFFF) + _CACHES[op]


def _lay_out(units: list[Unit]) -> tuple[list[int], list[int]]:
    # Sizes only grow, so this ends.
    args = [unit.arg if isinstance(unit.arg, int) else 0 for unit in units]
    jumps = [(index, unit, _bound(unit.arg)) for index, unit in enumerate(units) if isinstance(unit.arg, Label)]
    sizes = [_size(unit.op, arg) for unit, arg in zip(units, args)]
    while True:
        offsets = [0]
        for size in sizes:
            offsets.append(offsets[-1] + size)
        grown = False
        for index, unit, target in jumps:
            args[index] = abs(offsets[target] - offsets[index + 1])
            size = _size(unit.op, args[index])
            if size > sizes[index]:
                sizes[index], grown = size, True
        if not grown:
            # One that could be smaller again keeps its size: EXTENDED_ARG 0 costs nothing but a unit.
            return args, offsets


def _concrete(units: list[Unit], args: list[int]) -> list[ConcreteInstr]:
    found = []
    for unit, arg in zip(units, args):
        location = _location(unit.position)
        if unit.arg is None:
            found.append(ConcreteInstr(unit.op, location=location))
        else:
            found.append(ConcreteInstr(unit.op, arg, location=location))
        found.extend([_cache(location)] * _CACHES[unit.op])
    return found


@lru_cache(maxsize=4096)
def _cache(location: InstrLocation) -> ConcreteInstr:
    return ConcreteInstr("CACHE", 0, location=location)


@lru_cache(maxsize=4096)
def _location(position: Position) -> InstrLocation:
    line, end_line, column, end_column = position
    if line is None:
        return InstrLocation(None, None, None, None)
    columns_stand = None not in (end_line, column, end_column) and (end_line, end_column) >= (line, column)
    if not columns_stand:
        return InstrLocation(line, None, None, None)
    return InstrLocation(line, end_line, column, end_column)


def _table_entry(region: Region, args: list[int], offsets: list[int]) -> ExceptionTableEntry:
    last = offsets[region.end] - 1  # inclusive in the package's form
    return ExceptionTableEntry(offsets[region.start], last, offsets[_bound(region.target)], region.depth, region.lasti)
