"""Finalisers run where eager Python runs them: effects are replayed in program order, and what they displace dies in between."""
from __future__ import annotations

import collections
import unittest
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from frameloom.interpreter.registry import refuse
from tests.compile.calls import Compiled


class Resource:
    def __init__(self, log: list) -> None:
        self.log = log

    def __del__(self) -> None:
        self.log.append("released")


class Holder:
    def __init__(self, log: list) -> None:
        self.cache: Any = Resource(log)
        self.items: list = [Resource(log)]
        self.table: dict = {"a": Resource(log)}


def attribute_between(holder: Holder, log: list) -> None:
    log.append("before")
    holder.cache = None
    log.append("after")


def deleted_attribute(holder: Holder, log: list) -> None:
    del holder.cache
    log.append("after")


def item_between(holder: Holder, log: list) -> None:
    holder.items[0] = 1
    log.append("after")
    holder.table["a"] = 2
    log.append("later")


def cleared(holder: Holder, log: list) -> None:
    holder.items.clear()
    log.append("after")
    holder.table.pop("a")
    log.append("later")


def breaks() -> None:
    pass


refuse("FL401", "the test breaks here", breaks)


def around_a_break(holder: Holder, log: list) -> None:
    holder.cache = None
    log.append("after")
    breaks()
    holder.items = None
    log.append("later")


PROGRAMS = [attribute_between, deleted_attribute, item_between, cleared, around_a_break]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_order(program: Callable) -> None:
    def run(call: Callable) -> tuple:
        log: list = []
        holder = Holder(log)
        result = call(holder, log)
        kept = [*log]
        del holder
        return result, kept, log

    expected = run(program)
    call = Compiled(program, on_capture=None)
    assert run(call) == expected
    assert run(call) == expected
    assert "released" in expected[1]


def test_callbacks_of_weak_references() -> None:
    def program(holder: Holder, log: list) -> None:
        holder.cache = None
        log.append("after")

    def run(call: Callable) -> list:
        log: list = []
        holder = Holder([])
        reference = weakref.ref(holder.cache, lambda _: log.append("dead"))
        call(holder, log)
        assert reference() is None
        return log

    assert run(Compiled(program, on_capture=None)) == run(program) == ["dead", "after"]


class Watching(unittest.TestCase):
    """Is run below a chain of frames that all wait for it."""

    def by_proxy(self) -> None:
        watched = set("watched")
        proxy = weakref.proxy(watched)
        watched = None
        self.assertRaises(ReferenceError, str, proxy)

    def by_reference(self) -> None:
        watched = set("watched")
        reference = weakref.ref(watched)
        watched = None
        self.assertIsNone(reference())


@pytest.mark.parametrize("name", ["by_proxy", "by_reference"])
def test_what_a_chain_of_frames_lets_go_of_dies_at_once(name: str) -> None:
    def program() -> list:
        result = unittest.TestResult()
        Watching(name).run(result)
        return [text for _, text in [*result.failures, *result.errors]]

    call = Compiled(program, on_capture=lambda capture: capture.trace.session.close())
    assert call() == call() == []


# -- what the same call reads behind the end of an object -----------------------------------------------------------


class Slotted:
    __slots__ = ("cache",)


class Everything:
    """A place of every kind that holds a resource, which writes to `log` at its end."""

    kept: Any

    def __init__(self, log: list) -> None:
        self.log = log
        self.cache = Resource(log)
        self.inside = [[Resource(log)]]
        self.items = [Resource(log), Resource(log)]
        self.table = {"a": Resource(log), 2: Resource(log)}
        self.queue = collections.deque([Resource(log)])
        self.members = {Resource(log)}
        self.slotted = Slotted()
        self.slotted.cache = Resource(log)
        contents = Resource(log)

        def put(value: Any) -> None:
            nonlocal contents
            contents = value

        self.put = put
        self.reads = lambda: contents
        del contents

    def __del__(self) -> None:
        pass


def attribute(world: Everything, log: list) -> int:
    world.cache = None
    return len(log)


def attribute_gone(world: Everything, log: list) -> int:
    del world.cache
    return len(log)


def deeper(world: Everything, log: list) -> int:
    world.inside = 3
    return len(log)


def name_held(world: Everything, log: list) -> tuple:
    held = world.cache
    world.cache = 2
    before = len(log)
    held = None  # noqa: F841
    return before, len(log)


def popped_key(world: Everything, log: list) -> int:
    world.table.pop("a", None)
    return len(log)


def key_written(world: Everything, log: list) -> int:
    world.table[2] = 1
    return len(log)


def dictionary_cleared(world: Everything, log: list) -> int:
    world.table.clear()
    return len(log)


def updated(world: Everything, log: list) -> int:
    world.table.update(a=1)
    return len(log)


def list_cleared(world: Everything, log: list) -> int:
    world.items.clear()
    return len(log)


def item_written(world: Everything, log: list) -> int:
    world.items[0] = 1
    return len(log)


def slice_written(world: Everything, log: list) -> int:
    world.items[:] = [1]
    return len(log)


def item_popped(world: Everything, log: list) -> int:
    world.items.pop()
    return len(log)


def queue_popped(world: Everything, log: list) -> int:
    world.queue.popleft()
    return len(log)


def queue_cleared(world: Everything, log: list) -> int:
    world.queue.clear()
    return len(log)


def set_cleared(world: Everything, log: list) -> int:
    world.members.clear()
    return len(log)


def slot_written(world: Everything, log: list) -> int:
    world.slotted.cache = None
    return len(log)


def cell_written(world: Everything, log: list) -> tuple:
    world.put(5)
    return len(log), world.reads()


def global_written(world: Everything, log: list) -> int:
    global HELD
    HELD = 1
    return len(log)


def class_attribute(world: Everything, log: list) -> int:
    Everything.kept = None
    return len(log)


HELD: Any = None
READS = [
    attribute, attribute_gone, deeper, name_held, popped_key, key_written, dictionary_cleared, updated, list_cleared, item_written,
    slice_written, item_popped, queue_popped, queue_cleared, set_cleared, slot_written, cell_written, global_written, class_attribute,
]


@pytest.mark.parametrize("program", READS, ids=lambda program: program.__name__)
def test_reads_behind_the_end_of_an_object(program: Callable) -> None:
    def run(call: Callable) -> tuple:
        global HELD
        log: list = []
        world = Everything(log)
        HELD, Everything.kept = Resource(log), Resource(log)
        found = call(world, log)
        return found, [*log]

    expected = run(program)
    assert expected[1], "nothing ended"
    call = Compiled(program, on_capture=None)
    for _ in range(3):
        assert run(call) == expected
    HELD = Everything.kept = None


def test_what_others_hold_is_no_reason_to_break() -> None:
    log: list = []
    held = Resource(log)

    class Holder:
        pass

    def program(holder: Any, log: list) -> int:
        holder.cache = [1]
        return len(log)

    call = Compiled(program)
    for _ in range(2):
        holder = Holder()
        holder.cache = (held, [held])
        assert call(holder, log) == 0
    assert len(call.captures) == 1
    del held
