"""Stopping once, before any one instruction, is as if nothing had been; chains of calls go on with a graph for each break."""

from __future__ import annotations

import pytest

from tests.toy import stopping
from tests.toy.domain import ToyDomain

from .compiled import Compiled, compare, loaded
from .grammar import HEADER
from .world import World

CORPUS = {
    "attributes": """
    box.n = box.twice + other.n
    box.extra = [box.n]
    del box.extra
    return box.apply(a, 2), getattr(box, 'nothing', 3)
""",
    "handlers": """
    try:
        try:
            [][0]
        except IndexError as error:
            log(error.args)
            raise KeyError(1) from error
        finally:
            log('finally')
    except KeyError as error:
        return type(error.__cause__).__name__
""",
    "managers": """
    with Manager(log, 1, True) as m, managed(log) as n:
        if flag:
            return n
        raise Problem(2)
    return 3
""",
    "cells": """
    total = 0
    def add(k):
        nonlocal total
        total += k
        return total
    xs.append(add(2))
    del add
    return total, [lambda: total + i for i in range(2)]
""",
    "loops": """
    for i in range(3):
        while i:
            i -= 1
            if i == 1:
                continue
            log(i)
        else:
            xs.extend(k * 2 for k in gen(2))
    return [*zip(xs, 'ab')], {k: v for k, v in table.items()}
""",
    "generators": """
    def walk(n):
        try:
            for i in range(n):
                got = yield i
                if got:
                    return got
        finally:
            log('over')
    it = walk(4)
    next(it)
    try:
        it.send(5)
    except StopIteration as end:
        log(end.value)
    return [*walk(2)], it
""",
    "calls": """
    def inner(p, *rest, k=1, **names):
        return p + len(rest) + k + len(names)
    def outer(p):
        try:
            return inner(p, *xs, k=2, z=3) + inner(1)
        finally:
            log(p)
    return outer(1) + outer(p=2), a * outer(1)
""",
    "objects": """
    odd = Odd(1, log)
    odd += 2
    odd[0] = 5
    return odd + 1, 2 + odd, odd == 3, not odd, [*odd], 5 in odd, odd.missing_thing, odd.twice
""",
}


@pytest.mark.parametrize("body", CORPUS.values(), ids=CORPUS)
def test_stopping_before_each_instruction(body: str) -> None:
    source = HEADER + body.lstrip("\n")
    number = 0
    while True:
        number += 1
        domain = stopping.only(number)
        with stopping.in_force():
            compare(source, domain, replay=True, variants=(1,))
        if not domain.stopped:
            break
    assert number > 10


@pytest.mark.parametrize("depth", range(1, 7))
@pytest.mark.parametrize("breaks", (1, 2))
@pytest.mark.parametrize("after", (False, True), ids=("passed on", "computed with"))
def test_graphs_of_breaks_at_any_depth(depth: int, breaks: int, after: bool) -> None:
    """A graph before and behind each break: what goes on behind one in a callee is one trace with all its callers."""
    lines = ["def f1(v):", "    v = v + 1", *["    breaker()", "    v = v * 2"] * breaks, "    return v"]
    for level in range(2, depth + 1):
        lines += [f"def f{level}(v):", f"    v = f{level - 1}(v - 3)", f"    return v{' + 4' * after}"]
    source = "\n".join([*lines, HEADER.rstrip(), f"    return f{depth}(a * 2){' + b' * after}", ""])
    compare(source, ToyDomain())
    function = loaded(source)
    domain = ToyDomain()
    compiler = Compiled(domain, replay=False)
    world = World(0)
    function.__globals__.update(world.names())
    world.run(compiler.of(function), function.__code__.co_filename)
    graphs = [capture.plan.graph.text for capture in compiler.captures if capture.plan.graph is not None]
    assert len(graphs) == breaks + 1, graphs
