"""frameloom: ordinary Python in, graphs out, nothing changed but the speed."""

import frameloom.compile  # noqa: F401  the room first: imported later, it would take the place of the function of its name
from frameloom import config
from frameloom.api import (
    allow_in_graph,
    assume_constant_result,
    compile,
    disable,
    explain,
    list_backends,
    mark_dynamic,
    mark_static,
    mark_static_address,
    mark_unbacked,
    maybe_mark_dynamic,
    register_backend,
    reset,
    set_stance,
    stats,
)
from frameloom.compile.asked import graph_break, is_compiling
from frameloom.diagnostics import errors

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "config",
    "disable",
    "errors",
    "explain",
    "graph_break",
    "is_compiling",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "mark_unbacked",
    "maybe_mark_dynamic",
    "register_backend",
    "reset",
    "set_stance",
    "stats",
]
