"""Built-in functions that end with a call of a method of the program's: the calling instruction waits for it, so that a break in the
method suspends the caller with it.

The rules are those of `RULES`, for calls with one argument (`getattr`: two).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.formatting import convert, format_
from frameloom.interpreter.frame import Link
from frameloom.interpreter.iteration import iterate
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import BINARY, COMPARE, binary, compare, get_item, length, truth, unary
from frameloom.interpreter.registry import ITERATORS, RULES, WAITING
from frameloom.rules.builtins_ import attribute_name
from frameloom.rules.iterator_ import next_of_class
from frameloom.symbolic.values import Const, Value


def _waits(target: Any, count: int) -> Callable:
    """Decorator: the function is the rule of `target` for calls with `count` arguments."""
    if target not in RULES:
        raise ValueError(f"{target} has no rule")

    def add(rule: Callable) -> Callable:
        WAITING[target] = lambda m, link, *args: rule(m, link, *args) if len(args) == count else NotImplemented
        return rule

    return add


@_waits(bool, 1)
def _bool(m: Machine, link: Link, value: Value) -> Value:
    return truth(m, value, link.of("truth"))


@_waits(len, 1)
def _len(m: Machine, link: Link, value: Value) -> Value:
    return length(m, value, link.of("count"))


@_waits(abs, 1)
def _abs(m: Machine, link: Link, value: Value) -> Value:
    return unary(m, "abs", value, link)


@_waits(iter, 1)
def _iter(m: Machine, link: Link, value: Value) -> Value:
    return iterate(m, value, link.of("iterator"))


@_waits(next, 1)
def _next(m: Machine, link: Link, iterator: Value) -> Any:
    return NotImplemented if iterator.cls in ITERATORS else next_of_class(m, iterator, None, link)


@_waits(getattr, 2)
def _getattr(m: Machine, link: Link, obj: Value, name: Value) -> Value:
    return get_attribute(m, obj, attribute_name(m, name), link)


@_waits(str, 1)
def _str(m: Machine, link: Link, value: Value) -> Value:
    return convert(m, "str", value, link)


@_waits(repr, 1)
def _repr(m: Machine, link: Link, value: Value) -> Value:
    return convert(m, "repr", value, link)


@_waits(format, 1)
def _format(m: Machine, link: Link, value: Value) -> Value:
    return format_(m, value, Const(""), link)


@_waits(operator.getitem, 2)
def _getitem(m: Machine, link: Link, container: Value, key: Value) -> Value:
    return get_item(m, container, key, link)


def _operator(symbol: str, function: Callable, apply: Callable) -> None:
    @_waits(function, 2)
    def applied(m: Machine, link: Link, a: Value, b: Value) -> Value:
        return apply(m, symbol, a, b, link.of("operand"))


for _symbol, (_function, *_) in BINARY.items():
    _operator(_symbol, _function, binary)
for _symbol, (_function, *_) in COMPARE.items():
    _operator(_symbol, _function, compare)
