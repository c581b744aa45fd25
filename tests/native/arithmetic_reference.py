"""What the rows of arithmetic mean, said in plain Python."""

import math
import operator

BINARY = {
    "ADD": operator.add, "SUB": operator.sub, "MUL": operator.mul, "TRUE_DIV": operator.truediv, "FLOOR_DIV": operator.floordiv,
    "MOD": operator.mod, "POW": operator.pow, "LSHIFT": operator.lshift, "RSHIFT": operator.rshift, "AND": operator.and_,
    "OR": operator.or_, "XOR": operator.xor, "LT": operator.lt, "LE": operator.le, "EQ": operator.eq, "NE": operator.ne,
    "GT": operator.gt, "GE": operator.ge, "MIN": min, "MAX": max,
}  # fmt: skip
UNARY = {
    "NEG": operator.neg, "POS": operator.pos, "ABS": abs, "INVERT": lambda a: ~int(a) if type(a) is bool else ~a, "NOT": operator.not_,
    "TRUNC": int, "FLOOR": math.floor, "CEIL": math.ceil, "ROUND": round, "FLOAT": float, "SQRT": math.sqrt,
}  # fmt: skip
READERS = {
    "WHOLE": lambda thing, _: (type(thing) is int, thing),
    "REAL": lambda thing, _: (type(thing) is float, thing),
    "SIZE": lambda thing, dimension: (dimension < thing.dim(), thing.shape[dimension] if dimension < thing.dim() else None),
    "STRIDE": lambda thing, dimension: (dimension < thing.dim(), thing.stride(dimension) if dimension < thing.dim() else None),
}
CONTROL = {"SKIP_IF", "SKIP_UNLESS", "CHOOSE", "HOLDS"}


def holds(registers, constant):
    """Whether everything that is held is true; what raises does not hold."""
    try:
        return run(registers, *constant)
    except (ArithmeticError, ValueError, TypeError):
        return False


def run(registers, numbers, values, rows):
    made = {-1 - i: value for i, value in enumerate(values)}
    passed = 0
    for i, (name, a, b, c) in enumerate(rows):
        if passed:
            passed -= 1
        elif name in READERS:
            fits, made[i] = READERS[name](registers[numbers[a]], b)
            if not fits:
                return False
        elif name in BINARY:
            made[i] = BINARY[name](made[a], made[b])
        elif name in UNARY:
            made[i] = UNARY[name](made[a])
        elif name == "CHOOSE":
            made[i] = made[b] if made[a] else made[c]
        elif name == "HOLDS":
            if not made[a]:
                return False
        else:
            passed = b if bool(made[a]) is (name == "SKIP_IF") else 0
    return True
