"""Built-in containers and text."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .expressions import number
from .scope import Scope, simple

LISTS = (
    "{l}[1:]",
    "{l}[::-1]",
    "{l}[:1] * 2",
    "{l} + [{v}]",
    "[*reversed({l})]",
    "{l}.copy()",
    "[*enumerate({l}, 1)][:2]",
    "[*zip({l}, (1, 2, 3))]",
    "list(filter(None, {l}))[:2]",
    "list({l})[-2:]",
)
VALUES = (
    "{{1, 2, {v}}} | {{3}}",
    "{{1, {v}}} & {{1, 2}}",
    "({v}, 1)[0]",
    "({v}, 1) < (2, 3)",
    "'a-b-c'.split('-')",
    "'x'.join(['a', 'b', str({v})])",
    "'%s and %d' % ('s', 3)",
    "'{{}}'.format({v})",
    "f'{{{v}!s:<6}}|'",
    "'abc'[1:] + 'd' * 2",
    "'AbC'.lower().startswith('a')",
    "'abc'.replace('b', str({v}))",
    "b'ab' + bytes([1])",
    "{{**table, 'z': {v}}}",
    "table | {{'q': {v}}}",
    "[*table.values()]",
    "sorted(map(str, table))",
    "{{k: w for k, w in table.items()}}",
    "dict.fromkeys('ab', {v})",
    "frozenset([1, {v}, 1])",
    "{v} in {{1, 2}}",
    "len({{{v}, 1, 1.0, True}})",
    "divmod(7, 2), abs(-3), round(2.6)",
    "(lambda *p: p)(*xs, *'ab')",
    "[x if x else 0 for x in xs][0]",
    "tuple(xs) == tuple(box.items)",
    "slice(0, 2).indices(5), [1, 2, 3][slice(1, None)]",
    "min(1, 2.5), max([3, 1]), sum((1, 2), 4)",
    "int('7') + float('1.5')",
    "[1, 2] < [1, 3], (1,) == (1.0,)",
)
CHANGES = (
    "{l}.sort(key=str)",
    "{l}.reverse()",
    "{l}[:1] = [{v}, 3]",
    "{l}[1:1] = (8,)",
    "del {l}[:1]",
    "{l}.remove({v})",
    "del {l}[4:]; {l} *= 2",
    "{l}.clear()",
    "{l}[0], {l}[-1] = {l}[-1], {l}[0]",
    "table |= {{'w': {v}}}",
    "table.clear()",
    "table.popitem()",
    "table['x'] += 1",
    "for key in [*table]: table[key] = {v}",
    "for key in table: table[0] = 1",
)
ERRORS = "except (ValueError, LookupError, TypeError, RuntimeError) as error:"


@simple
def new_list(draw: Any, scope: Scope) -> list[str]:
    """A list made from another."""
    name = scope.name("l")
    form = draw(st.sampled_from(LISTS)).format(l=draw(st.sampled_from(scope.lists)), v=draw(number(scope, deep=False)))
    scope.lists.append(name)
    return [f"{name} = {form}", f"{name}.append(0)"]


@simple
def value(draw: Any, scope: Scope) -> list[str]:
    """Something computed from built-in values, logged."""
    form = draw(st.sampled_from(VALUES)).format(v=draw(number(scope, deep=False)))
    return ["try:", f"    log({form})", ERRORS, "    log(str(error))"]


@simple
def change(draw: Any, scope: Scope) -> list[str]:
    """A container changed in place."""
    form = draw(st.sampled_from(CHANGES)).format(l=draw(st.sampled_from(scope.lists)), v=draw(number(scope, deep=False)))
    return ["try:", f"    {form}", ERRORS, "    log(str(error))"]
