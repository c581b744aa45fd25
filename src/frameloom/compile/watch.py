"""How an entry learns that what its guards assumed has changed, for each stretch of its guard program.

`READ`: the rows are run at every call.  This is always right, on every Python and for every kind of row.
`WORDS`: the rows have held, and the words of memory that they depend on are the same since (`native/snapshot.c`): numbers of the
states of dictionaries and classes, classes of objects, pointers in cells, functions and lists.  Only a Python that numbers every
state of a dictionary can tell so; the native program finds out by itself, row by row.
"""

from __future__ import annotations

from typing import NamedTuple

from frameloom.native import GuardProgram

READ = "read"
WORDS = "words"


class Stretch(NamedTuple):
    """A stretch of a guard program over the objects that hang on one root.

    rows: how many instructions; words: how many words stand for them now, 0 where none do; uses: evaluations for which they
    did; refused: the row of the stretch that words cannot tell of, or -1.
    """

    rows: int
    words: int
    uses: int
    refused: int

    @property
    def strategy(self) -> str:
        """How it is kept true as things are."""
        return WORDS if self.words else READ


def stretches(program: GuardProgram) -> tuple[Stretch, ...]:
    """The stretches of a program for which words may stand, in its order."""
    return tuple([Stretch(*described) for described in program.snapshots])
