"""Sizes as numbers of the host: what torch's symbolic numbers do not do as Python does (`/`, `**`, functions of `math`), Python does."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._sympy.functions import FloorDiv, Mod, PythonMod

from frameloom.interpreter import operators
from frameloom.interpreter.registry import RULES
from frameloom.pytorch.facts import SizeFact
from frameloom.pytorch.state import State
from frameloom.rules.number_ import make_complex, make_float
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.source import STEPS, Missing, Step
from frameloom.symbolic.values import Const, Node, Value


def size_of(tensor: Any, dimension: int) -> int:
    """One size of a tensor; raises Missing for what has none."""
    if not isinstance(tensor, torch.Tensor) or dimension >= tensor.dim():
        raise Missing(dimension)
    return tensor.shape[dimension]


STEPS["size"] = Step(
    size_of, lambda out, dimension: out.call_constant_under(size_of, dimension), lambda base, dimension: f"{base}.shape[{dimension}]"
)


def on_host(state: State, name: str, operands: list[Value]) -> Any:
    """An operator by Python's own rules for numbers that are read at entry; NOT_HANDLED where a size follows from more than that."""
    hosted = [as_host(state, value) for value in operands]
    if None in hosted:
        return NOT_HANDLED
    machine = state.session.machine
    if name in operators.COMPARE:
        return operators.compare(machine, name, *hosted)
    if name.startswith("unary "):
        return operators.unary(machine, name.removeprefix("unary "), *hosted)
    if name.removesuffix("=") in operators.BINARY:
        return operators.binary(machine, name, *hosted)
    rule = CONVERSIONS.get(name) or RULES.get(getattr(math, name.removeprefix("math."), None))
    found = NotImplemented if rule is None else rule(machine, *hosted)
    return NOT_HANDLED if found is NotImplemented else found


CONVERSIONS: dict[str, Callable] = {"float": make_float, "complex": make_complex}


def as_host(state: State, value: Value) -> Value | None:
    """The number of the host that a value is, None for one that is none."""
    if type(value) is Node and type(value.fact) is SizeFact:
        return _computed(state, value.fact.size.expression)
    return value if type(value) is Const or operators.is_host(value) else None


def _computed(state: State, expression: Any) -> Value | None:
    if expression.is_Integer:
        return Const(int(expression))
    if expression.is_Symbol:
        return _read(state, expression)
    symbol = next((symbol for cls, symbol in OPERATORS.items() if isinstance(expression, cls)), None)
    if symbol is None:
        symbol = "+" if expression.is_Add else "*" if expression.is_Mul else None
    operands = [_computed(state, operand) for operand in expression.args]
    if symbol is None or None in operands:
        return None
    return functools.reduce(functools.partial(operators.binary, state.session.machine, symbol), operands)


OPERATORS: dict[type, str] = {FloorDiv: "//", Mod: "%", PythonMod: "%"}


def _read(state: State, symbol: Any) -> Value | None:
    """A symbol as the number that is read where the symbol comes from."""
    origin = state.shapes.origins.get(symbol)
    if origin is None:
        return None
    node = state.session.observe.promote(origin.value, origin.source)
    state.numbers.setdefault(node, SizeFact(origin.size))
    return node
