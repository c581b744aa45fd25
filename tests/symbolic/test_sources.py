"""The law of sources: what a path reads in Python, in the bytecode of an entry and in its guard program is one object, or nothing.

Objects are built from descriptions, so that a call can be followed by one whose objects differ in one place.
"""
from __future__ import annotations

import collections
import types
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frameloom.codegen.constants import EntryEmitter
from frameloom.compile.guard_program import lower
from frameloom.native import SKIP, Callable as Entering, Engine, Entry, Slot
from frameloom.symbolic.guards import Guard
from frameloom.symbolic.ahead import DICT_ITERATORS
from frameloom.symbolic.source import ROOTS, STEPS, Missing, Scope, Source, Sources

# -- object graphs -------------------------------------------------------------------------------------------------------


class Box:
    """An instance with a dictionary."""


class Slotted:
    __slots__ = ("a", "b")


class ListPlus(list):
    def __getitem__(self, index: Any) -> Any:
        raise AssertionError("storage is read, not asked")


class DictPlus(dict):
    __getitem__ = get = ListPlus.__getitem__


def box(**inner: Any) -> Box:
    made = Box()
    vars(made).update(inner)
    return made


def late(**inner: Any) -> Box:
    """As `box`, with attributes that may be kept outside a dictionary."""
    made = Box()
    for name, value in inner.items():
        setattr(made, name, value)
    return made


def slotted(**inner: Any) -> Slotted:
    made = Slotted()
    for name, value in inner.items():
        setattr(made, name, value)
    return made


def function_of(*inner: Any) -> Callable:
    """A function with cells, defaults and keyword defaults as they come."""
    one, two = (*inner, None, None)[:2]

    def two_cells(p: Any = one, *, q: Any = two) -> Any:
        return one, two

    def one_cell(p: Any, q: Any = two) -> Any:
        return one

    def no_cell() -> None:
        pass

    return (no_cell, one_cell, two_cells)[min(len(inner), 2)]


def class_of(**inner: Any) -> type:
    base = type("Base", (), dict(list(inner.items())[:1]))
    return type("Made", (base,), dict(list(inner.items())[1:]))


def walked_out(*inner: Any) -> Any:
    """An iterator over a dictionary that is exhausted."""
    made = iter({})
    next(made, None)
    return made


def advanced(*inner: Any) -> Any:
    """An iterator that has begun, and is not exhausted: such a one makes a new list at each `__reduce__`."""
    it = iter([None, *inner])
    next(it)
    return it


BY_ITEMS: dict[str, Callable[..., Any]] = {
    "list": lambda *inner: [*inner],
    "tuple": lambda *inner: inner,
    "list plus": lambda *inner: ListPlus(inner),
    "deque": lambda *inner: collections.deque(inner),
    "iterator": lambda *inner: iter([*inner]),
    "advanced": advanced,
    "tuple iterator": lambda *inner: iter(inner),
    "walk": lambda *inner: iter(dict.fromkeys(map(id, inner))),
    "walked out": walked_out,
    "cell": lambda *inner: types.CellType(*inner[:1]),
    "function": function_of,
    "method": lambda *inner: types.MethodType(function_of(), inner),
    "append": lambda *inner: [*inner].append,
    "range": lambda *inner: range(len(inner), 2**70),
}
BY_NAMES: dict[str, Callable[..., Any]] = {
    "dict": lambda **inner: {**inner, 1: "one"},
    "values": lambda **inner: iter(inner.values()),
    "items": lambda **inner: iter(inner.items()),
    "ordered": lambda **inner: collections.OrderedDict(inner),
    "moved": lambda **inner: moved(inner),
    "dict plus": lambda **inner: DictPlus(inner),
    "box": box,
    "late": late,
    "slotted": slotted,
    "class": class_of,
}


def moved(inner: dict) -> collections.OrderedDict:
    """An OrderedDict whose order only it knows."""
    made = collections.OrderedDict(inner)
    if made:
        made.move_to_end(next(iter(made)))
    return made


LEAVES = st.sampled_from([("leaf", value) for value in (0, 1, -1, "a", None, 2.5, len, Box, 2**80)] + [("fresh",)])


