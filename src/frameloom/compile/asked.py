"""The functions that a program calls to ask something of the compiler; what they mean in a trace stands in `marks.py`."""

from __future__ import annotations

from frameloom import native

_in_compiled = getattr(native, "in_compiled", bool)  # without the native part nothing is ever compiled


def graph_break() -> None:
    """End the graph here.

    In a captured function the instructions so far become one graph, and those behind the call another.  Elsewhere the call
    does nothing.  Raises GraphBreakError under `fullgraph=True`.
    """


def is_compiling() -> bool:
    """Whether the calling thread is below a compiled callable, captured or not."""
    return _in_compiled()
