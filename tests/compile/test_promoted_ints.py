"""Whole numbers with a second value are read at run time: what is done with them is what eager does, and never breaks for it."""

from __future__ import annotations

import enum
import math
import operator
import sys

import pytest

from tests.compile.calls import Compiled, outcome

SMALL = [3, 4, 5, 7, 6]
ODD = [3, 4, 0, 1, -1, 2, True, False, 300, -300, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 2**100, -(2**200), 2**1100, 5, 1]


class Color(enum.IntEnum):
    RED = 3
    BLUE = 4


def guarded(n):
    try:
        return 10 // n, 1 / n, 2.5 % n
    except (ZeroDivisionError, OverflowError) as error:
        return type(error), error.args


def converted(n):
    try:
        return float(n)
    except OverflowError as error:
        return error.args


def powers(n):
    try:
        return n**2, 2**n if -5 < n < 90 else 0, 0.5**n, n**-1, n**0.5 if n > 0 else None
    except (OverflowError, ZeroDivisionError) as error:
        return type(error), error.args


def roots(n):
    try:
        return math.sqrt(n), math.log(n), math.floor(n), math.exp(n)
    except (ValueError, OverflowError) as error:
        return type(error), error.args


def counted(n):
    total = 0
    for i in range(5):
        if i < n:
            total += i
    while total < n and total < 40:
        total += 7
    return total


def matched(n):
    match n:
        case 3:
            return "three"
        case int(x) if x > 5:
            return ("large", x)
        case bool():
            return "flag"
    return "other"


class Holder:
    __slots__ = ("n",)


def slotted(n):
    holder = Holder()
    holder.n = n
    holder.n += 1
    return holder.n


def closed(n):
    def inner():
        nonlocal n
        n += 2
        return n

    return inner(), n


def texts(n):
    return str(n)[:50], repr(n)[:50], f"{n:>5}"[:50], f"{n!r:s}"[:50], "%d|%s" % (n % 7, n % 11), "{}".format(n % 5), hex(n), "a" * (n % 4)


def equal(n):
    return n == 3, n == 3.0, n == "3", n is None, n == None, n != (), 3 == n, [n] == [3], (n, 1) == (3, 1), n in (3, 5), n in {4: 1}  # noqa: E711


def sized(n):
    return [0] * (n % 5), [n, n + 1][n % 2], list(range(n % 6)), "abcdefg"[n % 7], [1, 2, 3, 4][: n % 3], (1, 2)[-(n % 2)], bytes(n % 3)


