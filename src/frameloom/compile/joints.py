"""Code that is made at run time for chains of frames that go on as one.

It is made between two instructions of the program, so that what forbids a capture forbids it too: the frame waits itself then.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from frameloom.compile import foundations
from frameloom.native import Joint


def joint(make: Callable[[types.CodeType], types.CodeType | None]) -> Any:
    """A callable that takes a tail record: `make(code of its function)`, remembered, or None while built-in names are replaced."""
    return Joint(_Maker(make))


class _Maker:
    __slots__ = ("make",)

    def __init__(self, make: Callable[[types.CodeType], types.CodeType | None]) -> None:
        self.make = make

    def __call__(self, inner: types.CodeType) -> types.CodeType | None:
        return None if foundations.replaced() is not None else self.make(inner)
