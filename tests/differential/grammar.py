"""A grammar of small programs: functions over numbers, toy arrays, containers, objects and closures, with breaks.

Every program ends, whatever it is given: loops run over short containers, recursion is not made.  Names are used only after
they are surely bound, except on purpose (`maybe`), where eager Python decides what happens.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

HEADER = "def program(a, b, box, xs, table, flag, other):\n"
NUMBERS = ("n", "k", "box.n", "len(xs)", "flag")
ARRAYS = ("a", "b")


class Scope:
    """Names that are surely bound, by kind."""

    def __init__(self, depth: int = 0) -> None:
        self.numbers = ["flag", "box.n", "other.n"]
        self.arrays = ["a", "b"]
        self.lists = ["xs"]
        self.depth = depth
        self.fresh = 0
        self.in_loop = False

    def inner(self) -> "Scope":
        made = Scope(self.depth + 1)
        made.numbers, made.arrays, made.lists = list(self.numbers), list(self.arrays), list(self.lists)
        made.fresh = self.fresh + 10
        made.in_loop = self.in_loop
        return made

    def name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}_{self.depth}"


def indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines] or ["    pass"]


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
        return f"({draw(simple)} {draw(st.sampled_from(['+', '-', '*']))} {draw(simple)})"
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


@st.composite
def statement(draw: Any, scope: Scope) -> list[str]:
    simple = ["number", "array", "append", "store", "attribute", "table", "inplace", "break", "delete", "unpack"]
    nested = ["if", "for", "try", "with", "closure", "generator", "comprehension", "while", "match", "early"]
    kind = draw(st.sampled_from(simple + (nested if scope.depth < 2 else [])))
    return draw(STATEMENTS[kind](scope))


def block(scope: Scope, most: int = 3) -> Any:
    return st.lists(statement(scope), min_size=1, max_size=most).map(lambda parts: [l for part in parts for l in part])


@st.composite
def _number(draw: Any, scope: Scope) -> list[str]:
    value = draw(number(scope))
    name = scope.name("n")
    scope.numbers.append(name)
    return [f"{name} = {value}"]


@st.composite
def _array(draw: Any, scope: Scope) -> list[str]:
    value = draw(array(scope))
    name = scope.name("v")
    scope.arrays.append(name)
    return [f"{name} = {value}"]


@st.composite
def _append(draw: Any, scope: Scope) -> list[str]:
    target = draw(st.sampled_from([*scope.lists, "box.items", "other.items"]))
    value = draw(st.one_of(number(scope, deep=False), st.sampled_from(scope.arrays)))
    form = draw(st.sampled_from(["{t}.append({v})", "{t} += [{v}]", "{t}.insert(0, {v})", "{t}.extend((1, {v}))", "{t}.pop()"]))
    return [form.format(t=target, v=value)]


@st.composite
def _store(draw: Any, scope: Scope) -> list[str]:
    return [f"{draw(st.sampled_from(scope.lists))}[{draw(st.sampled_from([0, -1]))}] = {draw(number(scope))}"]


@st.composite
def _attribute(draw: Any, scope: Scope) -> list[str]:
    owner = draw(st.sampled_from(["box", "other"]))
    form = draw(st.sampled_from([".n = {v}", ".n += {v}", ".extra = {v}", ".twice = {v}", ".seen = ({v}, box)"]))
    return [owner + form.format(v=draw(number(scope)))]


@st.composite
def _table(draw: Any, scope: Scope) -> list[str]:
    key = draw(st.sampled_from(["'x'", "'y'", "1", "True", "1.0"]))
    form = draw(
        st.sampled_from(
            ["table[{k}] = {v}", "table.pop({k}, None)", "table.setdefault({k}, {v})", "table.update({{{k}: {v}}})"]
        )
    )
    return [form.format(k=key, v=draw(number(scope)))]


@st.composite
def _inplace(draw: Any, scope: Scope) -> list[str]:
    target = draw(st.sampled_from(scope.arrays))
    value = draw(st.one_of(number(scope, deep=False), st.sampled_from(scope.arrays)))
    form = draw(st.sampled_from(["{t}.add_({v})", "{t} *= {v}", "{t}[0] = {v}", "{t} += {v}"]))
    return [form.format(t=target, v=value)]


@st.composite
def _break(draw: Any, scope: Scope) -> list[str]:
    form = draw(st.sampled_from(["breaker()", "xs.append(breaker(len(xs)) or 0)", "box.n = box.n + breaking(box, {v})"]))
    return [form.format(v=draw(number(scope, deep=False)))]


@st.composite
def _delete(draw: Any, scope: Scope) -> list[str]:
    return [draw(st.sampled_from(["del table['x']", "del xs[0]", "del box.n; box.n = 4", "del box.extra"]))]


@st.composite
def _unpack(draw: Any, scope: Scope) -> list[str]:
    first, rest = scope.name("n"), scope.name("l")
    value = draw(number(scope))
    scope.numbers.append(first)
    scope.lists.append(rest)
    return [f"{first}, *{rest} = ({value}, 2, *xs)", f"{rest}.append(0)"]


@st.composite
def _if(draw: Any, scope: Scope) -> list[str]:
    lines = [f"if {draw(condition(scope))}:", *indent(draw(block(scope.inner())))]
    if draw(st.booleans()):
        lines += ["else:", *indent(draw(block(scope.inner())))]
    return lines


@st.composite
def _for(draw: Any, scope: Scope) -> list[str]:
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


@st.composite
def _while(draw: Any, scope: Scope) -> list[str]:
    name = scope.name("c")
    body = scope.inner()
    return [f"{name} = 0", f"while {name} < 3:", f"    {name} += 1", *indent(draw(block(body)))]


@st.composite
def _try(draw: Any, scope: Scope) -> list[str]:
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


@st.composite
def _with(draw: Any, scope: Scope) -> list[str]:
    manager = draw(st.sampled_from(["Manager(log, 'm', False)", "Manager(log, 's', True)", "managed(log)"]))
    lines = [f"with {manager} as got:", *indent(draw(block(scope.inner())))]
    if draw(st.integers(0, 2)) == 0:
        lines.append("    raise Problem('inside')")
    return lines


@st.composite
def _closure(draw: Any, scope: Scope) -> list[str]:
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


@st.composite
def _generator(draw: Any, scope: Scope) -> list[str]:
    name = scope.name("g")
    inner = Scope(scope.depth + 2)
    inner.numbers = ["j", "box.n"]
    inner.fresh = scope.fresh + 80
    body = draw(block(inner, 2))
    use = draw(st.sampled_from(["xs.extend({g}())", "log(list({g}()))", "it = {g}(); log(next(it)); box.seen = [*it]"]))
    return [f"def {name}():", "    for j in range(2):", *indent(indent(body)), "        yield j + box.n", use.format(g=name)]


@st.composite
def _comprehension(draw: Any, scope: Scope) -> list[str]:
    name = scope.name("l")
    inner = Scope(scope.depth)
    inner.numbers = ["e", "box.n"]
    inner.arrays = ["a"]
    element = draw(number(inner, deep=False))
    form = draw(st.sampled_from(["[{v} for e in (1, 2, 3)]", "list({v} for e in xs[:2] if e)", "list({{e: {v} for e in (1, 2)}}.values())"]))
    scope.lists.append(name)
    return [f"{name} = {form.format(v=element)}", f"{name}.append(1)"]


@st.composite
def _match(draw: Any, scope: Scope) -> list[str]:
    return [
        f"match {draw(st.sampled_from(['xs', 'table', 'flag', 'box.n', '(flag, 2)']))}:",
        "    case [first, *_]:", *indent(indent(draw(block(scope.inner(), 1)))),
        "    case {'x': got}:", *indent(indent(draw(block(scope.inner(), 1)))),
        "    case 1 | 2 as small:", *indent(indent(draw(block(scope.inner(), 1)))),
        "    case _:", "        log('other')",
    ]


@st.composite
def _early(draw: Any, scope: Scope) -> list[str]:
    return [f"if {draw(condition(scope))}:", f"    return {draw(number(scope))}"]


STATEMENTS = {
    "number": _number, "array": _array, "append": _append, "store": _store, "attribute": _attribute, "table": _table,
    "inplace": _inplace, "break": _break, "delete": _delete, "unpack": _unpack, "if": _if, "for": _for, "while": _while,
    "try": _try, "with": _with, "closure": _closure, "generator": _generator, "comprehension": _comprehension,
    "match": _match, "early": _early,
}


@st.composite
def programs(draw: Any) -> str:
    """The source of one program."""
    scope = Scope()
    lines = draw(st.lists(statement(scope), min_size=2, max_size=7))
    flat = [line for part in lines for line in part]
    result = ", ".join([*scope.numbers[3:], *scope.arrays, *scope.lists])
    return HEADER + "\n".join(indent([*flat, f"return [{result}]"])) + "\n"
