"""The law of guards: the native program holds for a call just where the Python reference does, and blames a guard that fails."""
from __future__ import annotations

import builtins
import collections
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frameloom.compile.guard_program import lower
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.guards import Guard
from frameloom.symbolic.layouts import dict_, list_, set_, tuple_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.set_ import SetBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.session import Session
from frameloom.symbolic.source import Scope
from frameloom.symbolic.values import Const, Obj


class Box:
    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


class Other(Box):
    pass


class Count(int):
    pass


class Slotted:
    __slots__ = ("a",)


def slotted(value: Any) -> Slotted:
    made = Slotted()
    if value is not None:
        made.a = value
    return made


ATOMS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.integers(2**62, 2**62 + 1),
    st.sampled_from([0.0, -0.0, 1.5, float("nan"), float("inf")]), st.sampled_from(["", "a", "é", "ab"]),
    st.sampled_from([b"", b"x"]), st.sampled_from([0j, 1 + 2j, ...]), st.sampled_from([range(3), range(0, 3), len, max, int, Box]),
)
KEYS = st.one_of(st.sampled_from(["a", "b", 1, True, 2.0, None]), st.tuples(st.integers(0, 1)))
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple), st.dictionaries(KEYS, inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3).map(collections.OrderedDict),
        st.sets(KEYS, max_size=3), st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(lambda d: Box(**d)),
        inner.map(lambda v: Other(a=v)), inner.map(slotted), st.integers(0, 2).map(Count),
    ),
    max_leaves=6,
)


def function(first: Any, second: Any) -> None:
    """Its code gives the arguments their slots."""


def scope_of(first: Any, second: Any) -> Scope:
    return Scope({"first": first, "second": second}, {}, globals(), vars(builtins))


# -- looking -----------------------------------------------------------------------------------------------------------


def look_at_list(session: Session, body: ListBody) -> list:
    return list_.items(session, body)


def look_at_dict(session: Session, body: DictBody) -> list:
    absent = dict_.get(session, body, "b", Const("b"))
    found = [value for _, value in dict_.entries(session, body)]
    return [session.observe.resolve(value) for value in found] if absent is not None else found


def look_at_set(session: Session, body: SetBody) -> list:
    set_.contains(session, body, "a", Const("a"))
    return set_.members(session, body)


LOOKS = {
    ListBody: look_at_list,
    TupleBody: lambda session, body: tuple_.items(session, body),
    DictBody: look_at_dict,
    SetBody: look_at_set,
}


def look(session: Session, value: Any) -> None:
    """Look at everything that can be reached."""
    if type(value) is not Obj or value.real is None or isinstance(value.cls, type) and issubclass(value.cls, type):
        return
    found = LOOKS.get(type(value.body))
    for inner in found(session, value.body) if found is not None else ():
        look(session, inner)
    if value.cls in (Box, Other):
        body = DictBody(False, value.real, "attribute")
        for inner in look_at_dict(session, body):
            look(session, inner)


def guards_of(first: Any, second: Any) -> list[Guard]:
    session = Session(Domain())
    for name, value in (("first", first), ("second", second)):
        look(session, session.observe.wrap(value, session.sources.local(name)))
    return list(session.guards.values())


def first_that_fails(guards: tuple[Guard, ...], scope: Scope) -> int:
    """By the reference; each guard may rely on those before it."""
    return next((index for index, guard in enumerate(guards) if not guard.holds(scope)), -1)


@given(VALUES, VALUES, VALUES, VALUES)
def test_native_and_reference_agree(first: Any, second: Any, third: Any, fourth: Any) -> None:
    lowered = lower(guards_of(first, second), function.__code__)
    for pair in [(first, second), (third, second), (first, fourth), (first, first), (second, second), (third, fourth)]:
        failed = lowered.program.check(pair, None, globals(), vars(builtins))
        assert failed == first_that_fails(lowered.guards, scope_of(*pair)), (pair, lowered.program.dump())
    assert lowered.program.check((first, second), None, globals(), vars(builtins)) == -1


@pytest.mark.parametrize(("value", "other"), [
    (float("nan"), 0.0), (0.0, -0.0), (1, True), (1, 1.0), ("a", b"a"), (Count(1), Count(2)), (Count(1), 1),
    (slotted(None), slotted(1)), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ((1, 2), [1, 2]), (range(3), range(4)),
    (collections.OrderedDict(a=1), {"a": 1}), ([[1]], [[2]]), (Box(a=1), Other(a=1)), (Box(a=1), Box(a=1, b=2)),
])
def test_values_that_must_be_told_apart(value: Any, other: Any) -> None:
    session = Session(Domain())
    found = session.observe.wrap(value, session.sources.local("first"))
    look(session, found)
    if value.__class__ is Slotted:
        session.observe.read(found, "descriptor", Slotted.__dict__["a"])
        from frameloom.interpreter.attributes import slot_is_empty

        session.guard("CALL", found.real.source, (slot_is_empty, Slotted.__dict__["a"], "{} has an empty slot"))
    program = lower(session.guards.values(), function.__code__).program
    assert program.check((value, None)) == -1
    assert program.check((other, None)) >= 0


def test_an_order_that_only_the_dictionary_knows() -> None:
    moved = collections.OrderedDict(a=1, b=2)
    session = Session(Domain())
    look(session, session.observe.wrap(moved, session.sources.local("first")))
    lowered = lower(session.guards.values(), function.__code__)
    assert lowered.program.check((moved, None)) == -1
    moved.move_to_end("a")
    assert lowered.program.check((moved, None)) >= 0
    assert first_that_fails(lowered.guards, scope_of(moved, None)) >= 0


def test_a_class_that_dies_fails_its_guards() -> None:
    made: Any = type("Made", (), {})
    session = Session(Domain())
    session.observe.wrap(made(), session.sources.local("first"))
    lowered = lower(session.guards.values(), function.__code__)
    assert lowered.program.check((made(), None)) == -1
    del session, made
    import gc

    lowered = lowered._replace(guards=())
    gc.collect()
    assert lowered.program.check((type("Made", (), {})(), None)) >= 0


