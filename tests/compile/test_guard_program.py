"""The law of guards: the native program holds for a call just where the Python reference does, and blames a guard that fails."""
from __future__ import annotations

import builtins
import collections
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frameloom.compile.guard_program import Lowered, lower
from frameloom.compile.watch import READ, WORDS, stretches
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


def all_hold(guards: tuple[Guard, ...], scope: Scope) -> bool:
    """By the reference; each guard may rely on those before it."""
    return all(guard.holds(scope) for guard in guards)


def agree(lowered: Lowered, pair: tuple) -> bool:
    """Check that the native program says what the reference says, and blames a guard that fails; gives what both say."""
    failed = lowered.program.check(pair, None, globals(), vars(builtins))
    assert (failed == -1) == all_hold(lowered.guards, scope_of(*pair)), (failed, pair, lowered.program.dump())
    assert failed == -1 or not lowered.guards[failed].holds(scope_of(*pair)), (failed, pair, lowered.program.dump())
    return failed == -1


@given(VALUES, VALUES, VALUES, VALUES)
def test_native_and_reference_agree(first: Any, second: Any, third: Any, fourth: Any) -> None:
    lowered = lower(guards_of(first, second), function.__code__)
    for pair in [(first, second), (third, second), (first, fourth), (first, first), (second, second), (third, fourth)]:
        for _ in range(4):  # what the program remembers must be right too
            agree(lowered, pair)
    assert agree(lowered, (first, second))


# -- changes between calls ---------------------------------------------------------------------------------------------


def containers(value: Any) -> list:
    """Everything within a value that can be changed."""
    inner: list = []
    if isinstance(value, (dict, collections.OrderedDict)):
        inner = list(value.values())
    elif isinstance(value, (list, tuple)):
        inner = list(value)
    elif isinstance(value, Box):
        inner = list(vars(value).values())
    own = [value] if isinstance(value, (dict, list, Box)) else []
    return own + [found for part in inner for found in containers(part)]


def change_dict(draw: Any, thing: dict) -> None:
    key = draw(KEYS)
    ways = {
        "set": lambda: thing.__setitem__(key, draw(ATOMS)),
        "update": lambda: thing.update({key: draw(ATOMS)}),
        "or": lambda: thing.__ior__({key: draw(ATOMS)}),
        "default": lambda: thing.setdefault(key, draw(ATOMS)),
        "pop": lambda: thing.pop(key, None),
        "popitem": lambda: thing and thing.popitem(),
        "clear": thing.clear,
        "again": lambda: [thing.__setitem__(k, thing.pop(k)) for k in list(thing)[:1]],
        "move": lambda: thing and getattr(thing, "move_to_end", lambda k: None)(next(iter(thing))),
    }
    ways[draw(st.sampled_from(sorted(ways)))]()


def change_box(draw: Any, thing: Box) -> None:
    name = draw(st.sampled_from("abc"))
    ways = {
        "set": lambda: setattr(thing, name, draw(ATOMS)),
        "delete": lambda: hasattr(thing, name) and delattr(thing, name),
        "dictionary": lambda: vars(thing).update({name: draw(ATOMS)}),
        "other dictionary": lambda: setattr(thing, "__dict__", {name: draw(ATOMS)}),
        "class": lambda: setattr(thing, "__class__", draw(st.sampled_from([Box, Other]))),
    }
    ways[draw(st.sampled_from(sorted(ways)))]()


def change_list(draw: Any, thing: list) -> None:
    if thing and draw(st.booleans()):
        thing.pop()
    else:
        thing.append(draw(ATOMS))


