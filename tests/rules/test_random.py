"""Random draws: done at run time, in program order, by the generator that eager would use."""

from __future__ import annotations

import random

import pytest

from tests.rules.evaluate import breaks, difference, symbolic, told


def draws(r):
    a = r.random(), r.randint(1, 100), r.uniform(2, 3), r.randrange(10), r.randrange(0, 100, 5), r.gauss(0, 1), r.getrandbits(8)
    b = r.choice([1, 2, 3]), r.normalvariate(), r.expovariate(2.0), r.betavariate(1, 2), r.triangular(0, 1, 0.5)
    return a, b


def arithmetic(r):
    x = r.random()
    return x * 2 + 1, -x, r.randint(1, 6) + r.randint(1, 6), x


def seeded(r):
    r.seed(11)
    first = r.random()
    state = r.getstate()
    second = r.random()
    r.setstate(state)
    return first, second, r.random(), r.seed("text")


def dropped(r):
    r.random()
    return "nothing"


def of_module(r):
    random.seed(7)
    return random.random(), random.randint(1, 1000), random.uniform(0, 1), random.choice((1.5, 2.5))


@pytest.mark.parametrize("program", [draws, arithmetic, seeded, dropped, of_module], ids=lambda f: f.__name__)
def test_program(program):
    first, second = random.Random(5), random.Random(5)
    expected = told(program, first), first.getstate(), random.random() if program is of_module else 0
    found = symbolic(program, (second,)), second.getstate(), random.random() if program is of_module else 0
    assert not difference(found, expected), difference(found, expected)


@pytest.mark.parametrize("program", [
    lambda r: 1 if r.random() > 0.5 else 2,
    lambda r: [1, 2, 3][r.randrange(3)],
    lambda r: r.shuffle([1, 2, 3]),
    lambda r: r.choice(["a", "b"]),
    lambda r: r.randint(5, 1),
    lambda r: r.choice([]),
    lambda r: f"{r.random()}",
], ids=["branch", "index", "shuffle", "objects", "wrong", "empty", "text"])
def test_breaks(program):
    assert "FL20" in breaks(program, random.Random(1))


def test_an_exception_of_a_draw_is_left_to_eager():
    assert "FL207" in breaks(lambda r: r.expovariate(0), random.Random(1))