def _inner(inner: st.SearchStrategy) -> st.SearchStrategy:
    items = st.tuples(st.sampled_from(sorted(BY_ITEMS)), st.lists(inner, max_size=3).map(tuple))
    named = st.lists(st.tuples(st.sampled_from("ab"), inner), max_size=2, unique_by=lambda pair: pair[0]).map(tuple)
    return st.one_of(items, st.tuples(st.sampled_from(sorted(BY_NAMES)), named))


DESCRIPTIONS = st.recursive(LEAVES, _inner, max_leaves=8)


def build(described: tuple) -> Any:
    """The object of a description, made anew."""
    kind = described[0]
    if kind == "leaf":
        return described[1]
    if kind == "fresh":
        return object()
    if kind in BY_ITEMS:
        return BY_ITEMS[kind](*map(build, described[1]))
    return BY_NAMES[kind](**{name: build(inner) for name, inner in described[1]})


@st.composite
def changed(draw: Any, described: tuple) -> tuple:
    """A description that differs in one place: another object, or one item less."""
    kind = described[0]
    if kind in ("leaf", "fresh") or not described[1] or draw(st.integers(0, 3)) == 0:
        return draw(DESCRIPTIONS)
    inner = list(described[1])
    at = draw(st.integers(0, len(inner) - 1))
    if draw(st.booleans()):
        del inner[at]
    elif kind in BY_ITEMS:
        inner[at] = draw(changed(inner[at]))
    else:
        inner[at] = (inner[at][0], draw(changed(inner[at][1])))
    return (kind, tuple(inner))


# -- paths ---------------------------------------------------------------------------------------------------------------

INDICES = (0, 1, 2, -1)
NAMES = ("a", "b", "c")
TAKEN: dict[type, list[tuple[str, Any]]] = {
    list: [*[("item", index) for index in INDICES], ("length", None)],
    tuple: [("item", index) for index in INDICES],
    collections.deque: [("deque_item", index) for index in INDICES],
    dict: [*[("dict_item", key) for key in (*NAMES, 1, True)], *[(step, i) for i in (0, 1, 2) for step in ("dict_key", "dict_value")]],
    Box: [*[("attribute", name) for name in NAMES], ("dict", None), ("own_dictionary", None)],
    Slotted: [("descriptor", Slotted.__dict__["a"]), ("descriptor", Slotted.__dict__["b"])],
    type: [("type_attribute", name) for name in (*NAMES, "__init__")],
    types.CellType: [("contents", None)],
    types.FunctionType: [*[(part, None) for part in ("code", "globals", "defaults", "kwdefaults")], ("closure", 0), ("closure", 1)],
    types.MethodType: [("method_function", None), ("method_self", None)],
    types.BuiltinFunctionType: [("method_self", None)],
    **dict.fromkeys((type(iter([])), type(iter(()))), [("reduced", None), ("container", None), *[("ahead", number) for number in (0, 1, 2)]]),
    **dict.fromkeys(DICT_ITERATORS, [("walked", None), ("container", None), *[(step, number) for number in (0, 1) for step in ("key_ahead", "value_ahead")]]),
    range: [("descriptor", range.__dict__["start"])],
}
"""class -> steps that its instances have, some of which find nothing"""


def steps_of(value: Any) -> list[tuple[str, Any]]:
    found = [step for cls in type(value).__mro__ for step in TAKEN.get(cls, ())]
    return [*found, ("type", None)]


def _entered() -> types.CodeType:
    held = None

    def entered(first: Any, second: Any) -> Any:
        return held, NOT_ENTERED

    return entered.__code__


ENTERED = _entered()
"""The code that entries stand for."""

NOT_ENTERED = object()


def function_in(scope: Scope) -> types.FunctionType:
    """The function of a scope."""
    return types.FunctionType(ENTERED, scope.globals, "entered", None, (scope.closure["held"],))


def scope_of(first: Any, second: Any, third: Any) -> Scope:
    """A call: arguments, a cell, globals and builtins of its own."""
    builtins = {"shown": third, "len": len}
    spaces = {"known": second, "__builtins__": builtins, "NOT_ENTERED": NOT_ENTERED}
    return Scope({"first": first, "second": second}, {"held": types.CellType(first)}, spaces, builtins)


