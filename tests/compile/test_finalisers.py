"""Finalisers run where eager Python runs them: effects are replayed in program order, and what they displace dies in between."""
from __future__ import annotations

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
