"""Breaks in callees: the whole chain of frames goes on as one, with the handlers, cells and frames of its callers."""

from __future__ import annotations

import pytest

from tests.toy.domain import ToyDomain

from .compiled import Compiled, compare, loaded
from .grammar import HEADER
from .world import World

CHAINS = {
    "plain": (2, """
def inner(v):
    breaker()
    return v + 1
def outer(v):
    return inner(v * 2) * 3
""", "    return outer(a + 1) + a\n"),
    "finally in each caller": (2, """
def inner(v):
    breaker()
    return v + 1
def middle(v):
    try:
        return inner(v * 2) * 3
    finally:
        log('middle')
def outer(v):
    try:
        return middle(v) + v
    finally:
        log('outer')
""", "    return outer(a + 1) + a\n"),
    "managers of callers": (2, """
def inner(v):
    breaker()
    return v + 1
def outer(v):
    with Manager(log, 1, False) as m, Manager(log, 2, True):
        v = inner(v * 2) * 3
        log(v)
    return v + 1
""", "    return outer(a + 1) + a\n"),
    "entering and leaving a manager": (4, """
class Made:
    def __init__(self, v):
        self.v = v
    def __enter__(self):
        v = self.v + 1
        breaker()
        log(names())
        return v * 2
    def __exit__(self, cls, error, tb):
        self.v = self.v * 3
        breaker()
        log((cls, where(error), sys.exc_info()[1] is error))
        self.v = self.v + 4
        return True
def outer(v):
    made = Made(v)
    with made as w:
        w = w - 1
        failer(w)
    return w + made.v
""", "    return outer(a + 1) + a\n"),
    "entering fails": (None, """
class Made:
    def __init__(self, v):
        self.v = v
    def __enter__(self):
        v = self.v + 1
        breaker()
        raise Problem(v)
    def __exit__(self, cls, error, tb):
        log('never')
class Fails(Made):
    def __enter__(self):
        raise Problem(2)
def outer(v, cls):
    try:
        with Manager(log, 1, False), cls(v):
            log('never')
    except Problem as error:
        v = v * 2
        breaker()
        log((error.args, where(error)))
    return v
""", "    return outer(a + 1, Made), outer(a - 1, Fails)\n"),
    "managers that are generators": (None, """
def inner(v):
    breaker()
    return v + 1
def outer(v):
    with managed(log) as n:
        v = inner(v * 2) * 3
    with managed(log), Manager(log, 1, True):
        v = inner(v * 2) * 3
        log(n)
        raise Problem(n)
    return v + 1
""", "    return outer(a + 1) + a\n"),
    "raised behind the break, handled by a caller": (None, """
def inner(v):
    v = v + 1
    breaker()
    v = v * 2
    raise Problem(3)
def middle(v):
    return inner(v * 2) * 3
def outer(v):
    try:
        return middle(v)
    except Problem as error:
        log((error.args, error.__context__ is None))
        return v * 5
    else:
        log('never')
    finally:
        log('finally')
""", "    return outer(a + 1) + a\n"),
    "raised behind the break, a break in the handler": (None, """
def inner(v):
    breaker()
    v = v * 2
    raise Problem(3)
def outer(v):
    try:
        return inner(v * 2) * 3
    except Problem as error:
        breaker()
        log(where(error))
        log(sys.exc_info()[1] is error)
        v = v * 5
        try:
            raise
        except Problem as again:
            log(again is error)
            raise KeyError(v) from again
""", "    return outer(a + 1) + a\n"),
    "raised at the break": (None, """
def inner(v):
    v = v + 1
    failer(1)
    return v
def outer(v):
    try:
        return inner(v * 2) * 3
    except Problem as error:
        log(where(error))
        v = v * 5
        breaker()
    return v + 2
""", "    return outer(a + 1) + a\n"),
    "nobody handles it": (None, """
def inner(v):
    v = v + 1
    breaker()
    v = v * 2
    return v + missing
def middle(v):
    with Manager(log, 1, False):
        return inner(v) * 2
def outer(v):
    return middle(v - 1)
""", "    return outer(a + 1) + a\n"),
    "real, through a finally of the callee": (3, """
def inner(v):
    try:
        v = v + 1
        failer(1)
    finally:
        v = v * 2
        log(v)
def middle(v):
    return inner(v + 2)
def outer(v):
    try:
        middle(v * 2)
    except Problem as error:
        log(where(error))
        return v * 3
""", "    return outer(a + 1) + a\n"),
    "handled in the callee": (None, """
def inner(v):
    try:
        v = v + 1
        failer(1)
    except Problem as error:
        v = v * 2
        breaker()
        log((where(error), sys.exc_info()[0]))
        return v + 1
    finally:
        breaker()
        v = v * 7
        log('inner')
def outer(v):
    return inner(v * 2) * 3
""", "    return outer(a + 1) + a\n"),
    "reraised through callers": (None, """
def inner(v):
    try:
        failer(1)
    finally:
        v = v + 1
        breaker()
        log(v)
def middle(v):
    try:
        return inner(v + 2)
    except KeyError:
        log('no')
def outer(v):
    try:
        return middle(v * 2) * 3
    except Problem as error:
        log(where(error))
        return v * 3
""", "    return outer(a + 1) + a\n"),
    "while a caller handles another": (3, """
def inner(v):
    breaker()
    log(repr(sys.exc_info()[1]))
    return v + 1
def outer(v):
    try:
        failer(1)
    except Problem as error:
        return inner(v * 2) * 3
""", "    return outer(a + 1) + a\n"),
    "cells of two frames": (2, """
def outer(v):
    total = v * 2
    def inner(w):
        nonlocal total
        total = total + w
        breaker()
        total = total * 2
        return w + 1
    got = inner(v)
    total = total + got
    return total, lambda: total
""", "    made = outer(a + 1)\n    return made, made[1]()\n"),
    "one object in two frames": (2, """
def inner(v, items):
    items.append(v + 1)
    breaker()
    items.append(v * 2)
    return items
def outer(v):
    items = [v]
    again = inner(v + 1, items)
    again.append(items[-1] + 1)
    return items, again is items
""", "    return outer(a + 1), a + 1\n"),
    "frames at the break": (2, """
def inner(v):
    v = v + 1
    log(names())
    return v + 1
def middle(v):
    return inner(v + 1) * 2
def outer(v):
    return middle(v * 2) * 3
""", "    return outer(a + 1) + a\n"),
    "two breaks in a loop in the callee": (3, """
def inner(v):
    for i in (1, 2):
        v = v + i
        breaker()
        v = v * 2
    else:
        v = v - 1
    return v
def outer(v):
    for _ in (1,):
        v = inner(v) + 1
    return v * 2
""", "    return outer(a + 1) + a\n"),
    "mid-expression": (2, """
def inner(v):
    breaker()
    return v + 1
def outer(v):
    return [v * 2, (v + 1, inner(v * 2) * 3), {'k': v - 1, **{'l': inner2(v)}}]
def inner2(v):
    return v * 4
""", "    return [outer(a + 1), a + 1]\n"),
    "a constructor": (2, """
class Made:
    def __init__(self, v):
        self.v = v + 1
        breaker()
        self.w = self.v * 2
def outer(v):
    made = Made(v * 3)
    return made.w + made.v
""", "    return outer(a + 1) + a\n"),
    "a property": (2, """
class Made:
    @property
    def w(self):
        v = self.v * 2
        breaker()
        return v + 1
def outer(v):
    made = Made()
    made.v = v + 1
    return made.w * 2
""", "    return outer(a + 1) + a\n"),
    "an operator": (None, """
class Made:
    def __init__(self, v):
        self.v = v
    def __add__(self, other):
        v = self.v + other
        breaker()
        return v * 2
def outer(v):
    return (Made(v + 1) + v) * 3
""", "    return outer(a + 1) + a\n"),
    "a recursion": (None, """
def outer(v, n=3):
    v = v + n
    breaker()
    if n:
        v = outer(v * 2, n - 1) + v
    breaker()
    return v * 3
""", "    return outer(a + 1) + a\n"),
    "one function at several depths": (2, """
def call(function, v):
    return function(v + 1) * 2
def inner(v):
    breaker()
    return v - 1
def middle(v):
    return call(inner, v + 2) * 3
def outer(v):
    return call(middle, v) + v
""", "    return outer(a + 1) + a\n"),
    "two functions that call each other": (None, """
def even(v, n):
    v = v + n
    breaker()
    return odd(v * 2, n - 1) + 1 if n else v
def odd(v, n):
    v = v - n
    breaker()
    return even(v * 3, n - 1) + 2 if n else v
def outer(v):
    return even(v, 5), odd(v, 4)
""", "    return outer(a + 1)\n"),
    "a generator between": (None, """
def inner(v):
    breaker()
    return v + 1
def steps(v):
    for i in (1, 2):
        yield inner(v * i) * 2
def outer(v):
    for w in steps(v):
        v = v + w
    return v
""", "    return outer(a + 1) + a\n"),
    "arguments die": (None, """
class Item:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        log(self.name)
def inner(item, v):
    v = v + 1
    del item
    breaker()
    log('behind')
    return v * 2
def outer(v):
    return inner(Item('first'), v) + 1
""", "    return outer(a + 1) + a\n"),
}
"""name -> (how many graphs there are, None where that is not the point; functions; the body of the program)"""

