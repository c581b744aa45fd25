"""From torch's symbolic expressions to ours, which guards are made of: one row for each class that torch's `ShapeEnv` makes.

What a class means for numbers is what Python computes of its text in a guard of torch's.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import sympy
import torch
from torch.utils._sympy import functions
from torch.utils._sympy.numbers import IntInfinity, NegativeIntInfinity
from torch.utils._sympy.printers import PythonPrinter

from frameloom.interpreter.expressions import chosen, every, plain, some


class Translator:
    """Writes expressions whose symbols `leaf` tells; equal parts are written once."""

    def __init__(self, leaf: Callable[[sympy.Symbol], Any]) -> None:
        self.leaf = leaf
        self._known: dict[Any, Any] = {}

    def __call__(self, expression: Any) -> Any:
        """The same as an expression of `interpreter.expressions`."""
        known = self._known.get(expression)
        if known is None:
            cls = type(expression)
            row = next((ROWS[base] for base in cls.__mro__ if base in ROWS), printed)
            known = self._known[expression] = row(self, expression)
        return known


def _operator(function: Callable) -> Callable[[Translator, Any], Any]:
    """Of two operands, or of more from left to right."""

    def write(translate: Translator, expression: Any) -> Any:
        operands = [translate(operand) for operand in expression.args]
        return functools.reduce(lambda a, b: (function, a, b), operands)

    return write


def _call(function: Callable) -> Callable[[Translator, Any], Any]:
    return lambda translate, expression: (function, *[translate(operand) for operand in expression.args])


_added, _multiplied = _operator(operator.add), _operator(operator.mul)


def _sum(translate: Translator, expression: Any) -> Any:
    """Of whole numbers as people write it: symbols first, then what is taken away, numbers last.  Floats are rounded in torch's order."""
    if not expression.is_integer:
        return _added(translate, expression)
    first, *rest = sorted(expression.args, key=lambda term: (term.is_number, term.could_extract_minus_sign()))
    total = translate(first)
    for term in rest:
        taken = term.could_extract_minus_sign()
        total = (operator.sub, total, translate(-term)) if taken else (operator.add, total, translate(term))
    return total


def _product(translate: Translator, expression: Any) -> Any:
    coefficient, others = expression.as_coeff_Mul()
    return (operator.neg, translate(others)) if coefficient == -1 else _multiplied(translate, expression)


def _power(translate: Translator, expression: Any) -> Any:
    base, exponent = expression.args
    if exponent.is_Integer and exponent < 0:
        return (operator.truediv, plain(1), translate(base**-exponent))
    return (operator.pow, translate(base), translate(exponent))


def _modular_indexing(translate: Translator, expression: Any) -> Any:
    number, divisor, modulus = [translate(operand) for operand in expression.args]
    return (operator.mod, (operator.floordiv, number, divisor), modulus)


def _piecewise(translate: Translator, expression: Any) -> Any:
    *cases, (last, condition) = expression.args
    if condition != sympy.true:
        return printed(translate, expression)
    return functools.reduce(lambda other, case: (chosen, translate(case[1]), translate(case[0]), other), reversed(cases), translate(last))


class Printed:
    """A function of numbers as torch prints it: what has no row."""

    def __init__(self, expression: Any) -> None:
        self.symbols = sorted(expression.free_symbols, key=str)
        self.__name__ = type(expression).__name__
        self.text = f"lambda {', '.join(map(str, self.symbols))}: {PythonPrinter().doprint(expression)}"
        self.function = eval(self.text, {"math": math, "torch": torch})  # noqa: S307  text that torch made, of an expression

    def __call__(self, *numbers: Any) -> Any:
        return self.function(*numbers)


def printed(translate: Translator, expression: Any) -> Any:
    """An expression as one function of its symbols."""
    function = Printed(expression)
    return (function, *map(translate.leaf, function.symbols))


ROWS: dict[type, Callable[[Translator, Any], Any]] = {
    sympy.Symbol: lambda translate, symbol: translate.leaf(symbol),
    sympy.Integer: lambda translate, number: plain(int(number)),
    sympy.Float: lambda translate, number: plain(float(number)),
    sympy.Rational: lambda translate, number: (operator.truediv, plain(int(number.p)), plain(int(number.q))),
    **dict.fromkeys((IntInfinity, type(sympy.oo)), lambda translate, number: plain(math.inf)),
    **dict.fromkeys((NegativeIntInfinity, type(-sympy.oo)), lambda translate, number: plain(-math.inf)),
    type(sympy.true): lambda translate, _: plain(True),
    type(sympy.false): lambda translate, _: plain(False),
    sympy.Add: _sum,
    sympy.Mul: _product,
    sympy.Pow: _power,
    sympy.Mod: _operator(operator.mod),
    functions.Mod: _operator(operator.mod),
    functions.PythonMod: _operator(operator.mod),
    functions.FloorDiv: _operator(operator.floordiv),
    functions.ModularIndexing: _modular_indexing,
    functions.IntTrueDiv: _operator(operator.truediv),
    functions.FloatTrueDiv: _operator(operator.truediv),
    functions.PowByNatural: _operator(operator.pow),
    functions.FloatPow: _operator(operator.pow),
    functions.LShift: _operator(operator.lshift),
    functions.RShift: _operator(operator.rshift),
    functions.BitwiseFn_bitwise_and: _operator(operator.and_),
    functions.BitwiseFn_bitwise_or: _operator(operator.or_),
    functions.BitwiseFn_bitwise_xor: _operator(operator.xor),
    functions.Max: _call(max),
    functions.Min: _call(min),
    sympy.Max: _call(max),
    sympy.Min: _call(min),
    sympy.Abs: _call(abs),
    sympy.floor: _call(math.floor),
    sympy.ceiling: _call(math.ceil),
    functions.FloorToInt: _call(math.floor),
    functions.CeilToInt: _call(math.ceil),
    functions.TruncToInt: _call(math.trunc),
    functions.TruncToFloat: lambda translate, expression: (float, (math.trunc, translate(expression.args[0]))),
    functions.RoundToInt: _call(round),
    functions.RoundDecimal: _call(round),
    functions.ToFloat: _call(float),
    functions.OpaqueUnaryFn_sqrt: _call(math.sqrt),
    functions.Identity: lambda translate, expression: translate(expression.args[0]),
    functions.Where: _call(chosen),
    sympy.Piecewise: _piecewise,
    sympy.Eq: _operator(operator.eq),
    sympy.Ne: _operator(operator.ne),
    sympy.StrictLessThan: _operator(operator.lt),
    sympy.LessThan: _operator(operator.le),
    sympy.StrictGreaterThan: _operator(operator.gt),
    sympy.GreaterThan: _operator(operator.ge),
    sympy.And: _call(every),
    sympy.Or: _call(some),
    sympy.Not: _call(operator.not_),
}
"""class -> row(translate, expression)"""
