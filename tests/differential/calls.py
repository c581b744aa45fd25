"""Functions and how they are called."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .expressions import number
from .scope import Scope, block, indent, nested

PARAMETERS = (
    "p",
    "p, q=2",
    "p, /, q=2",
    "p, *rest",
    "p, *rest, k=3",
    "p, *, k",
    "p=0, **names",
    "p, q=2, /, *rest, k=3, **names",
)
ARGUMENTS = ("1", "1, 2", "1, 2, 3", "p=1", "1, q=5", "1, k=6", "*xs", "1, *xs, k=7", "**{'p': 4}", "*[1], **{'k': 2}", "1, z=9", "")


@nested
def arguments(draw: Any, scope: Scope) -> list[str]:
    """A call that may fit the parameters or not."""
    function, name = scope.name("f"), scope.name("l")
    parameters = draw(st.sampled_from(PARAMETERS))
    shown = [part for part in ("p", "q", "rest", "k", "names") if part in parameters]
    scope.lists.append(name)
    return [
        f"def {function}({parameters}):",
        f"    return [{', '.join(shown)}]",
        "try:",
        f"    {name} = {function}({draw(st.sampled_from(ARGUMENTS))})",
        "except TypeError as error:",
        f"    {name} = [str(error)]",
    ]


@nested
def chain(draw: Any, scope: Scope) -> list[str]:
    """Functions that call one another; the innermost may break, and may raise."""
    depth = draw(st.integers(1, 4))
    names = [scope.name("f") for _ in range(depth)]
    last = draw(st.sampled_from(["breaker()", "breaking(box, p)", "log(p)", "raise Problem(p)", "breaker(); raise Problem(p)"]))
    lines = [f"def {names[0]}(p):", "    v = a + p", f"    {last}", "    return v + p"]
    for outer, inner in zip(names[1:], names):
        form = draw(st.sampled_from(["plain", "catches", "finally", "twice", "loop"]))
        lines += [f"def {outer}(p):", *indent(FORMS[form](inner))]
    call = f"{names[-1]}({draw(number(scope, deep=False))})"
    name = scope.name("v")
    scope.arrays.append(name)
    return [*lines, "try:", f"    {name} = {call}", "except Problem as error:", f"    {name} = a * error.args[0]"]


FORMS = {
    "plain": lambda inner: ["w = b * p", f"return {inner}(p) + w.total()"],
    "catches": lambda inner: ["try:", f"    w = {inner}(p)", "except Problem as error:", "    log(error.args)", "    w = a", "return w * p"],
    "finally": lambda inner: ["w = a - p", "try:", f"    w = {inner}(p + 1)", "finally:", "    log(w.size)", "return w"],
    "twice": lambda inner: [f"return {inner}(p) + {inner}(1)"],
    "loop": lambda inner: ["w = a", "for i in range(2):", f"    w = w + {inner}(i)", "return w"],
}


@nested
def captured(draw: Any, scope: Scope) -> list[str]:
    """A captured variable that is deleted, and read afterwards."""
    cell, function = scope.name("n"), scope.name("f")
    name = scope.name("n")
    then = draw(st.sampled_from([f"{function}()", "pass", f"del {cell}", f"{function}(); {cell} = 3"]))
    scope.numbers.append(name)
    return [
        f"{cell} = {draw(number(scope, deep=False))}",
        f"def {function}():",
        f"    nonlocal {cell}",
        *indent(draw(block(_bare(scope), 1))),
        f"    del {cell}",
        f"read = lambda: {cell} + 1",
        then,
        "try:",
        f"    {name} = read()",
        "except NameError as error:",
        f"    {name} = len(str(error))",
    ]


def _bare(scope: Scope) -> Scope:
    """A scope inside a function of its own."""
    made = Scope(scope.depth + 2)
    made.numbers, made.lists, made.arrays = ["box.n"], ["box.items"], ["a"]
    made.fresh = scope.fresh + 100
    return made


@nested
def global_name(draw: Any, scope: Scope) -> list[str]:
    """A global that is written, perhaps deleted, and read by its name."""
    function = scope.name("f")
    name = scope.name("n")
    value = draw(number(scope, deep=False))
    change = draw(st.sampled_from(["GLOBAL = p", "GLOBAL += p", "del GLOBAL", "GLOBAL = [p]"]))
    scope.numbers.append(name)
    return [
        f"def {function}(p):",
        "    global GLOBAL",
        f"    {change}",
        "try:",
        f"    {function}({value})",
        f"    {name} = len(repr(GLOBAL))",
        "except (NameError, TypeError) as error:",
        f"    {name} = type(error).__name__",
        f"    {name} = len({name})",
    ]


@nested
def decorated(draw: Any, scope: Scope) -> list[str]:
    """A function behind a decorator that passes its arguments on."""
    wrap, function, name = scope.name("f"), scope.name("f"), scope.name("n")
    keep = draw(st.sampled_from(["@functools.wraps(function)", "@logged('inner')", ""]))
    scope.numbers.append(name)
    lines = [f"def {wrap}(function):", f"    {keep}" if keep else "    pass", "    def call(*args, **names):"]
    lines += ["        log(len(args))", "        return function(*args, **names)", "    return call"]
    lines += [f"@{wrap}", f"def {function}(p, q=1):", *indent(draw(block(_bare(scope), 1))), "    return p * q"]
    return [*lines, f"{name} = {function}({draw(number(scope, deep=False))}, q={draw(number(scope, deep=False))})"]
