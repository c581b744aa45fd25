"""Modules of the standard library that run traced: copy, dataclasses, enum, inspect, contextvars, threading, weakref, os, sys."""

from __future__ import annotations

import contextvars
import copy
import dataclasses
import enum
import gc
import inspect
import os
import sys
import threading
import time
import weakref

import pytest

from frameloom.compile.hook import Compiler, Settings
from frameloom.native import Callable
from frameloom.symbolic.domain import Domain

from tests.differential.compiled import Compiled
from tests.rules.running import breaks, compared, reasons, whole

# -- copy ------------------------------------------------------------------------------------------------------------


class Node:
    def __init__(self):
        self.items = [1, {"child": None}]
        self.me = self
        self.pair = (self.items, "x")


class Sized:
    __slots__ = ("a", "b", "__dict__")

    def __init__(self):
        self.a = [1]
        self.c = 2


class Custom:
    def __init__(self, n):
        self.n = n

    def __copy__(self):
        return Custom(self.n + 1)

    def __deepcopy__(self, memo):
        memo["seen"] = True
        return Custom(self.n + 10)


class Reduced:
    def __init__(self, n):
        self.n = n

    def __reduce__(self):
        return Reduced, (self.n * 2,), {"extra": 1}


class Stateful:
    def __init__(self):
        self.kept, self.dropped = [1], 2

    def __getstate__(self):
        return {"kept": self.kept}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.restored = True


class Items(list):
    pass


class Table(dict):
    pass


def shallow(node):
    made = copy.copy(node)
    return made.items is node.items, made.me is node, made is node, made


def deep(node):
    made = copy.deepcopy(node)
    return made.items is node.items, made.me is made, made.pair[0] is made.items, made


def deep_of_containers():
    inner = [1]
    outer = [inner, inner, (inner, "x"), {"k": inner}, {1, 2}, None, 2.5]
    made = copy.deepcopy(outer)
    return made, made[0] is made[1], made[2][0] is made[0], made[0] is inner, copy.copy(outer)[0] is inner, copy.copy({1: inner})


def copies_of_objects():
    items = Items([1, [2]])
    items.note = "n"
    table = Table(a=[1])
    table.note = "t"
    found = [copy.copy(Custom(1)), copy.deepcopy(Custom(1)), copy.copy(Reduced(3)), copy.deepcopy(Sized()), copy.copy(Sized())]
    return found + [copy.copy(Stateful()), copy.deepcopy(Stateful()), copy.copy(items), copy.deepcopy(items), copy.deepcopy(table)]


def deep_with_classes_and_functions():
    made = copy.deepcopy({"cls": Node, "function": deep, "module_level": [len, Node]})
    return made["cls"] is Node, made["function"] is deep, made["module_level"][0] is len


@pytest.mark.parametrize("function", [shallow, deep])
def test_copies_of_an_object(function):
    whole(function, Node)


@pytest.mark.parametrize("function", [deep_of_containers, copies_of_objects, deep_with_classes_and_functions])
def test_copies(function):
    whole(function)


# -- dataclasses -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: int
    y: int = 2
    tags: list = dataclasses.field(default_factory=list, compare=False)

    def __post_init__(self):
        self.total = self.x + self.y


@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    x: int
    y: int = dataclasses.field(default=1, kw_only=True)


@dataclasses.dataclass(slots=True)
class Slim(Point):
    z: dataclasses.InitVar[int] = 5

    def __post_init__(self, z):
        self.x += z


def points():
    point = Point(1)
    moved = dataclasses.replace(point, x=5)
    point.tags.append("t")
    names = [field.name for field in dataclasses.fields(point)]
    return point, moved, point == Point(1), point != moved, names, dataclasses.is_dataclass(moved), repr(point), Slim(1)


def as_containers():
    nested = Point(Point(1, 1), 0)
    return dataclasses.asdict(Point(1, tags=[{"k": Frozen(2)}])), dataclasses.astuple(Frozen(3)), nested.x.total


def frozen():
    a, b = Frozen(1), Frozen(1, y=1)
    try:
        a.x = 2
    except dataclasses.FrozenInstanceError as error:
        message = error.args
    table = {a: "first"}
    table[b] = "second"
    return a == b, hash(a) == hash(b), table, message, a < Frozen(2), sorted([Frozen(3), a]), repr(a), a


@pytest.mark.parametrize("function", [points, as_containers, frozen])
def test_dataclasses(function):
    whole(function)


# -- enum ------------------------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = 1
    BLUE = "b"

    @property
    def low(self):
        return self.name.lower()

    def is_red(self):
        return self is Color.RED


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


class Bits(enum.Flag):
    A = 1
    B = 2
    BOTH = 3


class Word(str, enum.Enum):
    HELLO = "hello"


