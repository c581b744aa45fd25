"""Reading a code object's exception table (format: `Objects/exception_handling_notes.txt` of CPython 3.11 and later)."""

from __future__ import annotations

from types import CodeType
from typing import NamedTuple


class Row(NamedTuple):
    """One row; `start`, `end` (exclusive) and `target` in code units."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


def read_rows(code: CodeType) -> list[Row]:
    """The rows of the code object's exception table, in order of `start`; they never overlap."""
    numbers = _numbers(code.co_exceptiontable)
    rows = []
    for start, length, target, depth_and_lasti in zip(*[iter(numbers)] * 4, strict=True):
        rows.append(Row(start, start + length, target, depth_and_lasti >> 1, bool(depth_and_lasti & 1)))
    return rows


def _numbers(table: bytes) -> list[int]:
    # Six bits a byte, highest first; bit 6 says that more follow, bit 7 marks the start of a row.
    numbers = []
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(value)
            value = 0
    return numbers
