"""Expressions: numbers, conditions, arrays."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .scope import Scope


SUMS = ("({} + {})", "({} - {})", "({} * {} % 1009)")
"""Of two numbers; the product is kept small, since a loop may square it again and again."""


@st.composite
def number(draw: Any, scope: Scope, deep: bool = True) -> str:
    options = ["name", "constant"]
    if deep:
        options += ["sum", "len", "item", "get", "conditional", "call", "size", "string", "walrus", "star"]
    kind = draw(st.sampled_from(options))
    simple = number(scope, deep=False)
    if kind == "name":
        return draw(st.sampled_from(scope.numbers))
    if kind == "constant":
        return str(draw(st.sampled_from([0, 1, 2, 3, -1, 7, True, 2.5])))
    if kind == "sum":
        return draw(st.sampled_from(SUMS)).format(draw(simple), draw(simple))
    if kind == "len":
        return f"len({draw(st.sampled_from(scope.lists))})"
    if kind == "item":
        return f"{draw(st.sampled_from(scope.lists))}[{draw(st.sampled_from([0, -1, 1]))}]"
    if kind == "get":
        return f"table.get({draw(st.sampled_from(['1', repr('x'), repr('y'), 'True']))}, {draw(simple)})"
    if kind == "conditional":
        return f"({draw(simple)} if {draw(condition(scope))} else {draw(simple)})"
    if kind == "call":
        return f"(lambda p, q={draw(simple)}: p + q)({draw(simple)})"
    if kind == "size":
        return f"{draw(st.sampled_from(scope.arrays))}.size"
    if kind == "string":
        return f"len(f'{{{draw(simple)}!r:>5}}')"
    if kind == "walrus":
        return f"(w := {draw(simple)})"
    return f"sum([*{draw(st.sampled_from(scope.lists))}, {draw(simple)}])"


@st.composite
def condition(draw: Any, scope: Scope) -> str:
    simple = number(scope, deep=False)
    kind = draw(st.sampled_from(["compare", "truth", "is", "in", "chain", "not"]))
    if kind == "compare":
        return f"{draw(simple)} {draw(st.sampled_from(['<', '>=', '==', '!=']))} {draw(simple)}"
    if kind == "truth":
        return draw(st.sampled_from([*scope.lists, "table", *scope.numbers]))
    if kind == "is":
        return draw(st.sampled_from(["box is other", "a is b", "xs is other.items", "flag is None"]))
    if kind == "in":
        return f"{draw(simple)} in {draw(st.sampled_from([*scope.lists, 'table']))}"
    if kind == "chain":
        return f"0 <= {draw(simple)} < {draw(simple)} or {draw(simple)} > 2"
    return f"not {draw(simple)}"


@st.composite
def array(draw: Any, scope: Scope) -> str:
    kind = draw(st.sampled_from(["name", "sum", "scaled", "slice", "negative", "total", "as_is", "method", "noise"]))
    name = draw(st.sampled_from(scope.arrays))
    if kind == "name":
        return name
    if kind == "sum":
        return f"({name} {draw(st.sampled_from(['+', '*', '-']))} {draw(st.sampled_from(scope.arrays))})"
    if kind == "scaled":
        return f"({name} * {draw(number(scope, deep=False))})"
    if kind == "slice":
        return f"{name}[{draw(st.sampled_from(['0:1', '1:', ':2', '0', '-1']))}]"
    if kind == "negative":
        return f"(-{name})"
    if kind == "noise":
        return f"{name}.noise()"
    if kind == "method":
        return f"box.apply({name}, {draw(number(scope, deep=False))})"
    return f"{name}.{kind}()"
