"""Statements without a body."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .expressions import array, number
from .scope import Scope, simple


@simple
def assign_number(draw: Any, scope: Scope) -> list[str]:
    value = draw(number(scope))
    name = scope.name("n")
    scope.numbers.append(name)
    return [f"{name} = {value}"]


@simple
def assign_array(draw: Any, scope: Scope) -> list[str]:
    value = draw(array(scope))
    name = scope.name("v")
    scope.arrays.append(name)
    return [f"{name} = {value}"]


@simple
def append(draw: Any, scope: Scope) -> list[str]:
    target = draw(st.sampled_from([*scope.lists, "box.items", "other.items"]))
    value = draw(st.one_of(number(scope, deep=False), st.sampled_from(scope.arrays)))
    form = draw(st.sampled_from(["{t}.append({v})", "{t} += [{v}]", "{t}.insert(0, {v})", "{t}.extend((1, {v}))", "{t}.pop()"]))
    return [form.format(t=target, v=value)]


@simple
def store(draw: Any, scope: Scope) -> list[str]:
    return [f"{draw(st.sampled_from(scope.lists))}[{draw(st.sampled_from([0, -1]))}] = {draw(number(scope))}"]


@simple
def attribute(draw: Any, scope: Scope) -> list[str]:
    owner = draw(st.sampled_from(["box", "other"]))
    form = draw(st.sampled_from([".n = {v}", ".n += {v}", ".extra = {v}", ".twice = {v}", ".seen = ({v}, box)"]))
    return [owner + form.format(v=draw(number(scope)))]


@simple
def table(draw: Any, scope: Scope) -> list[str]:
    key = draw(st.sampled_from(["'x'", "'y'", "1", "True", "1.0"]))
    form = draw(
        st.sampled_from(
            ["table[{k}] = {v}", "table.pop({k}, None)", "table.setdefault({k}, {v})", "table.update({{{k}: {v}}})"]
        )
    )
    return [form.format(k=key, v=draw(number(scope)))]


@simple
def inplace(draw: Any, scope: Scope) -> list[str]:
    target = draw(st.sampled_from(scope.arrays))
    value = draw(st.one_of(number(scope, deep=False), st.sampled_from(scope.arrays)))
    form = draw(st.sampled_from(["{t}.add_({v})", "{t} *= {v}", "{t}[0] = {v}", "{t} += {v}"]))
    return [form.format(t=target, v=value)]


@simple
def stop(draw: Any, scope: Scope) -> list[str]:
    form = draw(st.sampled_from(["breaker()", "xs.append(breaker(len(xs)) or 0)", "box.n = box.n + breaking(box, {v})"]))
    return [form.format(v=draw(number(scope, deep=False)))]


@simple
def delete(draw: Any, scope: Scope) -> list[str]:
    return [draw(st.sampled_from(["del table['x']", "del xs[0]", "del box.n; box.n = 4", "del box.extra"]))]


@simple
def unpack(draw: Any, scope: Scope) -> list[str]:
    first, rest = scope.name("n"), scope.name("l")
    value = draw(number(scope))
    scope.numbers.append(first)
    scope.lists.append(rest)
    return [f"{first}, *{rest} = ({value}, 2, *xs)", f"{rest}.append(0)"]
