"""What differs from one CPython to the next; `version` is the module of the running one.

A version module has these names (documented in `docs/design/bytecode.md`):

- `ROWS`: opcode name -> row, a function (view, argument, next unit) -> canonical (op, argument) pairs
- `CONTINUES`: opcodes that form one group with the opcode that follows them
- `PAIRS`: superinstruction on two slots -> the two instructions that it stands for
- `LANDINGS`: canonical jump -> the original opcodes at its target that a jump goes past
- `NULL_FIRST`: whether a call's NULL lies below the callable
- the rest, for the emitter: how the running version spells calls, functions, attributes, comparisons and jumps
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

SUPPORTED = {(3, 11): "py311", (3, 12): "py312", (3, 13): "py313"}


class UnsupportedPython(RuntimeError):
    """The running Python has no version module."""


def _load() -> ModuleType:
    name = SUPPORTED.get(sys.version_info[:2])
    if name is None or sys.implementation.name != "cpython":
        raise UnsupportedPython(f"frameloom has no tables for {sys.implementation.name} {sys.version.split()[0]}")
    return import_module(f"{__name__}.{name}")


version = _load()