@st.composite
def paths(draw: Any, scope: Scope, constant: Any) -> tuple[Source, list[Guard]]:
    """A path into a scope that finds something but for its last step, perhaps; and the guards of what lies on its way."""
    sources = Sources()
    source, guards = draw(st.sampled_from([
        (sources.local("first"), []), (sources.local("second"), []), (sources.cell("held"), []), (sources.global_("known"), []),
        (sources.const(constant), []), (sources.builtin("shown"), [("NO_KEY", sources.function_globals(), "shown")]),
        (sources.global_("unknown"), []),
    ]))  # fmt: skip
    guards = [Guard(*guard, None) for guard in guards]
    for _ in range(draw(st.integers(0, 5))):
        try:
            found = source.read(scope)
        except Missing:
            break
        guards.append(Guard("TYPE", source, type(found), None))
        step, key = draw(st.sampled_from(steps_of(found)))
        source = source.child(step, key)
    return source, guards


# -- the law -------------------------------------------------------------------------------------------------------------


class Collected:
    """A check that takes what the guard program has read."""

    def __init__(self) -> None:
        self.found: list = []

    def __call__(self, value: Any, _: Any) -> bool:
        self.found.append(value)
        return True


def by_reference(source: Source, guards: list[Guard], scope: Scope) -> list:
    """What the path reads in Python; nothing where a guard on its way fails."""
    if not all(guard.holds(scope) for guard in guards):
        return []
    try:
        return [source.read(scope)]
    except Missing:
        return []


def same(found: Any, expected: Any, source: Source) -> bool:
    """The very object; of arguments that `__reduce__` made anew, the very members."""
    if source.step == "reduced":
        return type(found) is type(expected) is tuple and len(found) == len(expected) and all(map(_same_argument, found, expected))
    return found is expected


def _same_argument(found: Any, expected: Any) -> bool:
    return found is expected or type(found) is tuple and found == expected == ()


def compare(source: Source, guards: list[Guard], scopes: list[Scope]) -> list[bool]:
    """Hold the three readings of each scope equal; gives whether something was found."""
    collected = Collected()
    last = Guard("CALL", source, (collected, None, "{} is taken"), None)
    lowered = lower([*guards, last], ENTERED)
    out = EntryEmitter(ENTERED, Slot)
    out.prefix(cells_arrive=True)
    source.emit(out)
    out.return_value()
    code = out.finish().code
    entry = Entry(code, lowered.program, tuple(out.filled))
    answers = []
    for scope in scopes:
        expected = by_reference(source, guards, scope)
        function = function_in(scope)
        collected.found.clear()
        failed = lowered.program.check(tuple(scope.locals.values()), function.__closure__, scope.globals, scope.builtins)
        assert (failed == -1) == bool(expected), (str(source), lowered.program.dump())
        assert failed == next((i for i, guard in enumerate(lowered.guards) if not guard.holds(scope)), -1)
        engine = Engine(lambda *call: SKIP)
        engine.install(ENTERED, entry)
        result = Entering(function, engine)(*scope.locals.values())
        if expected:
            assert same(collected.found[0], expected[0], source), str(source)
            assert same(result, expected[0], source), str(source)
        else:
            assert type(result) is tuple and result[-1] is NOT_ENTERED, str(source)
        answers.append(bool(expected))
    return answers


@given(st.data())
def test_three_readings_of_a_source(data: st.DataObject) -> None:
    described = data.draw(st.tuples(DESCRIPTIONS, DESCRIPTIONS, DESCRIPTIONS))
    constant = build(data.draw(DESCRIPTIONS))
    first = scope_of(*map(build, described))
    source, guards = data.draw(paths(first, constant))
    others = [scope_of(*map(build, data.draw(st.tuples(*map(changed, described))))) for _ in range(2)]
    aliased = scope_of(first.locals["first"], first.locals["first"], first.locals["first"])
    compare(source, guards, [first, *others, aliased, first])


