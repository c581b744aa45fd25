"""Arithmetic of guards: expressions over numbers and sizes as rows of the native program.

The reference is `expressions.compiled`.  An expression that has something without a row here is checked by Python.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from frameloom.compile.guard_rows import Writer, lowers, python_check
from frameloom.interpreter.expressions import Leaf, Plain, chosen, every, some
from frameloom.symbolic.guards import Guard
from frameloom.symbolic.source import Source

MOST_ROWS = 60_000


class Unsupported(Exception):
    """The native program has no row for this."""


class Reading(NamedTuple):
    """Where a number of an expression comes from: a row of the native program that reads it, what source, and of what dimension."""

    row: str
    source: Source
    dimension: int = 0


ROWS: dict[Callable, str] = {
    operator.add: "ADD", operator.sub: "SUB", operator.mul: "MUL", operator.truediv: "TRUE_DIV", operator.floordiv: "FLOOR_DIV",
    operator.mod: "MOD", operator.pow: "POW", operator.lshift: "LSHIFT", operator.rshift: "RSHIFT",
    operator.and_: "AND", operator.or_: "OR", operator.xor: "XOR",
    operator.lt: "LT", operator.le: "LE", operator.eq: "EQ", operator.ne: "NE", operator.gt: "GT", operator.ge: "GE",
    min: "MIN", max: "MAX", operator.neg: "NEG", operator.pos: "POS", abs: "ABS", operator.invert: "INVERT", operator.not_: "NOT",
    int: "TRUNC", math.trunc: "TRUNC", math.floor: "FLOOR", math.ceil: "CEIL", round: "ROUND", float: "FLOAT", math.sqrt: "SQRT",
}  # fmt: skip
"""function -> the row that does the same"""
ONE_OPERAND = frozenset({"NEG", "POS", "ABS", "INVERT", "NOT", "TRUNC", "FLOOR", "CEIL", "ROUND", "FLOAT", "SQRT"})
SEVERAL = frozenset({"MIN", "MAX"})
READERS_OF_NUMBERS = {int: "WHOLE", float: "REAL"}


class Rows:
    """Expressions on their way into rows.  Equal parts are computed once."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self.readings = readings
        self.rows: list[tuple] = []
        self.values: list[int | float] = []
        self.sources: dict[Source, int] = {}
        self._known: dict[Any, int] = {}

    def hold(self, expression: Any) -> None:
        """What must be true."""
        if type(expression) is tuple and expression[0] is every:
            for condition in expression[1:]:
                self.hold(condition)
        else:
            self._row("HOLDS", self.slot(expression))

    def slot(self, expression: Any) -> int:
        """The slot with what an expression comes out as."""
        known = self._known.get(expression)
        if known is None:
            known = self._known[expression] = self._written(expression)
        return known

    def constant(self, registers: Iterable[int]) -> tuple:
        """The constant of the instruction, which finds the sources in these registers."""
        return tuple(registers), tuple(self.values), tuple(self.rows)

    def _row(self, name: str, a: int, b: int = 0, c: int = 0) -> int:
        if len(self.rows) == MOST_ROWS:
            raise Unsupported("as many rows")
        self.rows.append((name, a, b, c))
        return len(self.rows) - 1

    def _written(self, expression: Any) -> int:
        if type(expression) is Leaf:
            return self._read(self.readings[expression.index])
        if type(expression) is Plain:
            return self._value(expression.value)
        function, *operands = expression
        control = CONTROL.get(function)
        if control is not None:
            return control(self, *operands)
        name = ROWS.get(function)
        if name is None or len(operands) != (1 if name in ONE_OPERAND else 2) and not (name in SEVERAL and len(operands) > 2):
            raise Unsupported(function)
        first, *rest = [self.slot(operand) for operand in operands]
        if not rest:
            return self._row(name, first)
        for operand in rest:
            first = self._row(name, first, operand)
        return first

    def _read(self, reading: Reading) -> int:
        return self._row(reading.row, self.sources.setdefault(reading.source, len(self.sources)), reading.dimension)

    def _value(self, value: Any) -> int:
        if type(value) is bool:
            value = int(value)
        if type(value) not in READERS_OF_NUMBERS:
            raise Unsupported(type(value))
        self.values.append(value)
        return -len(self.values)

    def _only(self, skip: str, condition: int, expression: Any) -> int:
        """The slot of an expression that is computed unless `condition` has it passed over."""
        known = dict(self._known)
        at = self._row(skip, condition)
        slot = self.slot(expression)
        self.rows[at] = (skip, condition, len(self.rows) - 1 - at, 0)
        self._known = known  # what was computed there may not have been
        return slot

    def _every(self, first: Any, *rest: Any) -> int:
        slot = self.slot(first)
        for operand in rest:
            second = self._only("SKIP_UNLESS", slot, operand)
            slot = self._row("CHOOSE", slot, second, slot)
        return slot

    def _some(self, first: Any, *rest: Any) -> int:
        slot = self.slot(first)
        for operand in rest:
            second = self._only("SKIP_IF", slot, operand)
            slot = self._row("CHOOSE", slot, slot, second)
        return slot

    def _chosen(self, condition: Any, a: Any, b: Any) -> int:
        slot = self.slot(condition)
        return self._row("CHOOSE", slot, self._only("SKIP_UNLESS", slot, a), self._only("SKIP_IF", slot, b))


CONTROL: dict[Callable, Callable[..., int]] = {every: Rows._every, some: Rows._some, chosen: Rows._chosen}


def arithmetic(writer: Writer, index: int, readings: Sequence[Reading], conditions: Iterable[Any]) -> bool:
    """Write that conditions over what is read hold; False, and nothing is written, where the native program cannot tell."""
    rows = Rows(readings)
    try:
        for number in range(len(readings)):
            rows.slot(Leaf(number))  # whatever is asked of it, it must be there, and of its class
        for condition in conditions:
            rows.hold(condition)
    except Unsupported:
        return False
    registers = [writer.register(source, index) for source in rows.sources]
    constant = writer.constant(rows.constant(registers))
    writer.emit("ARITHMETIC", 0, 0, constant, index, reads=registers)
    writer.emit("EXACTLY", 0, 0, constant, index, reads=registers)
    return True


@lowers("OUTCOME")
def _outcome(writer: Writer, index: int, guard: Guard) -> None:
    payload = guard.payload
    sources = (guard.source, *payload.others)
    readings = [Reading(READERS_OF_NUMBERS.get(cls, ""), source) for source, cls in zip(sources, payload.classes)]
    condition = payload.expression if payload.found else (operator.not_, payload.expression)
    if not all(reading.row for reading in readings) or not arithmetic(writer, index, readings, (condition,)):
        python_check(writer, index, guard)