def members(color, number):
    return (
        (color.name, color.value, color.low, color.is_red(), color == Color.BLUE, color is Color.RED),
        (Color(1), Color["BLUE"], [each.name for each in Color], len(Color), color in Color, Color.RED in {Color.RED: 1}),
        (number + 1, number == 2, number < Number.TWO, number.value, [10, 20][number - 1], int(number), {1: "x"}[number]),
        (str(color), repr(number), f"{number}", f"{color}", isinstance(number, int), Color.__members__["RED"]),
        (Word.HELLO == "hello", Word.HELLO.upper(), Word.HELLO.value, Word("hello")),
    )


def missing_member():
    found = []
    for action in (lambda: Color(99), lambda: Color["NOPE"], lambda: Color.NOPE):
        try:
            action()
        except (ValueError, KeyError, AttributeError) as error:
            found.append((type(error), error.args))
    return found


def flags():
    both = Bits.A | Bits.B
    return both, both is Bits.BOTH, Bits.A in both, bool(Bits.A & Bits.B), both.value, Bits(3), ~Bits.A


def test_members():
    whole(members, lambda: Color.RED, lambda: Number.ONE)


@pytest.mark.parametrize("function", [missing_member, flags])
def test_enums(function):
    flags()
    whole(function)


# -- inspect ---------------------------------------------------------------------------------------------------------


def described(a, /, b: int, c=3, *args, d, e: str = "x", **kwargs) -> float:
    pass


class Described:
    def method(self, x, y=[1]):
        pass

    def several(*args, k):
        pass


def parameters():
    found = inspect.signature(described)
    each = [(p.name, p.kind, p.default, p.annotation) for p in found.parameters.values()]
    return each, found.return_annotation, found == inspect.signature(described), "b" in found.parameters, found


def of_methods(obj):
    bound = inspect.signature(obj.method), inspect.signature(obj.several)
    return [list(each.parameters) for each in bound], bound, bound[0].parameters["y"].default is Described.method.__defaults__[0]


def binding():
    bound = inspect.signature(described).bind(1, 2, d=4, z=5)
    bound.apply_defaults()
    try:
        inspect.signature(Described.method).bind()
    except TypeError as error:
        return bound.arguments, bound.args, bound.kwargs, error.args


def kinds(obj):
    return inspect.isfunction(described), inspect.ismethod(obj.method), inspect.isclass(Described), inspect.ismodule(inspect)


def of_changed(obj):
    def local(x=obj):
        pass

    return inspect.signature(local).parameters["x"].default is obj


@pytest.mark.parametrize("function", [parameters, binding])
def test_signatures(function):
    whole(function)


@pytest.mark.parametrize("function", [of_methods, kinds, of_changed])
def test_signatures_of_methods(function):
    whole(function, Described)


def test_signature_is_guarded():
    def names():
        return list(inspect.signature(subject).parameters)

    def subject(a, b):
        pass

    compiler = whole(names)
    run = compiler.of(names)
    assert run() == ["a", "b"]
    subject.__code__ = (lambda c: None).__code__
    assert run() == ["c"]


# -- contextvars -----------------------------------------------------------------------------------------------------

WITH = contextvars.ContextVar("WITH", default=1)
WITHOUT = contextvars.ContextVar("WITHOUT")


def set_and_reset():
    before = WITH.get()
    token = WITH.set(before + 5)
    inside = WITH.get()
    old = token.old_value, token.var is WITH
    WITH.reset(token)
    after = WITH.get()
    WITH.set(before * 2 + 1)
    return before, inside, old, after, WITH.get(), WITH.name


def unset():
    found = [WITHOUT.get("default")]
    try:
        WITHOUT.get()
    except LookupError as error:
        found.append(error.args[0] is WITHOUT)
    token = WITHOUT.set([1])
    found.append(WITHOUT.get())
    WITHOUT.reset(token)
    found.append(WITHOUT.get(None))
    return found


def in_order(log):
    tokens = [WITH.set(n) for n in range(3)]
    log.append(WITH.get())
    for token in reversed(tokens):
        WITH.reset(token)
    return WITH.get()


def in_a_context(function, *arguments):
    return contextvars.Context().run(function, *arguments)


def test_context_variables():
    expected = in_a_context(lambda: [set_and_reset() for _ in range(3)] + [WITH.get()])

    def compiled():
        compiler = Compiled(Domain(), replay=True)
        run = compiler.of(set_and_reset)
        found = [run() for _ in range(3)] + [WITH.get()]
        assert not compiler.faults and reasons(compiler) == []
        return found

    assert in_a_context(compiled) == expected


def test_unset_context_variables():
    in_a_context(whole, unset)


def test_tokens_are_used_in_order():
    in_a_context(whole, in_order, list)


def used_twice():
    token = WITH.set(1)
    WITH.reset(token)
    try:
        WITH.reset(token)
    except RuntimeError as error:
        return type(error)


def test_token_used_twice():
    in_a_context(compared, used_twice, (), 2, tuple)


# -- threading -------------------------------------------------------------------------------------------------------

LOCAL = threading.local()
LOCAL.n = 1


