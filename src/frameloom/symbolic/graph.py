"""The operations of a trace, in program order, and the write log's rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

PURE: set[Callable] = set()
"""Targets of nodes of the host that only compute: they run where their result is used, and may run again."""


class Operation(NamedTuple):
    """One Python-visible mutation, in program order (law 3).

    `kind` names a replay of the layout that owns the part ("attribute.set", "list.append", "cell.set", ...); `target` is
    the mutated Obj or Node; `arguments` are Values, or plain names where the kind says so.
    """

    kind: str
    target: Any
    arguments: tuple
    where: Any
