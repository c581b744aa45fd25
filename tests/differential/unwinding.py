"""Returns, loops and exceptions that leave `try` and `with`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .expressions import condition, number
from .scope import Scope, block, indent, nested

LEAVES = ("return {v}", "break", "continue", "raise Problem({v})", "log({v})")


@nested
def leaving(draw: Any, scope: Scope) -> list[str]:
    """A function whose loop is left out of `try`, `finally` or `with`."""
    function, name = scope.name("f"), scope.name("n")
    inner = _inside(scope)
    leave = draw(st.sampled_from(LEAVES)).format(v=draw(number(inner, deep=False)))
    last = draw(st.sampled_from(["log('end')", "breaker()", "continue", "return 8"]))
    form = draw(st.sampled_from(["finally", "with", "except", "else"]))
    body = [f"if {draw(condition(inner))}:", f"    {leave}", *draw(block(inner, 1))]
    lines = [f"def {function}(p):", "    for i in range(3):", *indent(indent(WRAPS[form](body, last))), "    return i"]
    scope.numbers.append(name)
    return [*lines, "try:", f"    {name} = {function}({draw(number(scope, deep=False))})", "except Problem as error:", f"    {name} = 1"]


def _inside(scope: Scope) -> Scope:
    made = Scope(scope.depth + 2)
    made.numbers, made.lists, made.arrays = ["p", "i", "box.n"], ["box.items"], ["a"]
    made.fresh = scope.fresh + 140
    return made


WRAPS = {
    "finally": lambda body, last: ["try:", *indent(body), "finally:", f"    {last}"],
    "with": lambda body, last: ["with Manager(log, i, p == 1) as m, managed(log):", *indent(body), last],
    "except": lambda body, last: ["try:", *indent(body), "except Problem as error:", "    log(error.args)", f"    {last}"],
    "else": lambda body, last: ["try:", *indent(body), "except LookupError:", "    log('no')", "else:", f"    {last}"],
}

CHAINS = (
    ["raise Problem(2) from error"],
    ["raise Problem(2) from None"],
    ["raise Problem(2)"],
    ["raise"],
    ["breaker()", "raise"],
    ["try:", "    raise KeyError(1)", "except KeyError:", "    log('inner')", "raise"],
    ["try:", "    [][2]", "except IndexError as other:", "    error = other", "log(type(error).__name__)"],
    ["try:", "    raise Problem(4) from error", "finally:", "    log('f')"],
    ["kept = error", "log((type(kept.__context__).__name__, kept.__cause__))"],
    ["error.note = 3", "box.seen = error"],
    ["log(sys.exc_info()[0].__name__)"],
    ["def again():", "    raise", "again()"],
    ["log(error.__traceback__ is not None)"],
)
FIRST = ("[][0]", "raise Problem(1)", "raise Problem", "table['none']", "undefined", "breaker(); raise Problem(1)", "a + xs", "box.none", "1 / 0")


@nested
def chained(draw: Any, scope: Scope) -> list[str]:
    """An exception raised while another is handled; what comes out is looked at."""
    handler = draw(st.sampled_from(CHAINS))
    between = draw(st.one_of(st.just([]), block(scope.inner(), 1)))
    lines = ["try:", "    try:", f"        {draw(st.sampled_from(FIRST))}", "    except Exception as error:"]
    lines += indent(indent([*between, *handler]))
    if draw(st.booleans()):
        lines += ["    finally:", *indent(indent(draw(block(scope.inner(), 1))))]
    seen = ["log(type(outer).__name__)", "log(type(outer.__context__).__name__)", "log(outer.__suppress_context__)"]
    return [*lines, "except Exception as outer:", *indent(seen)]


@nested
def group(draw: Any, scope: Scope) -> list[str]:
    """`except*`, out of whose handlers nothing may return or leave a loop."""
    raised = draw(st.sampled_from(["ExceptionGroup('g', [Problem(1), KeyError(2)])", "Problem(1)", "ExceptionGroup('g', [TypeError()])"]))
    lines = ["try:", "    try:", f"        raise {raised}", "    except* Problem as some:", "        log(len(some.exceptions))"]
    handler = scope.inner()
    handler.in_group = True
    lines += indent(indent(draw(block(handler, 1))))
    lines += ["    except* KeyError:", "        log('key')"]
    return [*lines, "except Exception as error:", "    log(type(error).__name__)"]
