"""Ordered effects that write no object of the heap: calls of host functions, done again in output code."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.layouts.base import replay
from frameloom.symbolic.values import Const, Value


AFTER_GRAPH: set[Any] = set()
"""Targets of host nodes that change something outside: they run behind the graph, so that a graph that fails leaves no trace."""


def call_named(function: Any, names: tuple[str, ...], *arguments: Any) -> None:
    """Call with the last arguments given by name; called by compiled code."""
    split = len(arguments) - len(names)
    function(*arguments[:split], **dict(zip(names, arguments[split:])))


@replay("call")
def _call(build: Any, function: Value, arguments: list[Value], names: tuple[str, ...]) -> None:
    if type(function) is Const and not names:
        build.call_effect(function.value, *arguments)
    else:
        build.call_effect(call_named, function, Const(names), *arguments)


@replay("changed")
def _changed(build: Any, target: Value) -> None:
    """Host nodes change what sources read: this makes the entry read them first."""
