"""Functions, methods, cells and modules as objects; functools."""

from __future__ import annotations

import asyncio
import functools
import math
import sys
import types

import pytest

from frameloom.symbolic.domain import Domain

from tests.differential.compiled import Compiled
from tests.rules.running import breaks, compared, outcome, reasons, whole


def annotated(a, /, b: int, c=3, *args, d, e: str = "x", **kwargs) -> float:
    """Annotated."""
    return a


class Box:
    def __init__(self, n=1):
        self.n = n

    def method(self, x, y=2):
        """A method."""
        return self.n + x + y

    @functools.cached_property
    def once(self):
        return [self.n]

    added = functools.partialmethod(method, 10)


def parts_of_a_function():
    return (
        annotated.__name__,
        annotated.__qualname__,
        annotated.__doc__,
        annotated.__module__,
        annotated.__defaults__,
        annotated.__kwdefaults__,
        annotated.__annotations__,
        annotated.__closure__,
        annotated.__code__.co_varnames,
        annotated.__code__ is annotated.__code__,
        annotated.__globals__ is globals(),
        annotated.__dict__,
    )


def parts_of_a_new_function(n):
    def made(x, y=n, *, z=3) -> int:
        """Made here."""
        return x + y + z + n

    made.note = "kept"
    parts = made.__closure__, made.__defaults__, made.__kwdefaults__, made.__doc__, made.__module__, made.__annotations__
    made.__defaults__ = (10,)
    made.__name__ = "renamed"
    made.__doc__ = None
    made.__kwdefaults__["z"] = 4
    return parts, made(1), made, made.__closure__[0].cell_contents, made.__dict__


def wrong_writes():
    def made():
        pass

    found = []
    for name, value in (("__name__", 3), ("__defaults__", [1]), ("__code__", None), ("__kwdefaults__", 3)):
        try:
            setattr(made, name, value)
        except TypeError as error:
            found.append(error.args)
    return found


def written(x=1):
    return x


def write_to_an_existing_function():
    written.__defaults__ = (5,)
    written.mark = written()
    return written(), written.mark


def restore():
    found = written.__defaults__, written.__dict__.pop("mark", None)
    written.__defaults__ = (1,)
    return found


