"""The names of the running frame, as `locals()`, `vars()` and `dir()` tell them (PEP 667 says what differs between versions).

A function's names are copied into a dictionary.  Up to Python 3.12 a frame has one such dictionary, which each call brings up to
date and which keeps what else the program put there; from 3.13 on each call makes a new one.  A class body has its namespace.
"""

from __future__ import annotations

from frameloom.interpreter.frame import Frame
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.stores import dict_delete, dict_set
from frameloom.rules import dict_ as dicts
from frameloom.symbolic.layouts import cell
from frameloom.symbolic.values import UNBOUND, Const, Lazy, Value


def _is_kept() -> bool:
    return locals() is locals()


IS_KEPT = _is_kept()
"""Whether a frame has one dictionary of names for all that ask."""


def names_of(m: Machine, frame: Frame) -> Value:
    """What `locals()` gives in a frame.  The variables of a comprehension that runs in the frame around it (PEP 709) are there while it runs."""
    if frame.names is not None:
        return frame.names
    found = frame.told if IS_KEPT and frame.told is not None else dicts.fresh(m)
    for index in range(len(frame.program.slots)):
        name, value = Const(frame.program.slots[index].name), _value(frame, index)
        if value is UNBOUND:
            dict_delete(m, found, name)
        else:
            dict_set(m, found, name, value)
    m.session.journal.set_field(frame, "told", found)
    return found


def _value(frame: Frame, index: int) -> Value:
    value = frame.slots[index]
    if type(value) is Lazy:
        value = frame.slots[index] = frame.session.observe.resolve(value)
    if value is UNBOUND or frame.program.slots[index].kind == "local":
        return value
    return cell.get(frame.session, value)

