"""What an entry names it does not keep alive: objects that it found as keys and members die when eager would let them die."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from tests.compile.calls import Compiled


class Thing:
    def __init__(self, number: int) -> None:
        self.number = number


class Hashing(Thing):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing) and self.number == other.number

    def __hash__(self) -> int:
        return self.number


def listed(table: Any) -> int:
    return len([*table])


def compared(table: Any) -> bool:
    return table == type(table)(table)


def looked_up(table: Any, thing: Any) -> bool:
    return thing in table


def looked_up_in_a_tuple(table: Any, thing: Any) -> bool:
    return (thing, 1) in table


def given_back(table: Any) -> Any:
    for key in table:
        return key


def walked(table: Any) -> list:
    def keys() -> Any:
        for key in table:
            if key is not None:
                yield 1

    return list(keys())


CONTAINERS: dict[str, Callable] = {
    "dict": lambda things: dict.fromkeys(things, 1),
    "set": set,
    "frozenset": frozenset,
    "tuples": lambda things: {(thing, 1): 2 for thing in things},
    "set of tuples": lambda things: {(thing, 1) for thing in things},
}


@pytest.mark.parametrize("cls", [Thing, Hashing])
@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS.keys())
@pytest.mark.parametrize("program", [listed, compared, looked_up, looked_up_in_a_tuple, given_back, walked])
def test_keys_die_with_their_container(program: Callable, make: Callable, cls: type) -> None:
    call = Compiled(program, on_capture=lambda capture: capture.trace.session.close())
    argument_count = program.__code__.co_argcount
    for _ in range(2):
        things = [cls(number) for number in range(3)]
        table = make(things)
        arguments = (table, things[1])[:argument_count]
        assert call(*arguments) == program(*arguments)
        seen = [weakref.ref(thing) for thing in things]
        enabled = gc.isenabled()
        gc.disable()
        try:
            del things, table, arguments
            assert [reference() for reference in seen] == [None, None, None]
        finally:
            if enabled:
                gc.enable()


def test_local_classes_die_as_keys() -> None:
    def stored(table: dict, key: Any) -> bool:
        found = key in table
        table[key] = 1
        return found

    call = Compiled(stored, on_capture=lambda capture: capture.trace.session.close())
    for known in (False, True):

        class Local:
            pass

        table = {Local: 2} if known else {}
        assert call(table, Local) is known
        seen = weakref.ref(Local)
        del Local, table
        gc.collect()
        assert seen() is None


def test_functions_of_c_code_that_no_module_has_die() -> None:
    made = pytest.importorskip("_testcapi").create_cfunction
    call = Compiled(lambda function: (function, 1), on_capture=lambda capture: capture.trace.session.close())
    same = Compiled(lambda function: function is found, on_capture=lambda capture: capture.trace.session.close())
    found = made()
    assert call(found)[0] is found and same(found)
    seen = weakref.ref(found)
    del found
    assert seen() is None


def test_a_key_that_is_gone_is_another_key() -> None:
    call = Compiled(listed)
    for number in range(3):
        assert call({Thing(number): 1, Thing(3): 2}) == 2
        assert call({Thing(number): 1}) == 1


def test_what_a_weak_reference_gave_is_what_the_entry_uses() -> None:
    """A referent that dies between the guards and the entry's own look: the collector runs whenever something is allocated."""

    class Cycle:
        def __init__(self) -> None:
            self.cycle = self

    def program(reference: Any, made: list) -> Any:
        made.append([[] for _ in range(4)])
        found = reference()
        return "gone" if found is None else found.cycle is found

    call = Compiled(program)
    before = gc.get_threshold()
    for _ in range(3):
        reference = weakref.ref(Cycle())
        gc.set_threshold(1, 1, 1)
        try:
            found = call(reference, [])
        finally:
            gc.set_threshold(*before)
        assert found in (True, "gone")




def test_what_the_trace_computed_is_the_entrys() -> None:
    """Objects that nobody else has, beside keys that others have."""

    def program(table: dict) -> Any:
        for key in table:
            return key, list[int], (tuple[str],)

    call = Compiled(program, on_capture=lambda capture: capture.trace.session.close())
    table = {Thing(1): 2}
    assert [call(table) for _ in range(3)] == [program(table)] * 3


def test_a_key_that_the_entry_removes() -> None:
    def program(table: dict) -> Any:
        for key in list(table):
            del table[key]
        return key.number

    call = Compiled(program, on_capture=lambda capture: capture.trace.session.close())
    for number in range(3):
        assert call({Thing(number): 1}) == number
    thing = Thing(5)
    for _ in range(3):
        assert call({thing: 1}) == 5
