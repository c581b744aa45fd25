"""Whether the built-in names that the compiler itself is written with still mean what they meant.

A program may put others in their place (`builtins.len = ...`), and then any Python, the compiler's and the standard library's that it
uses, does something else.  So nothing is captured meanwhile.  Names of which only programs make use may change.
"""

from __future__ import annotations

import builtins

LEFT_TO_PROGRAMS = frozenset({
    "__import__", "__build_class__", "__debug__", "__doc__", "__loader__", "__name__", "__package__", "__spec__", "_", "breakpoint",
    "copyright", "credits", "exit", "help", "input", "license", "open", "print", "quit",
})  # fmt: skip
_NOW = builtins.__dict__
_FOUND = {name: value for name, value in _NOW.items() if name not in LEFT_TO_PROGRAMS}


def replaced() -> str | None:
    """The first built-in name that means something else now, or None.  Calls nothing that could have been replaced."""
    for name, value in _FOUND.items():
        if _NOW.get(name) is not value:
            return name
    return None
