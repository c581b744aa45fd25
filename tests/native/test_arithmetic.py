"""Arithmetic of guards: machine numbers, Python's numbers, and the reference agree, for any rows of any numbers."""

from random import Random

import pytest
from hypothesis import given, strategies

from frameloom.native import GuardProgram, opcodes
from tests.native import arithmetic_reference as reference

LARGE = 2**63
WHOLES = (0, 1, -1, 2, -2, 3, -3, 7, -7, 10, 64, 2**31, -(2**31), 2**53, 2**53 + 1, -(2**53) - 1, LARGE - 1, -LARGE, LARGE, -LARGE - 1, 2**70)
REALS = (0.0, -0.0, 0.5, -0.5, 1.0, -1.5, 2.5, 3.5, 1e18, 2.0**63, -(2.0**63), 1e300, -1e300, float("inf"), float("-inf"), float("nan"))
EXPONENTS = (-2, -1, 0, 1, 2, 3, 31, 62, 63, 64)
IN_DOUBT = ("POS", -1, 0, 0)  # of a value that is no machine number


def check(numbers, values, rows, doubted=False):
    """Whether the native program holds; doubted: that it comes to Python's numbers is seen to."""
    if doubted:
        rows = [IN_DOUBT, *[moved(row, 1) for row in rows]]
        values = (2**80, *values)
    constant = (tuple(range(len(numbers))), tuple(values), tuple(rows))
    instructions = [("LOCAL", 0, i, i, 1) for i in range(len(numbers))]
    instructions += [("ARITHMETIC", 0, 0, 0, 2), ("EXACTLY", 0, 0, 0, 2)]
    found = GuardProgram(instructions, (constant,)).check(tuple(numbers))
    assert found in (-1, 2)
    return found == -1


KINDS = {row.name: row.operands for row in opcodes.ARITHMETIC}


def moved(row, by):
    """A row as it is behind `by` more rows and values."""
    name, *operands = row
    kinds = KINDS[name].ljust(3)
    return (name, *[operand + (by if operand >= 0 else -by) if kind == "s" else operand for kind, operand in zip(kinds, operands)])


def agree(numbers, values, rows):
    expected = reference.holds(dict(enumerate(numbers)), (range(len(numbers)), values, rows))
    assert check(numbers, values, rows) is expected, (numbers, values, rows)
    assert check(numbers, values, rows, doubted=True) is expected, (numbers, values, rows)
    return expected


def number(random):
    return random.choice(WHOLES) if random.random() < 0.6 else random.choice(REALS) if random.random() < 0.5 else random.randrange(-50, 50)


class Maker:
    """Random rows over registers and values."""

    def __init__(self, random):
        self.random = random
        self.numbers = [number(random) for _ in range(3)]
        self.values = [*EXPONENTS, *[number(random) for _ in range(3)]]
        self.rows = [("WHOLE" if type(n) is int else "REAL", i, 0, 0) for i, n in enumerate(self.numbers)]
        self.slots = [*range(3), *range(-len(self.values), 0)]

    def operand(self):
        return self.random.choice(self.slots)

    def row(self):
        """A row of numbers, or two ways of which one is passed over."""
        if self.random.random() < 0.15:
            self.chosen()
            return
        name = self.random.choice([*reference.BINARY, *reference.UNARY])
        second = -self.random.randrange(1, len(EXPONENTS) + 1) if name in ("POW", "LSHIFT", "RSHIFT") else self.operand()
        first = self.operand() if name != "POW" else self.random.choice([0, 1, 2, *range(-len(self.values), 0)])
        self.add((name, first, second if name in reference.BINARY else 0, 0))

    def chosen(self):
        condition, known = self.operand(), list(self.slots)
        ways = []
        for skip in ("SKIP_UNLESS", "SKIP_IF"):
            at = len(self.rows)
            self.rows.append((skip, condition, 0, 0))
            self.row()
            ways.append(len(self.rows) - 1)
            self.rows[at] = (skip, condition, len(self.rows) - 1 - at, 0)
            self.slots = list(known)
        self.add(("CHOOSE", condition, *ways))

    def add(self, row):
        self.rows.append(row)
        self.slots.append(len(self.rows) - 1)

    def hold(self):
        name = self.random.choice(("LT", "LE", "EQ", "NE", "GT", "GE"))
        self.add((name, self.slots[-1], self.operand(), 0))
        self.rows.append(("HOLDS", len(self.rows) - 1, 0, 0))


