"""Generators that are sent to, thrown into, closed and delegated to."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .expressions import number
from .scope import Scope, block, indent, nested

BODIES = {
    "echo": ["got = yield 1", "while got is not None:", "    log(got)", "    got = yield got + 1", "return 7"],
    "guarded": ["try:", "    yield 1", "    yield 2", "except Problem as error:", "    log(error.args)", "    yield 3", "finally:", "    log('closed')"],
    "delegates": ["got = yield from gen(2)", "log(got)", "yield from xs[:2]", "return got"],
    "manages": ["with Manager(log, 'g', False):", "    for i in range(3):", "        yield i", "return box.n"],
    "breaks": ["yield box.n", "breaker()", "box.n = 5", "yield box.n"],
    "stubborn": ["left = 3", "while left:", "    left -= 1", "    try:", "        yield left", "    except Problem:", "        log('again')"],
}
USES = (
    ["log(next({it}, None))", "log([*{it}])"],
    ["log({it}.send(None))", "try:", "    log({it}.send(4))", "except StopIteration as end:", "    log(end.value)"],
    ["next({it})", "try:", "    log({it}.throw(Problem(3)))", "except (Problem, StopIteration) as error:", "    log(type(error).__name__)"],
    ["next({it})", "{it}.close()", "log(next({it}, 'over'))"],
    ["for item in {it}:", "    log(item)", "    break", "box.seen = {it}"],
    ["box.seen = {it}"],
    ["first, *rest = {it}", "log((first, rest))"],
)


@nested
def protocol(draw: Any, scope: Scope) -> list[str]:
    """A generator of one kind, used in one way."""
    name, it = scope.name("g"), scope.name("it")
    body = BODIES[draw(st.sampled_from(sorted(BODIES)))]
    use = [line.format(it=it) for line in draw(st.sampled_from(USES))]
    return [f"def {name}():", *indent(body), f"{it} = {name}()", *use]


@nested
def stepped(draw: Any, scope: Scope) -> list[str]:
    """A generator that is advanced between other statements."""
    name, it, first = scope.name("g"), scope.name("it"), scope.name("n")
    inner = Scope(scope.depth + 2)
    inner.numbers, inner.lists, inner.arrays = ["j", "box.n"], ["box.items"], ["a"]
    inner.fresh = scope.fresh + 120
    lines = [f"def {name}(count):", "    for j in range(count):", *indent(indent(draw(block(inner, 1)))), "        yield j"]
    scope.numbers.append(first)
    lines += [f"{it} = {name}(2)", f"{first} = next({it})", *draw(block(scope.inner(), 1))]
    return [*lines, f"log([item for item in {it}])"]


@nested
def expression(draw: Any, scope: Scope) -> list[str]:
    """A generator expression, or nested comprehensions."""
    name = scope.name("l")
    value = draw(number(_element(scope), deep=False))
    form = draw(
        st.sampled_from(
            [
                "[{v} for e in xs[:2] for k in range(e % 3 if type(e) is int else 2)]",
                "[[{v} for k in (1, 2)] for e in (1, 2)]",
                "[*({v} for e in (3, 4) if e != 3)]",
                "[lambda: {v} for e in (1, 2)][0:1]",
                "sorted({{str(e): {v} for e in (1, 2)}})",
                "[sum(k * e for k in (1, 2)) for e in (1, 2)]",
                "[y for e in (1, 2) if (y := {v})]",
                "list(map(lambda e: {v}, (1, 2)))",
                "[*zip(xs, ({v} for e in (1, 2)))]",
            ]
        )
    )
    scope.lists.append(name)
    return [f"{name} = {form.format(v=value)}"]


def _element(scope: Scope) -> Scope:
    made = Scope(scope.depth)
    made.numbers, made.lists, made.arrays = ["e", "box.n", "flag"], ["box.items"], ["a"]
    return made
