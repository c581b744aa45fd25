"""The module math on numbers that are known; what takes objects asks them for their number first."""

from __future__ import annotations

import cmath
import math
import types
from typing import Any, Callable, NamedTuple

from frameloom.interpreter.expressions import computes
from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import _call_slot, binary, compare, host, is_graph, unary
from frameloom.interpreter.promoted import within
from frameloom.interpreter.registry import RULES
from frameloom.rules.define import function
from frameloom.rules.indexing import index_of
from frameloom.rules.known import plain
from frameloom.rules.number_ import make_float
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Node, Value

OF_INTS = frozenset({math.gcd, math.lcm, math.factorial, math.comb, math.perm, math.isqrt})
OWN = frozenset({math.fsum, math.prod, math.dist, math.floor, math.ceil, math.trunc}) | ({math.sumprod} if hasattr(math, "sumprod") else set())


def _number(m: Machine, target: Callable, value: Value) -> Any:
    """The number that a function of the module finds in an argument."""
    found = plain(m, value)
    if found is not MISSING:
        return found
    if type(value) is Node:
        what = f"{target.__module__}.{target.__name__} of a {value.cls.__name__}"
        return m.need_constant(value, "FL202" if is_graph(value) else "FL207", what)
    if target in OF_INTS:
        return index_of(m, value)
    if target.__module__ == "cmath":
        raise GraphBreak("FL101", f"cmath.{target.__name__} of a {value.cls.__name__}")
    if all(m.observe.type_lookup(value.cls, name) is ABSENT for name in ("__float__", "__index__")):
        return type(type_name(value.cls), (), {})()  # CPython's message names the class
    return m.need_constant(make_float(m, value), "FL207", "number known at run time only")


def _rule(target: Callable) -> Callable:
    def rule(m: Machine, *args: Value, **kwargs: Value) -> Value:
        made = _of_domain(m, target, args) if any(type(arg) is Node for arg in args) and not kwargs else None
        if made is not None:
            return made
        numbers = [_number(m, target, arg) for arg in args]
        named = {name: _number(m, target, value) for name, value in kwargs.items()}
        return m.fold(target, *numbers, **named)

    return rule


def _of_domain(m: Machine, target: Callable, args: tuple[Value, ...]) -> Value | None:
    """A function of a number known at run time only: the domain's, or recorded to run with the host's numbers."""
    if any(is_graph(arg) for arg in args):
        found = m.domain.operator(m.session, f"math.{target.__name__}", list(args))
        return None if found is NOT_HANDLED else found
    if any(arg.cls not in (int, float) for arg in args):
        return None
    if target in PREDICATES and len(args) == 1 and args[0].cls is float:
        return PREDICATES[target](m, args[0])
    if target in WHOLE and all(arg.cls is int for arg in args):
        return m.session.record(target, tuple(args), {}, int, None, tape="host")
    if target in FLOATS and all(arg.cls is float or within(m, arg) for arg in args):
        return m.session.record(target, tuple(args), {}, float, None, tape="host")
    domain = DOMAINS.get(target)
    if domain is None or len(args) != 1 or target in OF_INTS and args[0].cls is not int or not within(m, args[0], domain.most, domain.least):
        return None
    return args[0] if args[0].cls is int and target in ROUNDING else host(m, target, list(args))


class Within(NamedTuple):
    """The numbers for which a function is sure not to raise, and the class of what it gives."""

    least: float
    most: float
    gives: type = float


PREDICATES: dict[Callable, Callable[[Machine, Value], Value]] = {
    math.isnan: lambda m, number: compare(m, "!=", number, number),
    math.isinf: lambda m, number: compare(m, "==", unary(m, "abs", number), Const(math.inf)),
    math.isfinite: lambda m, number: compare(m, "<", unary(m, "abs", number), Const(math.inf)),
}
"""Questions about a float, as comparisons that say the same."""

ROUNDING = frozenset({math.floor, math.ceil, math.trunc})
"""Functions that give a whole number itself."""

DOMAINS: dict[Callable, Within] = {
    math.sqrt: Within(0, 1e300), **dict.fromkeys((math.log, math.log2, math.log10), Within(1e-300, 1e300)),
    math.exp: Within(-700, 700), **dict.fromkeys((math.sin, math.cos), Within(-1e15, 1e15)),
    **dict.fromkeys(ROUNDING, Within(-1e300, 1e300, int)), math.isqrt: Within(0, 1e300, int),
}
computes({target: f"math.{target.__name__}" for target in DOMAINS})

FLOATS = frozenset({math.tanh, math.atan, math.atan2, math.fabs, math.copysign, math.radians, math.erf, math.erfc})
"""Functions that give a float for every float and never raise."""
computes({target: f"math.{target.__name__}" for target in FLOATS})

WHOLE = frozenset({math.gcd, math.lcm})
"""Functions that give a whole number for whole numbers, and never raise."""
computes({target: f"math.{target.__name__}" for target in WHOLE})

for _module in (math, cmath):
    for _target in vars(_module).values():
        if type(_target) is types.BuiltinFunctionType and _target not in OWN:
            RULES[_target] = _rule(_target)


def _rounding(target: Callable, slot_name: str, fallback: bool) -> None:
    @function(target)
    def round_(m: Machine, number: Value, /) -> Value:
        if type(number) is Const:
            return m.fold(target, number.value)
        if type(number) is Node:
            made = _of_domain(m, target, (number,))
            return m.fold(target, _number(m, target, number)) if made is None else made
        slot = m.observe.type_lookup(number.cls, slot_name)
        if slot is not ABSENT:
            return _call_slot(m, slot, number, [])
        if not fallback:
            raise m.error(TypeError, f"type {type_name(number.cls)} doesn't define {slot_name} method")
        return m.fold(target, _number(m, target, number))


_rounding(math.floor, "__floor__", True)
_rounding(math.ceil, "__ceil__", True)
_rounding(math.trunc, "__trunc__", False)


@function(math.prod)
def product(m: Machine, iterable: Value, /, *, start: Value = Const(1)) -> Value:
    numbers = [start, *unpack(m, iterable)]
    if all(type(number) is Const for number in numbers):
        return m.fold(math.prod, [number.value for number in numbers[1:]], start=start.value)
    total = start
    for number in numbers[1:]:
        total = binary(m, "*", total, number)
    return total


@function(math.fsum)
def precise_sum(m: Machine, iterable: Value, /) -> Value:
    return m.fold(math.fsum, [_number(m, math.fsum, value) for value in unpack(m, iterable)])


def _of_points(target: Callable) -> None:
    @function(target)
    def apply(m: Machine, p: Value, q: Value, /) -> Value:
        points = [tuple(_number(m, target, value) for value in unpack(m, point)) for point in (p, q)]
        return m.fold(target, *points)


_of_points(math.dist)
