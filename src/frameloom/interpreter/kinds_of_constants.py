"""Constants of code objects as Values."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.values import Const, Value


def code_constant(session: Any, value: Any) -> Value:
    """The Value of an entry of `co_consts`: an atom, a code object, or a tuple or frozenset held fast."""
    if type(value) in ATOMS:
        return Const(value)
    return session.observe.constant(value)