EVERY = [
    ("item", 0, ("list", (("fresh",),)), ("list", ())),
    ("item", 1, ("tuple", (("fresh",), ("fresh",))), ("tuple", (("fresh",),))),
    ("item", 0, ("list plus", (("fresh",),)), ("list plus", ())),
    ("length", None, ("list plus", (("fresh",),)), None),
    ("deque_item", 0, ("deque", (("fresh",),)), ("deque", ())),
    ("dict_item", "a", ("dict", (("a", ("fresh",)),)), ("dict", ())),
    ("dict_item", "a", ("dict plus", (("a", ("fresh",)),)), ("dict plus", ())),
    ("dict_key", 0, ("moved", (("a", ("fresh",)), ("b", ("fresh",)))), ("moved", ())),
    ("dict_value", 1, ("moved", (("a", ("fresh",)), ("b", ("fresh",)))), ("moved", ())),
    ("attribute", "a", ("box", (("a", ("fresh",)),)), ("box", ())),
    ("attribute", "a", ("late", (("a", ("fresh",)),)), ("late", (("b", ("fresh",)),))),
    ("dict", None, ("box", (("a", ("fresh",)),)), None),
    ("descriptor", Slotted.__dict__["a"], ("slotted", (("a", ("fresh",)),)), ("slotted", ())),
    ("descriptor", range.__dict__["start"], ("range", ()), None),
    ("type_attribute", "a", ("class", (("a", ("fresh",)),)), ("class", ())),
    ("type", None, ("class", ()), None),
    ("contents", None, ("cell", (("fresh",),)), ("cell", ())),
    ("closure", 1, ("function", (("fresh",), ("fresh",))), ("function", (("fresh",),))),
    ("closure", 0, ("function", (("fresh",), ("fresh",))), ("function", ())),
    ("code", None, ("function", ()), None),
    ("globals", None, ("function", ()), None),
    ("defaults", None, ("function", (("fresh",), ("fresh",))), None),
    ("kwdefaults", None, ("function", (("fresh",), ("fresh",))), None),
    ("method_function", None, ("method", ()), None),
    ("method_self", None, ("method", (("fresh",),)), None),
    ("method_self", None, ("append", ()), None),
    ("reduced", None, ("advanced", (("fresh",), ("fresh",))), None),
    ("walked", None, ("walk", (("fresh",),)), ("walked out", ())),
    ("ahead", 1, ("iterator", (("fresh",), ("fresh",))), ("iterator", (("fresh",),))),
    ("key_ahead", 1, ("values", (("a", ("fresh",)), ("b", ("fresh",)))), ("values", (("a", ("fresh",)),))),
    ("value_ahead", 1, ("items", (("a", ("fresh",)), ("b", ("fresh",)))), ("items", (("a", ("fresh",)),))),
    ("container", None, ("items", (("a", ("fresh",)),)), None),
    ("container", None, ("advanced", (("fresh",), ("fresh",))), None),
    ("own_dictionary", None, ("box", (("a", ("fresh",)),)), None),
    ("own_dictionary", None, ("list", ()), None),
]
"""step, key, an object where it finds something, one of the same class where it does not (None: there is none)"""


@pytest.mark.parametrize(("step", "key", "there", "gone"), EVERY, ids=lambda value: value if isinstance(value, str) else "")
def test_each_step(step: str, key: Any, there: tuple, gone: tuple | None) -> None:
    full = scope_of(build(there), None, None)
    source = Sources().local("first")
    guards = [Guard("TYPE", source, type(full.locals["first"]), None)]
    scopes = [full, scope_of(build(there), None, None), scope_of(object(), None, None)]
    expected = [True, type(scopes[1].locals["first"]) is guards[0].payload, False]
    if gone is not None:
        scopes.append(scope_of(build(gone), None, None))
        expected.append(False)
    assert compare(source.child(step, key), guards, scopes) == expected


def test_every_step_is_here() -> None:
    """But for those that a domain adds."""
    assert {row[0] for row in EVERY} == {name for name, step in STEPS.items() if step.read.__module__ == Source.__module__}


@pytest.mark.parametrize("root", sorted(set(ROOTS) - {"function_globals"}))
def test_each_root(root: str) -> None:
    scope = scope_of(object(), object(), object())
    sources = Sources()
    made = {
        "local": sources.local("second"), "cell": sources.cell("held"), "global": sources.global_("known"),
        "builtin": sources.builtin("shown"), "const": sources.const(object()), "handled": sources.handled(),
    }  # fmt: skip
    guards = [Guard("NO_KEY", sources.function_globals(), "shown", None)] if root == "builtin" else []
    shadowed = scope._replace(globals={**scope.globals, "shown": 1})
    without = scope._replace(globals={"__builtins__": scope.builtins, "NOT_ENTERED": NOT_ENTERED})
    try:
        raise LookupError("what is being handled")
    except LookupError:
        assert compare(made[root], guards, [scope, shadowed, without]) == [True, root != "builtin", root != "global"]