def thread_local():
    LOCAL.n = getattr(LOCAL, "n", 0) + 1
    LOCAL.other = [LOCAL.n]
    found = hasattr(LOCAL, "other"), LOCAL.other
    del LOCAL.other
    return LOCAL.n, found, hasattr(LOCAL, "other")


def test_thread_local():
    def drive(run):
        LOCAL.n = 1
        found = [run()]
        other = threading.Thread(target=lambda: found.append(run()))
        other.start()
        other.join()
        return [*found, run(), LOCAL.n]

    expected = drive(thread_local)
    LOCAL.n = 1
    compiler = compared(thread_local, (), 1, lambda: setattr(LOCAL, "n", 1))
    assert reasons(compiler) == []
    assert drive(compiler.of(thread_local)) == expected


def locked():
    with threading.Lock():
        return 1


# -- weakref, sys, os ------------------------------------------------------------------------------------------------

REFERENT = Described()
REFERENCE = weakref.ref(REFERENT)


def references():
    return REFERENCE() is REFERENT, REFERENCE().method.__name__


class Box:
    pass


def forgetting(function):
    """Compiled by one that keeps no captures: those hold what the trace looked at."""
    return Callable(function, Compiler(Settings(Domain(), replay=True)).engine)


def let_go(how):
    subject, box = Described(), Box()
    box.held = subject
    reference = weakref.ref(subject)
    if how == "variable":
        del box.held
        subject = None
    elif how == "attribute":
        del subject
        box.held = None
    elif how == "cell":
        kept = subject

        def holds():
            return kept

        del box.held, subject
        kept = None
    elif how == "handler":
        del box.held
        try:
            raise Problem(subject)
        except Problem:
            subject = None
    return reference() is None, box


class Problem(Exception):
    pass


@pytest.mark.parametrize("how", ["variable", "attribute", "cell", "handler", "not at all"])
def test_a_reference_is_dead_as_soon_as_its_referent_is_let_go(how):
    run = forgetting(let_go)
    assert [run(how)[0], run(how)[0]] == [let_go(how)[0]] * 2


def finalised(how):
    log = []

    class Finalised:
        def __del__(self):
            log.append("died")

    def inner(number):
        made = Finalised()
        kept = [made] if how == "in a list" else None

        def shares():
            return made, kept

        shares()
        return number

    for number in range(3):
        log.append(inner(number))
    return log


@pytest.mark.parametrize("how", ["alone", "in a list"])
def test_finalisers_run_when_inner_frames_end(how):
    run = forgetting(finalised)
    assert [run(how), run(how)] == [finalised(how)] * 2


def test_dead_reference_is_noticed():
    subject = Described()
    reference = weakref.ref(subject)

    def is_dead():
        return reference() is None

    compiler = whole(is_dead)
    run = compiler.of(is_dead)
    assert run() is False
    compiler.captures.clear()  # they hold what the trace looked at
    del subject
    gc.collect()
    assert run() is True


def settings():
    return (
        sys.getrecursionlimit(),
        sys.intern("text"),
        os.environ.get("HOME"),
        os.environ.get("FRAMELOOM_NOT_SET"),
        os.getenv("FRAMELOOM_NOT_SET", "default"),
        "sys" in sys.modules,
        os.path.join("a", "b"),
        os.fspath("x"),
        sys.maxsize > 0,
    )


def leaving():
    found = []
    for status in ((), (3,), ("text",), ((1, 2),)):
        try:
            sys.exit(*status)
        except SystemExit as error:
            found.append((error.code, error.args))
    return found


@pytest.mark.parametrize("function", [references, settings, leaving])
def test_settings(function):
    whole(function)


def test_environment_is_guarded():
    def home():
        return os.environ.get("FRAMELOOM_TEST")

    run = whole(home).of(home)
    assert run() is None
    os.environ["FRAMELOOM_TEST"] = "x"
    try:
        assert run() == "x"
    finally:
        del os.environ["FRAMELOOM_TEST"]


def clock():
    return time.perf_counter() > 0


def frames():
    return sys._getframe().f_lineno > 0


def collect():
    return gc.isenabled()


def opened():
    with open(os.devnull) as stream:
        return stream.read()


def reference_made():
    return weakref.ref(Described()) is not None


def listed():
    return len(dir(REFERENT)) > 3


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("FL109", clock),
        ("FL111", collect),
        ("FL104", opened),
        ("FL113", reference_made),
        ("FL110", locked),
        ("FL101", listed),
    ],
)
def test_refused(kind, function):
    breaks(kind, function)


def test_a_function_that_reads_its_frame_runs_as_it_is():
    compiler = Compiled(Domain(), replay=True)
    assert compiler.of(frames)() is True
    assert not compiler.faults


def texted(*args, **kwargs):
    pass


texted.__text_signature__ = "($self, a, b=1, *args, c, **kwargs)"


def test_a_text_signature_comes_before_the_code():
    compared(lambda: str(inspect.signature(texted)), (), 2, tuple)