@given(strategies.integers(0, 2**32))
def test_native_equals_reference(seed):
    random = Random(seed)
    for _ in range(100):
        maker = Maker(random)
        for _ in range(random.randrange(1, 6)):
            maker.row()
        maker.hold()
        agree(maker.numbers, maker.values, maker.rows)


@pytest.mark.parametrize("name", sorted(reference.BINARY))
def test_every_pair_of_odd_numbers(name):
    """What a row gives is compared with what Python gives, by every relation with itself."""
    compute = reference.BINARY[name]
    for a in (*WHOLES, *REALS):
        for b in EXPONENTS if name in ("POW", "LSHIFT") else (*WHOLES, *REALS):
            try:
                wanted = compute(a, b)
            except (ArithmeticError, ValueError, TypeError):
                wanted = 0
            if type(wanted) is complex:
                continue
            rows = [("WHOLE" if type(n) is int else "REAL", i, 0, 0) for i, n in enumerate((a, b))]
            wanted = int(wanted) if type(wanted) is bool else wanted
            rows += [(name, 0, 1, 0), ("EQ", 2, -1, 0), ("NE", 2, 2, 0), ("OR", 3, 4, 0), ("HOLDS", 5, 0, 0)]
            agree((a, b), (wanted,), rows)


@pytest.mark.parametrize("name", sorted(reference.UNARY))
def test_every_odd_number(name):
    for a in (*WHOLES, *REALS):
        try:
            wanted = reference.UNARY[name](a)
        except (ArithmeticError, ValueError, TypeError):
            wanted = 0
        wanted = int(wanted) if type(wanted) is bool else wanted
        rows = [("WHOLE" if type(a) is int else "REAL", 0, 0, 0), (name, 0, 0, 0), ("EQ", 1, -1, 0), ("HOLDS", 2, 0, 0)]
        agree((a,), (wanted,), rows)


