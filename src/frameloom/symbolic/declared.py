"""What a program declares of the sizes and numbers among a function's arguments before the first call.

A declaration is `None` (nothing is said), `True` (it varies), `False` (it is fixed), or `(least, most)` (it varies between the two, either of
which may be None).  An argument has one itself if it is a number; a tensor has one for each dimension, in a dict by dimension or in a sequence;
a list, tuple, dict or object has, by index, key or attribute name, what is declared of its items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from frameloom.symbolic.source import Source

SEQUENCES = (list, tuple)


class Declared:
    """The declarations for one root function.

    shapes: argument name -> what is declared of it.  passed_on: names of the root frame's `*args` -> the names of the arguments that are in it, in
    order, and of its `**kwargs` -> None; for a function that hands its arguments to the one whose they are.
    """

    __slots__ = ("shapes", "passed_on")

    def __init__(self, shapes: Mapping[str, Any], passed_on: Mapping[str, tuple[str, ...] | None]) -> None:
        self.shapes = shapes
        self.passed_on = passed_on

    def of(self, source: Source) -> Any:
        """What is declared of the object that a path leads to; None where nothing is."""
        root, *steps = source.path()
        if root.step != "local":
            return None
        if root.key in self.passed_on and root.key not in self.shapes:
            names = self.passed_on[root.key]
            found: Any = self.shapes if names is None else dict(enumerate(map(self.shapes.get, names)))
        else:
            found = self.shapes.get(root.key)
        for step in steps:
            found = _item(found, step.key)
        return found

    def number(self, source: Source) -> bool | None:
        """Whether the number that a path leads to varies; None where nothing is declared."""
        found = self.of(source)
        return found if type(found) is bool else True if is_bounds(found) else None

    def dimensions(self, source: Source, rank: int) -> Iterator[tuple[int, Any]]:
        """Each dimension of a tensor of which something is declared, with that.  Raises IndexError, with the dimension, for one it does not have."""
        found = self.of(source)
        if is_bounds(found) or not isinstance(found, (Mapping, *SEQUENCES)):
            return
        for dimension, said in found.items() if isinstance(found, Mapping) else enumerate(found):
            if said is not None:
                if type(dimension) is not int or not -rank <= dimension < rank:
                    raise IndexError(dimension)
                yield dimension % rank, said


def _item(declared: Any, key: Any) -> Any:
    if isinstance(declared, Mapping):
        return declared.get(key)
    if isinstance(declared, SEQUENCES) and not is_bounds(declared) and type(key) is int and key < len(declared):
        return declared[key]
    return None


def is_bounds(declared: Any) -> bool:
    """Whether this is `(least, most)`: two whole numbers, or one and None."""
    return type(declared) is tuple and len(declared) == 2 and {*map(type, declared)} in ({int}, {int, type(None)})


def faults(declared: Any, place: str) -> Iterator[str]:
    """What is wrong with declarations, as text."""
    if declared is None or type(declared) is bool:
        return
    if is_bounds(declared):
        least, most = declared
        if None not in declared and least > most:
            yield f"{place} varies between {least} and {most}: there is nothing between them"
    elif isinstance(declared, Mapping):
        for key, each in declared.items():
            yield from faults(each, f"{place}[{key!r}]")
    elif isinstance(declared, SEQUENCES):
        for index, each in enumerate(declared):
            yield from faults(each, f"{place}[{index}]")
    else:
        yield f"{place} is True, False, None or (least, most), or a dict or sequence of these, not {declared!r}"
