"""Law 4: taking any instruction back and running it again leaves no difference."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from frameloom.interpreter import loop
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.registry import HANDLERS
from frameloom.symbolic.signals import GraphBreak, Suspend, SymbolicRaise
from frameloom.symbolic.values import Lazy

from .tracing import trace


class Box:
    gain = 2

    def __init__(self) -> None:
        self.n = 1
        self.items = [1, 2]
        self.table = {"a": 1}

    @property
    def double(self) -> int:
        return self.n * self.gain

    def __getattr__(self, name: str) -> Any:
        if name == "ghost":
            return 13
        raise AttributeError(name)


def attributes(box: Box) -> Any:
    box.n = box.double + box.ghost
    box.fresh = [box.n]
    del box.fresh
    return box.n, hasattr_like(box)


def hasattr_like(box: Box) -> bool:
    try:
        box.nothing
    except AttributeError:
        return False
    return True


def containers(box: Box) -> Any:
    box.items.append(3)
    box.items[0] = box.items[-1]
    box.table["b"] = box.table["a"] + 1
    del box.table["a"]
    box.table["a"] = 9
    seen = {1, 2}
    seen.add(3)
    return [*box.items], {**box.table}, {k: v for k, v in zip("xy", (1, 2))}, len(seen)


def cells(box: Box) -> Any:
    total = 0

    def add(k: int) -> int:
        nonlocal total
        total += k
        return total

    add(1)
    add(box.n)
    return total, add


def generators(box: Box) -> Any:
    def walk(n: int) -> Any:
        try:
            for i in range(n):
                got = yield i * box.n
                if got:
                    return got
        finally:
            box.n += 1

    source = walk(5)
    first = next(source)
    rest = [x for x in source]
    return first, rest, sum(walk(3))


def handlers(box: Box) -> Any:
    log = []
    try:
        try:
            [][1]
        except IndexError as error:
            log.append(error.args)
            raise KeyError("k") from error
        finally:
            log.append("finally")
    except KeyError as error:
        log.append(type(error.__cause__).__name__)
    return log


def classes(box: Box) -> Any:
    class Base:
        __slots__ = ("kept",)
        shared = 1

        def __init__(self, n: int) -> None:
            self.kept = n

        def told(self) -> int:
            return self.kept + self.shared

    class Derived(Base):
        def told(self) -> int:
            return super().told() * 2

    Derived.shared = 5
    Derived.later = 3
    del Derived.shared
    made = Derived(box.n)
    box.made = made.told
    return Derived, made.told(), isinstance(made, Base)


PROGRAMS = [attributes, containers, cells, generators, handlers, classes]


@pytest.fixture
def repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every instruction is run, taken back, and run again."""

    def twice(handler: Callable) -> Callable:
        def run(frame: Frame, arg: Any) -> Any:
            state = frame.snapshot()
            mark = frame.session.mark()
            try:
                handler(frame, arg)
            except (GraphBreak, SymbolicRaise, Suspend):
                pass
            frame.session.rollback(mark)
            frame.restore(state)
            frame.link = None
            frame.mark = mark
            return handler(frame, arg)

        return run

    monkeypatch.setattr(loop, "HANDLERS", {name: twice(handler) for name, handler in HANDLERS.items()})


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_repeated_instructions_leave_no_trace(program: Callable, request: pytest.FixtureRequest) -> None:
    plain = trace(program, Box())
    assert plain.reason is None, plain.reason
    request.getfixturevalue("repeated")
    again = trace(program, Box())
    assert again.guards() == plain.guards()
    assert again.operations() == plain.operations()
    assert len(again.session.nodes) == len(plain.session.nodes)
    assert picture(again.result, {}) == picture(plain.result, {})


def picture(value: Any, seen: dict) -> Any:
    """A comparable form of a symbolic result."""
    if type(value) is Lazy:
        return str(value.source)
    if id(value) in seen:
        return seen[id(value)]
    seen[id(value)] = len(seen)
    items = getattr(getattr(value, "body", None), "items", None)
    if isinstance(items, list):
        return (value.cls.__name__, [picture(item, seen) for item in items])
    known = getattr(getattr(value, "body", None), "known", None)
    if isinstance(known, dict):
        return (value.cls.__name__, [(str(key), picture(pair[1], seen)) for key, pair in known.items()])
    return (value.cls.__name__, getattr(value, "value", None) if not isinstance(value.cls, type(None)) else None)


def test_a_break_leaves_only_what_came_before() -> None:
    def before(box: Box) -> Any:
        box.n = 5
        return box.n

    def breaks(box: Box) -> Any:
        box.n = 5
        return open(box.table["a"])

    whole, broken = trace(before, Box()), trace(breaks, Box())
    assert broken.reason.kind.startswith("FL")
    assert broken.operations() == whole.operations()
