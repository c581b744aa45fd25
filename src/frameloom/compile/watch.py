"""Stable steps: how the entry learns that what a source read has changed.

`CHECK` reads the step again at every call.  It is always right, and the only way there is so far; watching dictionaries and
classes (PEP 699's relatives in 3.12) or comparing version tags are further answers of the same interface.
"""

from __future__ import annotations

from typing import NamedTuple

from frameloom.symbolic.source import Source

CHECK = "check"


class Watching(NamedTuple):
    """How one source is kept true: `how` is CHECK."""

    source: Source
    how: str


def choose(source: Source) -> Watching:
    """The way in which an entry keeps true what it assumed about `source`."""
    return Watching(source, CHECK)
