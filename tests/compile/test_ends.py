"""An object whose end shows ends, in captured code too, with the instruction that drops its last reference, wherever that was."""

# ruff: noqa: F841  names are bound so that they let go
from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from frameloom.symbolic import displaced
from tests.compile.calls import Compiled

LOG: list = []


class Resource:
    def __init__(self, n: int) -> None:
        self.n = n

    def __del__(self) -> None:
        LOG.append(self.n)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *raised: Any) -> None:
        LOG.append("exit")

    def __add__(self, other: int) -> Any:
        return Resource(self.n + other)

    def __iter__(self) -> Any:
        return iter([1, 2])

    def __bool__(self) -> bool:
        return False

    def m(self) -> int:
        return len(LOG)


class Plain:
    m: Any


def ended() -> list:
    return list(LOG)


def lets_go(resource: Any) -> list:
    resource = None
    return ended()


def ignores(resource: Any) -> int:
    return 1


def gives_back(resource: Any) -> Any:
    return resource


def argument_let_go_of() -> Any:
    return (lets_go(Resource(1)), ended())


def argument_dropped_by_the_callee() -> Any:
    ignores(Resource(1))
    return ended()


def returned_argument() -> Any:
    m = Resource(1)
    r = gives_back(m)
    m = None
    a = ended()
    r = None
    return (a, ended())


def owner_of_an_attribute() -> Any:
    a = Resource(1).n
    return (a, ended())


def owner_of_a_method() -> Any:
    a = Resource(1).m()
    return (a, ended())


def operand() -> Any:
    a = Resource(1) + 2
    b = ended()
    a = None
    return (b, ended())


def iterated() -> Any:
    for i in Resource(1):
        LOG.append('i')
    return ended()


def manager() -> Any:
    with Resource(1) as m:
        a = ended()
    b = ended()
    m = None
    return (a, b, ended())


def in_an_attribute_in_a_list() -> Any:
    p = Plain()
    p.m = Resource(1)
    q = [p]
    p = None
    a = ended()
    q.clear()
    return (a, ended())


def in_a_closure() -> Any:
    m = Resource(1)

    def f():
        return m.n
    a = f()
    m = None
    b = ended()
    return (a, b)


def closure_outlived() -> Any:
    m = Resource(1)

    def f():
        return m.n
    a = f()
    del f
    c = ended()
    m = 2
    return (a, c, ended())


def truth() -> Any:
    if Resource(1):
        pass
    return ended()


def replaced_in_a_dictionary() -> Any:
    d = {}
    d['a'] = Resource(1)
    d['a'] = Resource(2)
    a = ended()
    del d['a']
    return (a, ended())


def swapped() -> Any:
    a, b = (Resource(1), Resource(2))
    a, b = (b, a)
    r = ended()
    a = 0
    u = ended()
    b = 0
    return (r, u, ended())


def weak_reference() -> Any:
    m = Plain()
    w = weakref.ref(m)
    m = None
    return w() is None


def weak_reference_and_list() -> Any:
    m = Plain()
    w = weakref.ref(m)
    h = [m]
    del m
    a = w() is None
    h.pop()
    return (a, w() is None)


def callback() -> Any:
    m = Plain()
    w = weakref.ref(m, lambda r: LOG.append('gone'))
    m = None
    return ended()


def popped_and_sliced() -> Any:
    l = [Resource(i) for i in range(3)]
    l.pop()
    a = ended()
    l = l[:1]
    b = ended()
    l = None
    return (a, b, ended())


def in_an_exception() -> Any:
    try:
        m = Resource(1)
        raise ValueError(m)
    except ValueError as e:
        m = None
        a = ended()
    return (a, ended())


def in_a_generator() -> Any:

    def gen():
        m = Resource(1)
        yield 1
        m = None
        yield ended()
    return (list(gen()), ended())


def generator_with_finally() -> Any:

    def gen():
        try:
            yield 1
        finally:
            LOG.append('fin')
    it = gen()
    next(it)
    it = None
    return ended()


def loop_left() -> Any:

    def gen():
        try:
            yield 1
        finally:
            LOG.append('fin')
    for i in gen():
        break
    return ended()


def in_a_tuple() -> Any:
    m = Resource(1)
    t = (m, 2)
    m = None
    a = ended()
    t = None
    return (a, ended())


def in_a_set() -> Any:
    s1 = {Resource(1)}
    s1.clear()
    return ended()


