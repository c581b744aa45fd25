"""Built-in functions that take an iterable in: len, sum, min, max, any, all."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.iteration import iterate, next_item
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import binary, compare, length, truth
from frameloom.rules.define import function
from frameloom.rules.words import words
from frameloom.symbolic.real import type_name
from frameloom.symbolic.values import FALSE, NONE, TRUE, Const, Value


@function(len)
def len_(m: Machine, value: Value, /) -> Value:
    return length(m, value)


@function(any)
def any_(m: Machine, iterable: Value, /) -> Value:
    iterator = iterate(m, iterable)
    while (item := next_item(m, iterator)) is not None:
        if truth(m, item).value:
            return TRUE
    return FALSE


@function(all)
def all_(m: Machine, iterable: Value, /) -> Value:
    iterator = iterate(m, iterable)
    while (item := next_item(m, iterator)) is not None:
        if not truth(m, item).value:
            return FALSE
    return TRUE


@function(sum)
def sum_(m: Machine, iterable: Value, /, start: Value = Const(0)) -> Value:
    iterator = iterate(m, iterable)
    if issubclass(start.cls, (str, bytes, bytearray)):
        kind, way = ("strings", "''.join(seq)") if issubclass(start.cls, str) else (type_name(start.cls), "b''.join(seq)")
        raise m.error(TypeError, f"sum() can't sum {kind} [use {way} instead]")
    plain = is_number(start)
    total, numbers = start, [start] if plain else []
    while (item := next_item(m, iterator)) is not None:
        plain = plain and is_number(item)
        if plain:
            numbers.append(item)
            continue
        if numbers:
            total, numbers = _sum_of(m, numbers), []
        total = binary(m, "+", total, item)
    return _sum_of(m, numbers) if numbers else total


def is_number(value: Value) -> bool:
    """Whether the host adds a value up as a plain number (with compensation of floats since 3.12)."""
    return type(value) is Const and value.cls in (int, bool, float, complex)


def _sum_of(m: Machine, numbers: list[Value]) -> Value:
    """The sum of constants, as the running CPython adds them."""
    first, *rest = (number.value for number in numbers)
    return m.fold(sum, rest, first)


def _extreme(target: Any, symbol: str) -> None:
    name = target.__name__

    @function(target)
    def extreme(m: Machine, first: Value, /, *more: Value, key: Value = NONE, default: Value | None = None) -> Value:
        if more and default is not None:
            raise m.error(TypeError, f"Cannot specify a default for {name}() with multiple positional arguments")
        iterator = iterate(m, m.tuple([first, *more]) if more else first)
        best = best_key = None
        while (item := next_item(m, iterator)) is not None:
            made = item if key is NONE or type(key) is Const and key.value is None else m.invoke(key, [item], {})
            if best is None or truth(m, compare(m, symbol, made, best_key)).value:
                best, best_key = item, made
        if best is not None:
            return best
        if default is not None:
            return default
        raise m.error(ValueError, EMPTY[target])


EMPTY = {target: words(target, ()) for target in (min, max)}
_extreme(min, "<")
_extreme(max, ">")
