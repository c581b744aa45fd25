"""Functions that must not be cut: what goes on behind a break has a frame of its own, and they would notice."""

from __future__ import annotations

import inspect
import sys
import types

from frameloom.bytecode.canonical import JUMPS
from frameloom.interpreter.frame import Frame
from frameloom.rules.frame_names import IS_KEPT
from frameloom.symbolic.session import Session
from frameloom.symbolic.values import Const, Obj

FRAME_READERS = (sys._getframe, inspect.currentframe)
WHOLE_NAMES = frozenset({*(reader.__name__ for reader in FRAME_READERS), sys.settrace.__name__, sys.setprofile.__name__})
"""What a function names that must not be cut: its frame would be another behind the cut, and a tracer would see that one begin."""

TELLS_NAMES = frozenset({locals.__name__, vars.__name__})


def reads_frame(session: Session, frame: Frame) -> bool:
    """Whether the instruction asks for the running frame."""
    found = {id(session.observe.peek(value)) for value in frame.stack if type(value) in (Const, Obj)}
    return any(id(reader) in found for reader in FRAME_READERS)


def needs_its_frame(frame: Frame) -> bool:
    """Whether the function may ask for its frame before or after the break, and compare it with one that it has from elsewhere, a
    traceback for instance; or sets a tracer, or measures memory; or asks again for the dictionary of its names."""
    code = frame.program.code
    return not WHOLE_NAMES.isdisjoint(code.co_names) or measures_memory(code) or _asks_again(frame)


def _asks_again(frame: Frame) -> bool:
    """Whether a frame that has given its names in a dictionary, and would bring the same one up to date, may do so behind its instruction."""
    if not IS_KEPT or frame.told is None:
        return False
    instructions = frame.program.instructions
    asking = [index for index, (op, arg, *_) in enumerate(instructions) if op in ("LOAD_GLOBAL", "LOAD_NAME") and arg in TELLS_NAMES]
    back = [instruction.arg for instruction in instructions[frame.index :] if instruction.op in JUMPS]
    reached = min([frame.index + 1, *back])
    return any(index >= reached for index in asking)


def measures_memory(code: types.CodeType) -> bool:
    """Whether the function may ask how many objects there are or how big one is: it would see the compiler's own, and what is
    not made because nobody uses it.  It runs as it is, with all that it calls."""
    return not MEASURES.isdisjoint(code.co_names)


MEASURES = frozenset({"get_objects", "getsizeof"})
"""names of functions of gc and sys"""
