"""Guards on what numbers come out as: the native program agrees with Python, and runs none of it."""

import math
import operator
from random import Random

import pytest
from hypothesis import given, strategies

import frameloom.api  # noqa: F401  the rules say how functions are written
from frameloom.compile.guard_program import lower
from frameloom.interpreter.expressions import Leaf, Outcome, chosen, compiled, every, plain, some, text_of
from frameloom.symbolic.guards import Guard
from frameloom.symbolic.source import Scope, Sources

BINARY = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.and_, operator.or_, operator.xor)
COMPARE = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)
UNARY = (operator.neg, operator.pos, abs, int, float, round, math.floor, math.ceil, math.trunc, math.sqrt)
NUMBERS = (0, 1, -1, 2, -3, 7, 12, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**70, 0.0, -0.0, 0.5, -2.5, 1e18, 1e300, math.inf, math.nan)


def number(random):
    return random.choice(NUMBERS) if random.random() < 0.6 else random.randrange(-20, 20)


def expression(random, leaves, depth):
    """A random expression over so many numbers."""
    kind = random.random()
    if depth == 0 or kind < 0.15:
        return Leaf(random.randrange(leaves)) if random.random() < 0.7 else plain(number(random))
    if kind < 0.55:
        return (random.choice(BINARY), expression(random, leaves, depth - 1), expression(random, leaves, depth - 1))
    if kind < 0.65:
        return (random.choice((operator.pow, operator.lshift, operator.rshift)), Leaf(random.randrange(leaves)), plain(random.randrange(-2, 5)))
    if kind < 0.75:
        return (random.choice(UNARY), expression(random, leaves, depth - 1))
    if kind < 0.83:
        return (random.choice((min, max)), *[expression(random, leaves, depth - 1) for _ in range(random.randrange(2, 4))])
    if kind < 0.9:
        return (chosen, condition(random, leaves, depth - 1), expression(random, leaves, depth - 1), expression(random, leaves, depth - 1))
    return condition(random, leaves, depth)


def condition(random, leaves, depth):
    kind = random.random()
    if depth and kind < 0.3:
        return (random.choice((every, some)), *[condition(random, leaves, depth - 1) for _ in range(random.randrange(2, 4))])
    if depth and kind < 0.4:
        return (operator.not_, condition(random, leaves, depth - 1))
    return (random.choice(COMPARE), expression(random, leaves, max(depth - 1, 0)), expression(random, leaves, max(depth - 1, 0)))


NAMES = ("a", "b", "c")
CODE = (lambda a, b, c: None).__code__
SOURCES = [Sources().local(name) for name in NAMES]


def guard_of(expression_, numbers, found):
    classes = tuple(map(type, numbers))
    return Guard("OUTCOME", SOURCES[0], Outcome(tuple(SOURCES[1:]), classes, expression_, found), None)


@given(strategies.integers(0, 2**32))
def test_native_equals_python(seed):
    random = Random(seed)
    for _ in range(20):
        numbers = [number(random) for _ in NAMES]
        asked = condition(random, len(NAMES), 3)
        guard = guard_of(asked, numbers, random.random() < 0.5)
        lowered = lower([guard], CODE)
        assert "PY_CHECK" not in lowered.program.dump()
        for given_ in (numbers, [type(n)(m) if abs(m) < 1e9 else n for n, m in zip(numbers, reversed(numbers))], [number(random) for _ in NAMES]):
            try:
                expected = guard.holds(Scope(dict(zip(NAMES, given_)), {}, {}, {}))
            except TypeError:
                expected = False  # a complex number that is compared, a float that is shifted
            native = lowered.program.check(tuple(given_)) == -1
            assert native is expected, (asked, given_, text_of(asked, NAMES))


@given(strategies.integers(0, 2**32))
def test_the_text_means_what_is_computed(seed):
    """Parentheses stand where Python needs them."""
    random = Random(seed)
    for _ in range(20):
        asked = condition(random, len(NAMES), 3)
        numbers = [random.randrange(-5, 6) for _ in NAMES]
        text = text_of(asked, NAMES)
        assert outcome(lambda: eval(text, {"math": math, "inf": math.inf, "nan": math.nan}, dict(zip(NAMES, numbers)))) == outcome(
            lambda: reference(asked, numbers)
        ), text


def outcome(function):
    try:
        return function()
    except (ArithmeticError, ValueError, TypeError) as error:
        return type(error)


def reference(asked, numbers):
    """An expression evaluated as what it is."""
    if type(asked) is Leaf:
        return numbers[asked.index]
    if type(asked) is tuple:
        function, *operands = asked
        if function is chosen:
            return reference(operands[1 if reference(operands[0], numbers) else 2], numbers)
        if function in (every, some):
            for operand in operands:
                found = reference(operand, numbers)
                if bool(found) is (function is some):
                    break
            return found
        return function(*[reference(operand, numbers) for operand in operands])
    return asked.value


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ((operator.mul, (operator.add, Leaf(0), plain(1)), Leaf(1)), "(a + 1) * b"),
        ((operator.sub, Leaf(0), (operator.sub, Leaf(1), Leaf(2))), "a - (b - c)"),
        ((operator.pow, (operator.neg, Leaf(0)), plain(2)), "(-a) ** 2"),
        ((operator.neg, (operator.pow, Leaf(0), plain(2))), "-a ** 2"),
        ((operator.eq, (operator.mod, Leaf(0), plain(8)), plain(0)), "a % 8 == 0"),
        ((operator.eq, (operator.lt, Leaf(0), plain(8)), (operator.lt, Leaf(1), plain(8))), "(a < 8) == (b < 8)"),
        ((every, (operator.gt, Leaf(0), plain(-1)), (some, Leaf(1), Leaf(2))), "a > -1 and (b or c)"),
        ((operator.not_, (every, Leaf(0), Leaf(1))), "not (a and b)"),
        ((operator.add, plain(1), (chosen, (operator.not_, Leaf(0)), Leaf(1), Leaf(2))), "1 + (b if not a else c)"),
        ((max, Leaf(0), (operator.floordiv, Leaf(1), plain(2))), "max(a, b // 2)"),
    ],
)
def test_texts(asked, text):
    assert text_of(asked, NAMES) == text


def test_what_is_not_asked_is_not_computed():
    """`n == 0 or m % n == 0` holds for 0."""
    asked = (some, (operator.eq, Leaf(0), plain(0)), (operator.eq, (operator.mod, Leaf(1), Leaf(0)), plain(0)))
    lowered = lower([guard_of((operator.eq, asked, plain(True)), (0, 5, 1), True)], CODE)
    assert lowered.program.check((0, 5, 1)) == -1 and lowered.program.check((5, 10, 1)) == -1 and lowered.program.check((5, 11, 1)) == 0


def test_what_the_native_program_has_no_row_for_is_asked_of_python():
    asked = (operator.gt, (math.gcd, Leaf(0), Leaf(1)), plain(2))
    lowered = lower([guard_of(asked, (6, 9, 1), True)], CODE)
    assert "PY_CHECK_MANY" in lowered.program.dump()
    assert lowered.program.check((6, 9, 1)) == -1 and lowered.program.check((6, 8, 1)) == 0


def test_compiled_takes_any_number_of_leaves():
    assert compiled((operator.add, Leaf(0), Leaf(0)))(3) == 6 and compiled(plain(4))() == 4