@pytest.mark.parametrize(("a", "b"), [(-7, 2), (7, -2), (-7, -2), (-(2**63), -1), (-(2**63), 3), (2**63 - 1, -(2**63)), (-1, 2**62)])
def test_division_rounds_down(a, b):
    rows = [("WHOLE", 0, 0, 0), ("WHOLE", 1, 0, 0), ("FLOOR_DIV", 0, 1, 0), ("MOD", 0, 1, 0)]
    rows += [("EQ", 2, -1, 0), ("HOLDS", 4, 0, 0), ("EQ", 3, -2, 0), ("HOLDS", 6, 0, 0)]
    assert agree((a, b), (a // b, a % b), rows)
    assert not agree((a, b), (a // b + 1, a % b), rows)


def test_an_overflow_is_decided_with_pythons_numbers():
    rows = [("WHOLE", 0, 0, 0), ("MUL", 0, 0, 0), ("GT", 1, -1, 0), ("HOLDS", 2, 0, 0)]
    assert agree((2**40,), (2**79,), rows) and not agree((2**40,), (2**80,), rows)


def test_no_python_number_is_made_without_doubt():
    """Whether the program has anything left to do behind its quiet part is asked of the doubts alone."""
    rows = (("WHOLE", 0, 0, 0), ("ADD", 0, -1, 0), ("GT", 1, -1, 0), ("HOLDS", 2, 0, 0))
    program = GuardProgram([("LOCAL", 0, 0, 0, 0), ("ARITHMETIC", 0, 0, 0, 1), ("EXACTLY", 0, 0, 0, 2)], (((0,), (5,), rows),))
    assert program.check((1,)) == -1 and program.check((0,)) == 1  # by machine numbers: the first row says no
    assert program.check((2**63 - 6,)) == -1 and program.check((2**63,)) == -1 and program.check((-(2**64),)) == 2  # by Python's


def test_a_number_of_another_class_does_not_hold():
    for reader, good, others in (("WHOLE", 3, (3.0, True, "3", None)), ("REAL", 3.0, (3, "3", None))):
        rows = [(reader, 0, 0, 0), ("GE", 0, -1, 0), ("HOLDS", 1, 0, 0)]
        assert check((good,), (0,), rows)
        assert not any(check((other,), (0,), rows) or check((other,), (0,), rows, doubted=True) for other in others)


@pytest.mark.parametrize(
    ("constant", "error"),
    [
        (((0,), (), (("NOTHING", 0, 0, 0),)), ValueError),
        (((0,), (), (("ADD", 0, 0, 0),)), ValueError),
        (((0,), (), (("WHOLE", 1, 0, 0),)), ValueError),
        (((0,), (), (("WHOLE", 0, 0, 0), ("ADD", 0, 1, 0))), ValueError),
        (((0,), (), (("WHOLE", 0, 0, 0), ("NEG", -1, 0, 0))), ValueError),
        (((0,), (), (("WHOLE", 0, 0, 0), ("SKIP_IF", 0, 1, 0))), ValueError),
        (((0,), (), (("WHOLE", 0, 0, 0), ("SKIP_IF", 0, -1, 0))), ValueError),
        (((0,), ("a",), ()), ValueError),
        (((0,), (True,), ()), ValueError),
        (((1,), (), ()), ValueError),
        (((-1,), (), ()), ValueError),
        (((0,), (), ((),)), (TypeError, ValueError)),
        (((0,), (), (1,)), ValueError),
        ((0,), (TypeError, ValueError)),
        (1, (TypeError, ValueError)),
    ],
)
def test_what_makes_no_sense_is_refused(constant, error):
    with pytest.raises(error):
        GuardProgram([("LOCAL", 0, 0, 0, 0), ("ARITHMETIC", 0, 0, 0, 0)], (constant,))


def test_what_was_passed_over_is_not_read():
    rows = (("WHOLE", 0, 0, 0), ("SKIP_IF", 0, 1, 0), ("NEG", 0, 0, 0), ("ADD", 2, 0, 0))
    assert not check((1,), (), rows, doubted=True)


def test_exactly_stands_behind_its_arithmetic():
    with pytest.raises(ValueError, match="EXACTLY"):
        GuardProgram([("LOCAL", 0, 0, 0, 0), ("EXACTLY", 0, 0, 0, 0)], (((0,), (), ()),))


def test_beside_rows_that_run_python():
    """Then the rest of the program runs in any case, and only doubts are decided there."""
    seen = []
    rows = (("WHOLE", 0, 0, 0), ("ADD", 0, 0, 0), ("GT", 1, -1, 0), ("HOLDS", 2, 0, 0))
    instructions = [
        ("LOCAL", 0, 0, 0, 0), ("ARITHMETIC", 0, 0, 0, 1), ("EXACTLY", 0, 0, 0, 2), ("PY_STEP", 0, 1, 1, 3), ("ARITHMETIC", 0, 0, 2, 4),
        ("EXACTLY", 0, 0, 2, 5),
    ]  # fmt: skip
    constants = ((0,), (5,), rows), lambda n: seen.append(n) or -n, ((1,), (-(2**65),), rows)
    program = GuardProgram(instructions, constants)
    assert program.check((3,)) == -1 and program.check((2,)) == 1 and program.check((2**70,)) == 5 and program.check((-(2**70),)) == 2
    assert seen == [3, 2**70]
