"""The storage of NumPy's objects: what is looked at in real ones, and how fresh ones are made."""

from __future__ import annotations

from typing import Any

import numpy

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import Obj

SCALARS = frozenset(
    {
        numpy.bool_, numpy.int8, numpy.int16, numpy.int32, numpy.int64, numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64,
        numpy.float16, numpy.float32, numpy.float64,
    }
)
"""The classes whose instances are modelled."""


class ScalarBody:
    """`scalar`: the object."""

    __slots__ = ("scalar",)

    def __init__(self, scalar: Any) -> None:
        self.scalar = scalar


def has_bytes(found: Any, wanted: bytes) -> bool:
    """Guard: whether a scalar has these bytes; its class is a guard of its own."""
    return found.tobytes() == wanted


@register(numpy.generic)
class ScalarLayout(Layout):
    """NumPy's scalars.  All are real: those that are computed at capture are constants of the compiled code."""

    def look(self, obj: Obj, session: Any) -> ScalarBody | None:
        found = obj.real.object
        if type(found) not in SCALARS:
            return None
        source = obj.real.source
        if source.base is not None or source.step != "const":
            session.guard("CALL", source, (has_bytes, found.tobytes(), f"{{}} == {found!r}"))
        return ScalarBody(found)
