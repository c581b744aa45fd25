"""The places for variables in a frame, as a code object lays them out."""

from __future__ import annotations

from types import CodeType

from .program import Slot

CO_VARARGS, CO_VARKEYWORDS = 4, 8


def read_slots(code: CodeType) -> tuple[Slot, ...]:
    """The slots of a frame of the code object, in the order in which its instructions number them."""
    arguments = argument_count(code)
    cells = frozenset(code.co_cellvars)
    named = frozenset(code.co_varnames)
    slots = [Slot(name, "cell" if name in cells else "local", i < arguments) for i, name in enumerate(code.co_varnames)]
    slots += [Slot(name, "cell", False) for name in code.co_cellvars if name not in named]
    slots += [Slot(name, "free", False) for name in code.co_freevars]
    return tuple(slots)


def argument_count(code: CodeType) -> int:
    """How many slots are arguments, those of `*args` and `**kwargs` included; they are the first ones."""
    stars = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + stars
