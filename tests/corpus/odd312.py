"""Odd functions that need the syntax of CPython 3.12."""
from __future__ import annotations

from tests.corpus import call, case


@case(call(2))
def type_parameters(n):
    def first[T](xs: list[T]) -> T:
        return xs[0]

    class Box[T]:
        def __init__(self, value: T):
            self.value = value

    type Alias = list[n]
    return first([n]), Box(n).value, [p.__name__ for p in Box.__type_params__], Alias.__name__


@case(call("a"))
def nested_formats(x):
    return f"{f"{x!r}"} {f'{"".join([f"{c}" for c in x])}'}"


@case(call([1, 2]), call([0]))
def comprehension_in_handlers(xs):
    out = []
    try:
        out = [[1 // x for x in xs] for _ in xs]
    except ZeroDivisionError as e:
        out = [(x, type(e)) for x in xs]
    return out
