"""How an entry learns that what a guard assumed has changed.

`CHECK` asks again at every call, in the guard program: it is always right, on every Python, for every kind of step, and the
one answer there is so far.  Being told of changes instead (watchers of dictionaries and classes, tags of dictionaries) are
further answers to the same question; which of them can be trusted on the running Python is to be found by a self-test.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from frameloom.symbolic.guards import Guard

CHECK = "check"


class Division(NamedTuple):
    """The guards of an entry by how they are kept true, each with its index among all of them."""

    checked: tuple[tuple[int, Guard], ...]


def strategy(guard: Guard) -> str:
    """The way in which an entry keeps a guard true."""
    return CHECK


def divide(guards: Iterable[Guard]) -> Division:
    """Divide the guards of an entry by strategy; the order within each is kept."""
    return Division(tuple((index, guard) for index, guard in enumerate(guards) if strategy(guard) == CHECK))
