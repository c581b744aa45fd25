"""Torch's expressions of sizes as ours: they come out as torch's own guards do, and are written as a program would write them."""

import math
from random import Random

import pytest

torch = pytest.importorskip("torch")
sympy = pytest.importorskip("sympy")

from hypothesis import given, strategies
from torch.utils._sympy import functions

import frameloom
from frameloom.interpreter.expressions import Leaf, compiled, text_of
from frameloom.pytorch.size_expressions import Translator
from tests.pytorch.test_sizes_by_table import ones

SYMBOLS = [sympy.Symbol(name, integer=True, positive=True) for name in ("a", "b", "c")]
A, B, C = SYMBOLS
NAMES = [str(symbol) for symbol in SYMBOLS]


def translated(expression):
    return Translator(lambda symbol: Leaf(NAMES.index(str(symbol))))(expression)


WRITTEN = {
    functions.FloorDiv(A + B, C): "(a + b) // c",
    functions.Mod(A * B, 8): "a * b % 8",
    functions.PythonMod(A - B, C): "(a - b) % c",
    functions.FloorDiv(A - 3, 2) + 1: "(a - 3) // 2 + 1",
    sympy.Eq(-A - B + 1, 0): "-a - b + 1 == 0",
    sympy.Lt(2 * A - 3 * B - 7, -C): "2 * a - 3 * b - 7 < -c",
    functions.CleanDiv(A, B): "a // b",
    functions.ModularIndexing(A, B, C): "a // b % c",
    functions.PowByNatural(A, B): "a ** b",
    functions.IntTrueDiv(A, B): "a / b",
    functions.Max(A, B, 3): "max(3, a, b)",
    functions.Min(A, B): "min(a, b)",
    functions.Where(sympy.Lt(A, B), A, B): "a if a < b else b",
    sympy.Piecewise((A, sympy.Eq(B, 2)), (B, sympy.Lt(A, 3)), (C, True)): "a if b == 2 else b if a < 3 else c",
    functions.FloorToInt(functions.IntTrueDiv(A, B)): "math.floor(a / b)",
    functions.CeilToInt(functions.ToFloat(A) * 0.5): "math.ceil(0.5 * float(a))",
    functions.TruncToInt(functions.ToFloat(A)): "math.trunc(float(a))",
    functions.RoundToInt(functions.IntTrueDiv(A, B)): "round(a / b)",
    functions.OpaqueUnaryFn_sqrt(A): "math.sqrt(a)",
    functions.BitwiseFn_bitwise_and(A, B): "a & b",
    sympy.And(sympy.Eq(A, B), sympy.Ne(B, C)): "a == b and b != c",
    sympy.Or(sympy.Le(A, B), sympy.Gt(B, C)): "b > c or a <= b",
    sympy.Not(sympy.Eq(A, B), evaluate=False): "not a == b",
    A**2 * B: "a ** 2 * b",
    functions.Identity(A + 1): "a + 1",
}


@pytest.mark.parametrize("expression", WRITTEN, ids=str)
def test_each_class_is_written_and_computed(expression):
    ours = translated(expression)
    operands = [side.strip() for side in text_of(ours, NAMES).replace("+", " ").split()]
    wanted = [side.strip() for side in WRITTEN[expression].replace("+", " ").split()]
    assert sorted(operands) == sorted(wanted)  # in torch's order, which is its own affair
    for numbers in ((1, 2, 3), (7, 2, 5), (12, 12, 12), (3, 10, 2)):
        assert compiled(ours)(*numbers) == value_of(expression, numbers), numbers


def value_of(expression, numbers):
    """What torch's own arithmetic makes of an expression."""
    found = expression.xreplace({symbol: sympy.Integer(number) for symbol, number in zip(SYMBOLS, numbers)})
    return bool(found) if found in (sympy.true, sympy.false) else int(found) if found.is_Integer else float(found)


def random_number(random, depth):
    if depth == 0:
        return random.choice([*SYMBOLS, sympy.Integer(random.randrange(-4, 9))])
    one, other = random_number(random, depth - 1), random_number(random, depth - 1)
    positive = random.choice([*SYMBOLS, sympy.Integer(random.randrange(1, 9))])
    return random.choice(MADE)(one, other, positive)


MADE = (
    lambda a, b, n: a + b,
    lambda a, b, n: a - b,
    lambda a, b, n: a * b,
    lambda a, b, n: functions.FloorDiv(a, n),
    lambda a, b, n: functions.PythonMod(a, n),
    lambda a, b, n: functions.Max(a, b),
    lambda a, b, n: functions.Min(a, b),
    lambda a, b, n: functions.Where(sympy.Lt(a, n), a, b),
    lambda a, b, n: a**2,
)


@given(strategies.integers(0, 2**32))
def test_conditions_come_out_as_torch_computes_them(seed):
    random = Random(seed)
    for _ in range(5):
        relation = random.choice((sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge))
        expression = relation(random_number(random, 3), random_number(random, 2))
        for _ in range(4):
            numbers = [random.choice((1, 2, 3, 7, 2**40, 2**62)) for _ in NAMES]
            assert compiled(translated(expression))(*numbers) == value_of(expression, numbers), (expression, numbers)


def test_what_has_no_row_is_computed_by_torchs_text():
    expression = functions.OpaqueUnaryFn_cosh(A + B)
    assert compiled(translated(expression))(1, 2, 5) == math.cosh(3)
    assert text_of(translated(expression), NAMES) == "OpaqueUnaryFn_cosh(a, b)"


# -- in entries --------------------------------------------------------------------------------------------------------


CASES = {
    "equal sizes": (lambda x, y: x + y, [(ones(4, 3), ones(4, 3)), (ones(5, 3), ones(5, 3))], (ones(9, 3), ones(9, 3))),
    "a condition": (lambda x: x * 2 if x.shape[0] % 2 else x, [(ones(5),), (ones(7),)], (ones(11),)),
    "a view": (lambda x: x.view(-1, 4) + 1, [(ones(4, 2),), (ones(6, 2),)], (ones(8, 2),)),
    "strides": (lambda x: x.reshape(-1) * 2, [(ones(4, 3),), (ones(5, 3),)], (ones(6, 3),)),
    "a number": (lambda x, n: x[n:] * n if n < x.shape[0] - 1 else x, [(ones(9), 2), (ones(9), 3)], (ones(9), 5)),
    "a computed number": (lambda x, n: x[: int(n * 0.5)] + 1, [(ones(9), 2), (ones(9), 4)], (ones(9), 7)),
    "a float": (lambda x, f: x * f if f < 2.5 else x, [(ones(3), 0.5), (ones(3), 1.5)], (ones(3), 2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_hit_runs_no_python(name, monkeypatch):
    """The reference of the conditions is never called where an entry fits."""
    from frameloom.interpreter import expressions
    from frameloom.pytorch import shapes

    function, learnt, after = CASES[name]
    compiled_function = frameloom.compile(function, backend="eager")
    for arguments in learnt:
        compiled_function(*arguments)
    expected, graphs = function(*after), frameloom.stats().graphs

    def refuse(*_):
        raise AssertionError("Python decided")

    monkeypatch.setattr(shapes.SizesPayload, "failing", refuse)
    monkeypatch.setattr(expressions, "comes_out", refuse)
    monkeypatch.setattr(shapes, "sizes_hold", refuse)
    assert torch.equal(compiled_function(*after), expected)
    assert frameloom.stats().graphs == graphs