def wrapped():
    def decorate(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            return fn(*args, **kwargs)

        return inner

    made = decorate(annotated)
    return made, made.__wrapped__ is annotated, made(1, 2, d=3), decorate(made).__wrapped__ is made


def methods(box):
    bound = box.method
    return (
        bound.__self__ is box,
        bound.__func__ is Box.method,
        bound.__name__,
        bound.__doc__,
        bound.__defaults__,
        bound == box.method,
        bound is box.method,
        bound != Box().method,
        bound(1),
        types.MethodType(Box.method, box)(2, 3),
        [].append.__name__,
        "x".join.__self__,
        len.__name__,
    )


def cells():
    cell = types.CellType(1)
    cell.cell_contents += 1
    empty = types.CellType()
    try:
        empty.cell_contents
    except ValueError as error:
        message = error.args
    empty.cell_contents = "filled"
    del cell.cell_contents
    return cell, empty, message


def shared_cell():
    n = 0

    def first():
        nonlocal n
        n += 1

    def second():
        return n

    first()
    first.__closure__[0].cell_contents = 10
    first()
    return second(), n, first.__closure__[0] is second.__closure__[0], first, second


def modules():
    return math.pi, math.__name__, sys.modules["math"] is math, hasattr(math, "nope"), math.__dict__["e"], vars(math) is vars(math)


def partials():
    binary = functools.partial(int, base=2)
    nested = functools.partial(functools.partial(annotated, 1), 2, d=3)
    noted = functools.partial(binary)
    noted.note = 1
    over = functools.partial(noted, "11", base=3)
    return binary("101"), nested, nested(), nested.args, nested.keywords, over(), over.func is int, noted.note, noted


def partial_of_nothing():
    try:
        functools.partial(3)
    except TypeError as error:
        return error.args


def partial_methods(box):
    return box.added(), box.added(y=5), box.added.func


def cached_property(box):
    first = box.once
    return first is box.once, box


def reduced():
    found = [functools.reduce(lambda a, b: a * b, [1, 2, 3]), functools.reduce(lambda a, b: a + b, "abc", "_")]
    try:
        functools.reduce(max, [])
    except TypeError as error:
        found.append((error.args, error.__context__))
    return found


@functools.singledispatch
def dispatched(value):
    return "object"


@dispatched.register
def _(value: int):
    return "int"


def dispatching():
    return dispatched(1), dispatched("x"), dispatched(True)


@functools.total_ordering
class Ordered:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return self.n < other.n

    def __eq__(self, other):
        return self.n == other.n


def ordering():
    return Ordered(1) < Ordered(2), Ordered(1) >= Ordered(2), Ordered(1) <= Ordered(1), Ordered(3) > Ordered(2)


@pytest.mark.parametrize(
    "function",
    [
        parts_of_a_function,
        wrong_writes,
        wrapped,
        cells,
        shared_cell,
        modules,
        partials,
        partial_of_nothing,
        reduced,
        ordering,
    ],
)
def test_functions(function):
    whole(function)


@pytest.mark.parametrize("function", [methods, partial_methods, cached_property])
def test_of_an_object(function):
    whole(function, Box)


def test_new_function():
    whole(parts_of_a_new_function, lambda: 7)


def test_existing_function():
    whole(write_to_an_existing_function, state=restore)


def test_single_dispatch():
    dispatching()
    whole(dispatching)


# -- caches ----------------------------------------------------------------------------------------------------------

RUNS: list = []


@functools.cache
def unbounded(n, *, k=0):
    RUNS.append(n)
    return [n, k]


@functools.lru_cache(maxsize=2)
def bounded(n):
    RUNS.append(n)
    return [n]


@functools.lru_cache(typed=True)
def typed(n):
    RUNS.append(n)
    return type(n).__name__


class Cached:
    @functools.lru_cache
    def method(self, n):
        RUNS.append(n)
        return (self, n)


CACHED = Cached()


def state():
    infos = unbounded.cache_info(), bounded.cache_info(), typed.cache_info(), Cached.method.cache_info()
    return list(RUNS), infos


def forget():
    RUNS.clear()
    for function in (unbounded, bounded, typed, Cached.method):
        function.cache_clear()


def fill():
    forget()
    unbounded(3), unbounded(3, k=4), bounded(1), bounded(2), typed(1), typed(1.0), CACHED.method(5)


def hits():
    return unbounded(3) is unbounded(3), unbounded(3, k=4), bounded(1), typed(1), typed(1.0), CACHED.method(5)


def test_hits_of_caches():
    fill()
    expected = [outcome(hits, (), state) for _ in range(2)]
    fill()
    compiler = whole_after_filling(hits)
    assert compiler == expected


def whole_after_filling(function):
    compiler = Compiled(Domain(), replay=True)
    run = compiler.of(function)
    found = [outcome(run, (), state) for _ in range(2)]
    assert not compiler.faults and reasons(compiler) == []
    return found


def order_of_use():
    bounded(1)
    return bounded(1)


def test_a_hit_keeps_its_entry_in_use():
    fill()
    whole_after_filling(order_of_use)
    bounded(3)  # throws out 2, which was used least recently
    RUNS.clear()
    bounded(1)
    assert RUNS == []


def misses(n):
    return unbounded(n), unbounded(n)


def test_a_miss_breaks_once_and_is_found_then():
    forget()
    expected = [outcome(misses, (lambda: 9,), state) for _ in range(3)]
    forget()
    compiler = Compiled(Domain(), replay=True)
    run = compiler.of(misses)
    assert [outcome(run, (lambda: 9,), state) for _ in range(3)] == expected
    roots = [capture for capture in compiler.captures if capture.trace.program.code is misses.__code__]
    assert [root.trace.is_break for root in roots] == [True, False]


def counters():
    return unbounded.cache_info().hits >= 0


def test_counters_break():
    breaks("FL101", counters)


def unhashable():
    try:
        return bounded([])
    except TypeError as error:
        return error.args


def test_unhashable_key():
    compared(unhashable, (), 2, tuple)


def no_instances():
    found = []
    for cls in (type(functools.cmp_to_key(None)), types.GeneratorType, type(iter([]))):
        try:
            cls()
        except TypeError as error:
            found.append(error.args)
    return found


def test_classes_without_instances_by_call():
    compared(no_instances, (), 2, tuple)


def by_function_type():
    made = types.FunctionType(annotated.__code__, globals(), "other", (1, 2), None)
    counter = types.FunctionType(shared_cell.__code__.co_consts[2], globals(), None, None, (types.CellType(4),))
    return made.__name__, made.__defaults__, made.__globals__ is globals(), made(0, d=1), counter.__closure__[0].cell_contents


def test_function_type():
    compared(by_function_type, (), 2, tuple)


def test_a_method_in_c_that_is_told_its_class_is_bound_for_real() -> None:
    def bound(future):
        method = future.get_loop
        return [method, method()]

    loop = asyncio.new_event_loop()
    try:
        future = loop.create_future()
        call = Compiled(Domain(), replay=True).of(bound)
        for _ in range(2):
            method, found = call(future)
            assert found is loop and method() is loop and method.__self__ is future
    finally:
        loop.close()