@given(VALUES, VALUES, st.data())
def test_native_and_reference_agree_whatever_changes(first: Any, second: Any, data: st.DataObject) -> None:
    lowered = lower(guards_of(first, second), function.__code__)
    for _ in range(data.draw(st.integers(0, 4))):
        assert agree(lowered, (first, second))  # now the program remembers
    for _ in range(6):
        found = containers((first, second))
        if not found:
            return
        thing = data.draw(st.sampled_from(range(len(found))).map(found.__getitem__))
        change = change_dict if isinstance(thing, dict) else change_box if isinstance(thing, Box) else change_list
        change(data.draw, thing)
        for _ in range(data.draw(st.sampled_from([1, 2, 4]))):  # 4: as it is now it has a snapshot, and then uses it
            agree(lowered, (first, second))


class Tree:
    """Attributes that are dictionaries with dictionaries."""

    shared = 1

    def __init__(self) -> None:
        self.table = {"a": 1, "b": "x", "c": {"d": 2.5, "e": (1, 2)}}
        self.empty: dict = {}
        self.name = "tree"
        self.flag = True


def test_a_change_of_what_is_remembered_is_seen() -> None:
    tree = Tree()
    vars(tree)
    session = Session(Domain())
    found = session.observe.wrap(tree, session.sources.local("first"))
    body = DictBody(False, found.real, "attribute")
    for name in ("table", "empty", "name", "flag", "missing", "other"):
        value = dict_.get(session, body, name, Const(name))
        if type(value) is Obj:
            look(session, value)
    lowered = lower(session.guards.values(), function.__code__)
    assert "SAME_ATTRS" in lowered.program.dump() and "SAME_DICT" in lowered.program.dump()
    assert agree(lowered, (tree, None)) and agree(lowered, (tree, None)) and agree(lowered, (tree, None))
    changes = [
        lambda: setattr(tree, "other", 1), lambda: delattr(tree, "other"), lambda: tree.table["c"].update(d=3.5),
        lambda: tree.table["c"].update(d=2.5), lambda: tree.empty.update(x=1), lambda: tree.empty.clear(),
        lambda: tree.table.pop("b"), lambda: tree.table.update(b="x"), lambda: setattr(tree, "name", "tre" + "e"),
    ]
    held = []
    for change in changes:
        change()
        held.append(agree(lowered, (tree, None)))
        assert agree(lowered, (tree, None)) is held[-1]
    assert held[:6] == [False, True, False, True, False, True]


def test_how_a_program_is_kept_true() -> None:
    tree = Tree()
    vars(tree)
    session = Session(Domain())
    look_at = DictBody(False, session.observe.wrap(tree, session.sources.local("first")).real, "attribute")
    for name in ("table", "empty", "name", "flag", "missing", "other"):
        dict_.get(session, look_at, name, Const(name))
    lowered = lower(session.guards.values(), function.__code__)
    assert [stretch.strategy for stretch in stretches(lowered.program)] == [READ]
    for _ in range(4):
        assert agree(lowered, (tree, None))
    (stretch,) = stretches(lowered.program)
    told = sys.version_info < (3, 12)
    assert stretch.strategy == (WORDS if told else READ) and (stretch.uses > 0) is told and stretch.refused == -1


def test_two_objects_take_turns() -> None:
    """What is remembered of one object says nothing of another."""
    one, other = Box(a=1, b=2, c=3), Box(a=1, b=2, c=4)
    vars(one), vars(other)
    lowered = lower(guards_of(one, None), function.__code__)
    for _ in range(4):
        assert agree(lowered, (one, None)) and not agree(lowered, (other, None))
    twin = Box(a=1, b=2, c=3)
    vars(twin)
    for _ in range(4):
        assert agree(lowered, (one, None)) and agree(lowered, (twin, None))


def test_an_object_dies_and_another_takes_its_place() -> None:
    """A remembered state is never that of another dictionary, wherever in memory that is."""
    lowered = lower(guards_of(Box(a=1, b=2, c=3), None), function.__code__)
    for round_ in range(200):
        made = Box(a=1, b=2, c=3 + round_ % 2)
        vars(made)
        assert agree(lowered, (made, None)) is (round_ % 2 == 0)


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
    assert not all_hold(lowered.guards, scope_of(moved, None))


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