HELPERS = """
def where(error):
    found, tb = [], error.__traceback__
    while tb is not None:
        found.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
        tb = tb.tb_next
    return found
def names():
    found, frame = [], sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        found.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
        frame = frame.f_back
    return found
""".replace("__file__", "names.__code__.co_filename")


@pytest.mark.parametrize("name", CHAINS)
def test_chains(name: str) -> None:
    count, functions, body = CHAINS[name]
    source = HELPERS + functions + HEADER.rstrip() + "\n" + body
    compare(source, ToyDomain())
    compare(source, ToyDomain(), replay=True)
    if count is not None:
        assert len(graphs(source)) == count


def graphs(source: str) -> list[str]:
    """The graphs of a first call."""
    function = loaded(source)
    compiler = Compiled(ToyDomain(), replay=False)
    world = World(0)
    function.__globals__.update(world.names())
    world.run(compiler.of(function), function.__code__.co_filename)
    return [capture.plan.graph.text for capture in compiler.captures if capture.plan.graph is not None]


def test_a_recursion_takes_no_more_captures_for_more_depth() -> None:
    def captures(depth: int) -> int:
        source = HELPERS + RECURSION + HEADER.rstrip() + f"\n    return outer(a, {depth})\n"
        compare(source, ToyDomain())
        return len(graphs(source))

    assert captures(24) == captures(12) < 12


RECURSION = """
def outer(v, n):
    v = v + 1
    breaker()
    if n > 0:
        v = outer(v - 2, n - 1) + v
    breaker()
    return v - 3
"""
