"""Code of a compiled generator, coroutine or asynchronous generator: the user's, in sections.

Such a function runs whenever its consumer goes on with it, with no compiled callable on the stack. A section of it begins where it goes
on and ends where it is suspended, returns or lets an exception out. The copy opens a scope at the beginning of each, so that what it calls
is captured, and closes it at the end. All else is the user's own: slots, names, positions, handlers, and each RESUME behind its
YIELD_VALUE, where CPython looks what a generator waits for.

Into a section that begins with `throw()` or `close()` no scope is opened before the next suspension: it begins in a handler.
"""

from __future__ import annotations

import opcode
from collections.abc import Callable
from types import CodeType
from typing import Any

from frameloom.bytecode.assemble import Label
from frameloom.bytecode.decode import decode
from frameloom.bytecode.emitter import Emitter
from frameloom.bytecode.program import Group

OPENS = frozenset({"RESUME"})
CLOSES = frozenset({"YIELD_VALUE", "RETURN_VALUE", "RETURN_CONST"})


def code_in_sections(code: CodeType, engine: Any, open_section: Callable, close_section: Callable) -> CodeType:
    """A copy of the code of a generator function that calls `open_section(engine)` and `close_section()` around each section."""
    program = decode(code)
    out = Emitter(code)
    failed = Label()

    def opens() -> None:
        out.begin_call(open_section)
        out.load_const(engine)
        out.end_call(1)
        out.pop_top()

    def closes() -> None:
        out.begin_call(close_section)
        out.end_call(0)
        out.pop_top()

    with out.at(program.instructions[0].position):
        out.prefix(generator=True)
    with out.at(program.instructions[program.start].position), out.region(failed, 0, lasti=True):
        opens()
    out.copy_body(
        program,
        before=lambda group: closes() if _has(group, CLOSES) else None,
        after=lambda group: opens() if _has(group, OPENS) else None,
        last_handler=failed,
    )
    out.place(failed)
    closes()
    out.op("RERAISE", 1)
    parameters = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags")
    return out.finish().code.replace(**{name: getattr(code, name) for name in parameters})


def _has(group: Group, names: frozenset[str]) -> bool:
    return any(opcode.opname[number] in names for number, _ in group.raws)
