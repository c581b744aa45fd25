"""What generated code may own: nothing from which the user's objects can be reached."""
from __future__ import annotations

import collections
import gc
import types
import weakref

import pytest

from frameloom.codegen.constants import lives_for_ever
from frameloom.codegen.generators import prime
from tests.compile.calls import Compiled


class Own:
    __slots__ = ("a",)

    def method(self) -> None:
        pass


@pytest.mark.parametrize("value", [
    None, 1, "text", b"x", 1.5, 1j, ..., NotImplemented, (1, ("a", None)), frozenset({1}), slice(1, None), range(3), int, dict,
    len, object.__setattr__, list.append, dict.__dict__["fromkeys"], types.CellType.__dict__["cell_contents"],
    types.CellType.__dict__["cell_contents"].__set__, dict.__new__, (lambda: 0).__code__, prime,
])
def test_what_lives_as_long_as_the_process(value) -> None:
    assert lives_for_ever(value)


@pytest.mark.parametrize("value", [
    Own, Own(), Own.__dict__["a"], Own.method, Own().method, [], {}, (1, []), slice([], None), {}.get, [].append,
    collections.OrderedDict.move_to_end.__get__(collections.OrderedDict()), lambda: 0, types.ModuleType("m"),
])
def test_what_may_die(value) -> None:
    assert not lives_for_ever(value)


def test_a_class_of_the_users_dies_with_its_entry() -> None:
    made = type("Made", (), {})

    def function():
        return made()

    call = Compiled(function, on_capture=None)
    assert type(call()) is made
    reference = weakref.ref(made)
    del made, function, call
    gc.collect()
    assert reference() is None
