"""A graph that raises at run time before anything was changed: the frame runs again, eagerly (DESIGN, section 7)."""

from __future__ import annotations

import types

from frameloom.bytecode.slots import CO_VARARGS, CO_VARKEYWORDS, argument_count
from frameloom.codegen.resume import ByCode
from frameloom.compile.locations import first_line
from frameloom.diagnostics import events
from frameloom.diagnostics.reports import BreakReport

_eager: ByCode[types.CodeType] = ByCode()
_made: ByCode[bool] = ByCode()


def rerun(code: types.CodeType) -> types.CodeType:
    """Note the event; gives a copy of the code that is never captured and takes what the slots hold; called by compiled code."""
    events.eager(BreakReport.of("FL912", (first_line(code),), "the graph of this function raised"), tell=False)
    made = _eager.get(code)
    if made is None:
        made = code.replace(
            co_argcount=argument_count(code),
            co_posonlyargcount=0,
            co_kwonlyargcount=0,
            co_flags=code.co_flags & ~(CO_VARARGS | CO_VARKEYWORDS),
        )
        _eager.set(code, made)
        _made.set(made, True)
    return made


def runs_again(code: types.CodeType) -> bool:
    """Whether the code is such a copy."""
    return _made.get(code) is True