def in_varargs() -> Any:

    def f(a, *r, **k):
        return (len(r), ended())
    return (f(1, Resource(1), k=Resource(2)), ended())


def shifted_in_a_list() -> Any:
    x = [Resource(1), Resource(2)]
    x[0], x[1] = (x[1], 0)
    return ended()


def attributes_of_each_other() -> Any:
    m = Resource(1)
    m.c = Resource(2)
    m.c = Resource(3)
    a = ended()
    del m.c
    b = ended()
    m = None
    return (a, b, ended())


def slice_assigned() -> Any:
    z = [Resource(1)]
    z += [Resource(2)]
    z[:] = []
    return ended()


def default() -> Any:
    lam = lambda q=Resource(1): ended()
    a = lam()
    lam = None
    return (a, ended())


def under_an_iterator() -> Any:
    it = iter([Resource(1), Resource(2)])
    next(it)
    a = ended()
    next(it)
    b = ended()
    it = None
    return (a, b, ended())


def comprehended() -> Any:
    return ([ended() for m in [Resource(1), Resource(2)]], ended())


def loop_variable_rebound() -> Any:
    for m in (Resource(1), Resource(2)):
        m = None
    return ended()


def asked_for_its_class() -> Any:
    class_ = type(Resource(1))
    return ended()


def asked_for_its_kind() -> Any:
    return (isinstance(Resource(1), Resource), ended())


def formatted() -> Any:
    return (f'{Resource(1).n}', ended())


def identity() -> Any:
    return (Resource(1) is None, ended())


def compared() -> Any:
    return (Resource(1) == 3, ended())


def sought() -> Any:
    return (Resource(1) in [1], ended())


def appended_and_popped() -> Any:
    a = []
    a.append(Resource(1))
    a.pop(0)
    return ended()


PROGRAMS = [
    argument_let_go_of, argument_dropped_by_the_callee, returned_argument, owner_of_an_attribute, owner_of_a_method, operand,
    iterated, manager, in_an_attribute_in_a_list, in_a_closure, closure_outlived, truth, replaced_in_a_dictionary, swapped,
    weak_reference, weak_reference_and_list, callback, popped_and_sliced, in_an_exception, in_a_generator, generator_with_finally,
    loop_left, in_a_tuple, in_a_set, in_varargs, shifted_in_a_list, attributes_of_each_other, slice_assigned, default,
    under_an_iterator, comprehended, loop_variable_rebound, asked_for_its_class, asked_for_its_kind, formatted, identity,
    compared, sought, appended_and_popped,
]


@pytest.fixture(autouse=True)
def by_counted_references_alone() -> Iterator[None]:
    """The collector ends nothing meanwhile."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_ends_where_it_does_in_plain_python(program: Callable) -> None:
    def run(call: Callable) -> tuple:
        LOG.clear()
        result = call()
        return result, sorted(LOG, key=str)

    expected = run(program)
    call = Compiled(program, on_capture=None)
    for _ in range(3):
        assert run(call) == expected


def test_what_somebody_else_holds_is_not_watched() -> None:
    """The frame goes on in one trace: the object lives on."""
    kept = Resource(1)

    def program(resource: Resource) -> int:
        held = [resource]
        held.clear()
        return len(LOG)

    call = Compiled(program)
    LOG.clear()
    assert call(kept) == program(kept) == 0
    assert len(call.captures) == 1


def test_what_is_written_back_is_not_displaced() -> None:
    """A weak reference to it is there, but nothing lets go of it."""
    holder = Plain()
    holder.m = Plain()
    seen = weakref.ref(holder.m)

    def program(held: Plain) -> None:
        held.m = held.m

    call = Compiled(program)
    call(holder)
    assert seen() is holder.m
    assert len(call.captures) == 1


def test_weak_references_of_tools_see_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of objects that another compiler keeps is not the program's: no object lives for it, none shows by it."""
    monkeypatch.setattr(displaced, "TOOLS", {"a_tool"})
    callbacks = [eval("lambda reference: None", {"__name__": name}) for name in ("a_tool", "a_program")]

    def program(holder: Plain) -> Any:
        holder.m = None
        return ended()

    counts = []
    for callback in callbacks:
        holder = Plain()
        holder.m = Plain()
        reference = weakref.ref(holder.m, callback)
        call = Compiled(program)
        call(holder)
        assert reference() is None
        counts.append(len(call.captures))
    assert counts[0] == 1 < counts[1]
