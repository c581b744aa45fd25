"""Law 4 for the rules: every instruction of the programs of this folder is run, taken back and run again; nothing differs."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frameloom.interpreter import loop
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.registry import HANDLERS
from frameloom.symbolic.signals import GraphBreak, Suspend, SymbolicRaise
from tests.rules import test_atoms, test_collections, test_dict, test_iterators, test_itertools, test_list, test_sequences, test_set
from tests.rules.evaluate import check

MADE = [
    *(getattr(test_iterators, name) for name in ("stepping", "lazies", "leaving", "mutual", "sentinel", "strict", "generators")),
    *(getattr(test_itertools, name) for name in ("given", "groups", "teed")),
    *(getattr(test_collections, name) for name in ("ordered_subclass", "defaults", "counted", "bounded", "named", "chained")),
    *(getattr(test_set, name) for name in ("popped", "order_of_operations", "with_keys", "nested", "iterated", "owned")),
]
GIVEN = [
    *((getattr(test_list, name), [1, 2, 3, 2]) for name in ("growing", "looking", "slices", "sorting", "stacks", "loud", "itself")),
    *((getattr(test_dict, name), {"a": 1, "b": 2, "c": 3}) for name in ("items", "popping", "updating", "viewed", "iterated", "missing")),
    *((getattr(test_set, name), {1, 2, 3}) for name in ("members", "algebra", "in_place", "made_of")),
    *((getattr(test_atoms, name), argument) for name, argument in (("formatted", "text"), ("protocols", 3), ("subclasses", 6))),
]


def twice(handler: Callable) -> Callable:
    """The handler of an instruction that is taken back once."""

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


@pytest.fixture
def repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "HANDLERS", {name: twice(handler) for name, handler in HANDLERS.items()})


@pytest.mark.parametrize("program", MADE, ids=lambda f: f.__name__)
def test_made(repeated: None, program: Callable) -> None:
    check(program)


@pytest.mark.parametrize(("program", "argument"), GIVEN, ids=lambda found: getattr(found, "__name__", ""))
def test_given(repeated: None, program: Callable, argument: Any) -> None:
    check(program, argument)


SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(st.lists(test_sequences.LIST_STEPS, min_size=1, max_size=6))
@SHARED
def test_lists(repeated: None, steps: list[str]) -> None:
    test_sequences.compare("a", steps, "[1, 'a', 2]", lambda: [1, "a", 2])


@given(st.lists(test_sequences.ORDERED_STEPS, min_size=1, max_size=6))
@SHARED
def test_dictionaries(repeated: None, steps: list[str]) -> None:
    start = "OrderedDict([('a', 2), (None, 3), (1, 'one')])"
    test_sequences.compare("d", steps, start, lambda: test_sequences.OrderedDict([("a", 2), (None, 3), (1, "one")]))


@given(st.lists(test_sequences.SET_STEPS, min_size=1, max_size=6))
@SHARED
def test_sets(repeated: None, steps: list[str]) -> None:
    test_sequences.compare("s", steps, "{1, 'a', 2}", lambda: {1, "a", 2}, ("FL501", "FL504"))
