"""Objects whose classes are written in Python: operators, attributes, construction."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .expressions import number
from .scope import Scope, block, indent, nested

OPERATIONS = (
    "{o} + {v}",
    "{v} + {o}",
    "{o} == {v}",
    "{o} != {p}",
    "{o} < {p}",
    "-{o}",
    "{o}[{v}]",
    "{v} in {o}",
    "not {o}",
    "len({o})",
    "[*{o}]",
    "bool({o})",
    "{o} is {p}",
    "{o}.missing_thing",
    "{o}.twice",
    "{o}({v})",
    "hash({o}) == hash({p})",
    "{{{o}: 1, {p}: 2}}[{o}]",
    "{o} in [{p}, {o}]",
    "[10, 20, 30][{o}:]",
    "isinstance({o}, Odd)",
    "(lambda: 1 if {o} else 2)()",
    "{o} and {p}",
    "sorted([{o}, {p}])[0].n",
    "f'{{{o}}}'",
    "{o} @ {v}",
)
CHANGES = (
    "{o}.n = {v}",
    "{o}.extra = {v}",
    "del {o}.n",
    "{o}[{v}] = 1",
    "del {o}[0]",
    "{o} += {v}",
    "{o}.twice = {v}",
    "{o}.items.append({v})",
    "Odd.gain = {v}",
    "{o}.n, {p}.n = {p}.n, {o}.n",
    "{o}.method = lambda: 3; log({o}.method())",
)
ERRORS = "except (TypeError, AttributeError, LookupError, NameError, ValueError) as error:"


@nested
def odd(draw: Any, scope: Scope) -> list[str]:
    """Two instances of a class that defines nearly every operator, some of which break."""
    one, other = scope.name("o"), scope.name("o")
    lines = [f"{one} = Odd({draw(number(scope, deep=False))}, log, {draw(st.booleans())})", f"{other} = Odd(2, log)"]
    for _ in range(draw(st.integers(1, 3))):
        form = draw(st.sampled_from(OPERATIONS + CHANGES))
        made = form.format(o=one, p=other, v=draw(number(scope, deep=False)))
        lines += ["try:", f"    log({made})" if form in OPERATIONS else f"    {made}", ERRORS, "    log(type(error).__name__)"]
    return [*lines, f"box.seen = {one}"] if draw(st.booleans()) else lines


@nested
def made_inside(draw: Any, scope: Scope) -> list[str]:
    """A class made by the program."""
    cls, name = scope.name("C"), scope.name("n")
    inner = Scope(scope.depth + 2)
    inner.numbers, inner.lists, inner.arrays = ["self.n", "p"], ["self.items"], ["a"]
    inner.fresh = scope.fresh + 160
    base = draw(st.sampled_from(["", "(Box)", "(Odd)", "(dict)", "(list)", "(Problem)"]))
    start = "super().__init__(p, [1])" if base == "(Box)" else "super().__init__(p, log)" if base == "(Odd)" else "super().__init__()"
    lines = [f"class {cls}{base}:", "    def __init__(self, p):", f"        {start}", "        self.n, self.items = p, [p]"]
    lines += ["    def method(self, p):", *indent(indent(draw(block(inner, 1)))), "        return self.n"]
    lines += ["    @property", "    def shown(self):", "        return self.n + 1"]
    lines += ["    @classmethod", "    def make(cls, p):", "        return cls(p)"]
    scope.numbers.append(name)
    return [*lines, f"made = {cls}.make({draw(number(scope, deep=False))})", f"{name} = made.method(2)", f"{name} = {name} + made.shown"]