FUNCTIONS = [
    lambda n: (n + 1, n - 1, n * 3, -n, +n, ~n, abs(n)),
    lambda n: (n // 2, n % 3, n // -3, n % -4, divmod(n, 5)),
    lambda n: (n & 6, n | 9, n ^ 3, n >> 1, n << 2),
    lambda n: (n < 3, n <= 4, n > 5, n >= 1, n != 2, not n, bool(n)),
    lambda n: 1 if n else 2,
    lambda n: (type(n), isinstance(n, int), isinstance(n, bool), n.__class__),
    lambda n: (int(n), n.__index__(), operator.index(n), round(n), n.real, n.imag, n.numerator, n.denominator),
    lambda n: (n.bit_length(), hash(n), n.conjugate(), (n % 256).to_bytes(2, "big"), int.__add__(n, 1), n.__mul__(2)),
    lambda n: ({n: "a"}, {n: 1, 3: 2}, {n}, {3: "x", 4: "y"}.get(n), {n: 1}[n], (n, n)),
    lambda n: (max(n, 4), min(n, 4), sum([n, n, 1]), sorted([n, 3, 5]), max([n, 2]), any([n]), all([n, 1])),
    lambda n: (n is True, n is False, n is n, n is 3, isinstance(n, (str, int)), callable(n)),  # noqa: F632
    lambda n: (n < 4.5, n + 0.5 if abs(n) < 2**60 else 0, n * 1.0 if abs(n) < 2**60 else 0, n * 1j if abs(n) < 2**60 else 0),
    lambda n: (n, [n], {"k": n}, {"n": n, **{"m": n}}, slice(n, None), slice(0, n).stop),
    lambda n: (lambda *a, **k: (a, k))(n, k=n),
    lambda n: (pow(n, 2), pow(n, 3, 7), math.gcd(n, 12), n == Color.RED, Color.BLUE == n),
    lambda n: ([i for i in range(3) if i != n], [n for _ in range(2)], {i: n for i in range(2)}, tuple(n * i for i in range(3))),
    lambda n: [x for x in (5, 3, 4) if x == n],
    lambda n: (n > 2 and n < 5, n or "none", n and "some", 0 < n < 5),
    lambda n: (n * n * n * n, (n + 1) * (n - 1), n - n, n * 0),
    lambda n: getattr(n, "nothing", "default"),
    lambda n: (n in range(4), n in range(-(10**18), 10**18, 2), range(3, 10**18, 1).count(n), range(-(2**63), 2**63, 1).count(n)),
    lambda n: (hasattr(n, "real"), hasattr(n, "append"), len(f"{n % 10}")),
    lambda n: list(zip(range(3), [n, n])) + list(enumerate([n], n % 3)) + list(map(lambda x: x + n, (1, 2))),
    guarded, converted, powers, roots, counted, matched, slotted, closed, texts, equal, sized,
]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("values", [SMALL, ODD], ids=["small", "odd"])
def test_what_is_done_with_a_whole_number(function, values) -> None:
    if function is texts and values is ODD:
        values = [value for value in values if abs(value) < 2**1000]
    from frameloom import config

    call = Compiled(function, fullgraph=True)
    with config.patch(recompile_limit=100):
        for value in values:
            assert repr(outcome(call, value)) == repr(outcome(function, value)), value


def entries(function, values) -> int:
    call = Compiled(function)
    for arguments in values:
        arguments = arguments if type(arguments) is tuple else (arguments,)
        assert repr(outcome(call, *arguments)) == repr(outcome(function, *arguments)), arguments
    return len(call.captures)


@pytest.mark.parametrize("function, values, captures", [
    (lambda n: n * 2 + 1, [3, 4, 0, 1, -7, 2**80], 2),
    (lambda n: n / 100, [3, 4, 0, 1, -7, 2**60], 2),
    (lambda n: 1.0 - 0.9**n, [1, 2, 3, 4, 50], 2),
    (lambda n: n**2 + 2**n, [1, 2, 3, 4, 50], 2),
    (lambda n: math.sqrt(n) + math.log(n + 1), [1, 2, 3, 4, 50], 2),
    (lambda n: n**-0.5, [1, 2, 3, 4, 50], 2),
    (lambda n, m: n / m, [(1, 2), (2, 3), (3, 4), (10, 7)], 2),
    (lambda n, m: n < m, [(1, 2), (2, 3), (3, 4), (10, 7), (11, 8)], 3),
    (lambda n: "odd" if n % 2 else "even", [1, 3, 5, 7, 2, 4, 6], 3),
    (lambda n: n > 5, [1, 2, 3, 4, 6, 7, 8, 5], 3),
    (lambda n: max(n, 10), [1, 2, 3, 4, 16, 17], 3),
    (lambda n: [n, n], [1, 2, 3, 4], 2),
    (lambda n: range(n), [1, 2, 3, 4], 4),
    (lambda n: str(n), [1, 2, 3], 3),
])
def test_how_many_captures(function, values, captures) -> None:
    assert entries(function, values) == captures


class Model:
    def __init__(self):
        self.step = 0
        self.sizes = {"width": 3}
        self.rate = [0.5, 2]


def test_wherever_it_comes_from() -> None:
    model, plain = Model(), Model()

    def read(model):
        return model.step * 2 + model.sizes["width"] + model.rate[1]

    call = Compiled(read)
    for n in range(6):
        for each in (model, plain):
            each.step, each.sizes["width"], each.rate[1] = n, 2 * n, 3 * n
        assert call(model) == read(plain)
    assert len(call.captures) == 2

    def counted(model):
        model.step += 1
        return model.step * 2

    call = Compiled(counted)
    for _ in range(6):
        assert call(model) == counted(plain)
    assert len(call.captures) == 2 and model.step == plain.step


GLOBAL = 1


def test_of_globals_and_closures() -> None:
    global GLOBAL
    k = 1

    def read():
        return GLOBAL * 3 + k

    call = Compiled(read)
    for n in range(1, 6):
        GLOBAL, k = n, n + 1
        assert call() == read()
    assert len(call.captures) == 2


def test_the_object_itself_comes_back() -> None:
    def same(n):
        return n, [n]

    call = Compiled(same)
    for value in (10**20, 10**21, 10**22):
        number = value + len(sys.argv)
        found, (other,) = call(number)
        assert found is number and other is number
    assert len(call.captures) == 2
