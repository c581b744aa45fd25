"""Zero-argument super() behind a break, where the first argument is a cell, and `locals()`: resume code keeps the user's slots."""
from __future__ import annotations

import pytest

from frameloom.interpreter.registry import refuse
from tests.compile.calls import Compiled


def breaks() -> None:
    pass


refuse("FL401", "the test breaks here", breaks)


class Base:
    def named(self, extra: int = 0) -> str:
        return f"Base of {type(self).__name__} {extra}"


class Derived(Base):
    def plain(self) -> str:
        breaks()
        return super().named()

    def in_a_cell(self) -> tuple:
        get = lambda: self  # noqa: E731  makes the first argument a cell
        breaks()
        return super().named(), get() is self

    def written_cell(self, k: int) -> tuple:
        def put(value: int) -> None:
            nonlocal k
            k += value

        [1, breaks(), 2]
        put(2)
        found = super().named(k)
        breaks()
        put(3)
        return found, super().named(k), put.__closure__[0].cell_contents, __class__

    def with_locals(self, k: int) -> list:
        a = [k, breaks()]
        return sorted(locals())

    def cell_shared(self) -> bool:
        one = lambda: self  # noqa: E731
        breaks()
        other = lambda: self  # noqa: E731
        return one.__closure__[0] is other.__closure__[0]


@pytest.mark.parametrize("name", ["plain", "in_a_cell", "written_cell", "with_locals", "cell_shared"])
def test_super(name: str) -> None:
    function = getattr(Derived, name)
    arguments = (3,) * (function.__code__.co_argcount - 1)
    call = Compiled(function)
    for _ in range(2):
        assert call(Derived(), *arguments) == function(Derived(), *arguments)
