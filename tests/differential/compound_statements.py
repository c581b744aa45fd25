"""Statements that hold others, and definitions."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .expressions import condition, number
from .scope import Scope, block, indent, nested


@nested
def branch(draw: Any, scope: Scope) -> list[str]:
    lines = [f"if {draw(condition(scope))}:", *indent(draw(block(scope.inner())))]
    if draw(st.booleans()):
        lines += ["else:", *indent(draw(block(scope.inner())))]
    return lines


@nested
def loop(draw: Any, scope: Scope) -> list[str]:
    body = scope.inner()
    name = body.name("i")
    body.numbers.append(name)
    body.in_loop = True
    over = draw(st.sampled_from(["range(3)", "(1, 2)", "[*xs][:3]", "sorted({3, 1, 2})", "gen(2)"]))
    lines = [f"for {name} in {over}:", *indent(draw(block(body)))]
    if draw(st.booleans()):
        lines += indent([f"if {draw(condition(body))}:", f"    {draw(st.sampled_from(['break', 'continue']))}"])
    if draw(st.booleans()):
        lines += ["else:", *indent(draw(block(scope.inner())))]
    return lines


@nested
def count_up(draw: Any, scope: Scope) -> list[str]:
    name = scope.name("c")
    body = scope.inner()
    return [f"{name} = 0", f"while {name} < 3:", f"    {name} += 1", *indent(draw(block(body)))]


@nested
def attempt(draw: Any, scope: Scope) -> list[str]:
    failing = draw(st.sampled_from(["[][0]", "a + xs", "table['none']", "raise Problem(box.n)", "a[9]", "undefined", "1"]))
    lines = ["try:", *indent(draw(block(scope.inner()))), f"    {failing}"]
    caught = draw(st.sampled_from(["LookupError", "Exception", "(TypeError, NameError)", "Problem"]))
    lines += [f"except {caught} as error:", "    log(type(error).__name__)", *indent(draw(block(scope.inner(), 2)))]
    if draw(st.booleans()):
        lines += ["    raise"] if draw(st.integers(0, 3)) == 0 else []
    if draw(st.booleans()):
        lines += ["else:", *indent(draw(block(scope.inner(), 1)))]
    if draw(st.booleans()):
        lines += ["finally:", "    log('finally')", *indent(draw(block(scope.inner(), 1)))]
    return lines


@nested
def manage(draw: Any, scope: Scope) -> list[str]:
    manager = draw(st.sampled_from(["Manager(log, 'm', False)", "Manager(log, 's', True)", "managed(log)"]))
    lines = [f"with {manager} as got:", *indent(draw(block(scope.inner())))]
    if draw(st.integers(0, 2)) == 0:
        lines.append("    raise Problem('inside')")
    return lines


@nested
def closure(draw: Any, scope: Scope) -> list[str]:
    cell, function = scope.name("n"), scope.name("f")
    start = draw(number(scope, deep=False))
    inner = Scope(scope.depth + 2)
    inner.numbers = ["p", "box.n"]
    inner.arrays = ["a"]
    inner.fresh = scope.fresh + 50
    body = draw(block(inner, 2))
    scope.numbers += [cell, f"{function}({draw(number(scope, deep=False))})"]
    lines = [f"{cell} = {start}", f"def {function}(p):", f"    nonlocal {cell}", f"    {cell} = {cell} + p", *indent(body)]
    lines += [f"    return {cell}", f"box.seen = {function}" if draw(st.booleans()) else f"{function}(1)"]
    return lines


@nested
def generator(draw: Any, scope: Scope) -> list[str]:
    name = scope.name("g")
    inner = Scope(scope.depth + 2)
    inner.numbers = ["j", "box.n"]
    inner.fresh = scope.fresh + 80
    body = draw(block(inner, 2))
    use = draw(st.sampled_from(["xs.extend({g}())", "log(list({g}()))", "it = {g}(); log(next(it)); box.seen = [*it]"]))
    return [f"def {name}():", "    for j in range(2):", *indent(indent(body)), "        yield j + box.n", use.format(g=name)]


@nested
def comprehension(draw: Any, scope: Scope) -> list[str]:
    name = scope.name("l")
    inner = Scope(scope.depth)
    inner.numbers = ["e", "box.n"]
    inner.arrays = ["a"]
    element = draw(number(inner, deep=False))
    form = draw(st.sampled_from(["[{v} for e in (1, 2, 3)]", "list({v} for e in xs[:2] if e)", "list({{e: {v} for e in (1, 2)}}.values())"]))
    scope.lists.append(name)
    return [f"{name} = {form.format(v=element)}", f"{name}.append(1)"]


@nested
def match(draw: Any, scope: Scope) -> list[str]:
    return [
        f"match {draw(st.sampled_from(['xs', 'table', 'flag', 'box.n', '(flag, 2)']))}:",
        "    case [first, *_]:", *indent(indent(draw(block(scope.inner(), 1)))),
        "    case {'x': got}:", *indent(indent(draw(block(scope.inner(), 1)))),
        "    case 1 | 2 as small:", *indent(indent(draw(block(scope.inner(), 1)))),
        "    case _:", "        log('other')",
    ]


@nested
def early(draw: Any, scope: Scope) -> list[str]:
    leave = "log({})" if scope.in_group else "return {}"
    return [f"if {draw(condition(scope))}:", f"    {leave.format(draw(number(scope)))}"]
