"""The classes that running traces have made, by their stand-ins (`layouts.class_`)."""

from __future__ import annotations

from frameloom.symbolic.values import Obj

STAND_INS: dict[int, Obj] = {}
"""id of a stand-in -> the class that it stands for, which keeps it alive; until the session that made it is over"""


def class_made(cls: object) -> Obj | None:
    """The class of a trace that a stand-in stands for, or None."""
    return STAND_INS.get(id(cls))
