"""The smallest programs that once differed, each with what was wrong."""

from __future__ import annotations

import pytest

from frameloom.symbolic.domain import Domain
from tests.toy import stopping
from tests.toy.domain import ToyDomain

from .compiled import compare
from .grammar import HEADER

FOUND = {
    "what an argument equals is not asked of its class": """
    box.seen = Odd(1, log, True)
    breaker()
    reference = weakref.ref(box)
    breaker()
    log(reference() is box)
    held = Odd(2, log)
    breaker()
    return reference() is box
""",
    "sizes asked of a random operation draw numbers": """
    return a.noise(), a.noise()
""",
    "a marker that a handler's clean-up leaves has no exception of its own": """
    with Manager(log, 'm', False):
        breaker()
        raise Problem('inside')
""",
    "an exception that exists already, raised and caught, gets a traceback": """
    try:
        breaker()
        raise Problem('inside')
    finally:
        log(1)
""",
    "an exception that was caught outlives its handler": """
    try:
        [][0]
    except IndexError as error:
        kept = error
    box.seen = kept
    breaker()
    return kept.__traceback__ is not None, kept.args
""",
    "an iterator stands where it stood, over a list that is made anew": """
    for i in [1, 2, 3][:]:
        breaker()
        log(i)
""",
    "an iterator over a dictionary is made when that is whole, keys hash when they are": """
    class K:
        def __init__(self, n): self.n = n
        def __hash__(self): return hash(self.n)
        def __eq__(self, other): return self.n == other.n
    breaker()
    d = {K(1): 2, (K(3), 1): 4, K(1): 5}
    s = {K(1), K(2), K(1)}
    it, js, ks, ls = iter(d), iter({1: 2, 3: 4}), iter([1, 2, 3]), reversed([1, 2, 3])
    next(it), next(js), next(ks), next(ls)
    breaker()
    return len(d), len(s), d[K(1)], len([*it]), [*js], [*ks], [*ls]
""",
    "the first of equal keys stays": """
    table.pop(True, None)
    table.setdefault(1.0, 1)
    table.update({1: 5})
""",
    "a list display is left half made": """
    xs[-1] = sum([*xs, box.n])
    first, *rest = (0, 2, *xs)
    return rest
""",
    "a store that fails by shape": """
    v = box.apply(b, True)
    b[0] = v
""",
    "the parameters of a function say what does not fit": """
    def f(p, /, q=1, *, k=2): return p
    def h(a, b, c, *, d, e): pass
    def r(p, kk=2): pass
    for call in (lambda: f(1, 2, 3), lambda: f(p=1), lambda: f(1, z=3), lambda: f(1, 2, q=3), lambda: f(1, 2, 3, k=3),
                 lambda: h(1), lambda: h(), lambda: h(1, 2, 3, d=1), lambda: r(1, kkk=2), lambda: breaking(1)):
        try:
            log(call())
        except TypeError as error:
            log(str(error))
""",
    "a function without defaults": """
    def f(p, *, k): pass
    try:
        f(p=1)
    except TypeError as error:
        log(str(error))
""",
    "no comparison of the user's runs while tracing": """
    odd = Odd(1, log, True)
    log(2 in odd)
""",
    "a generator that is dropped runs its handlers": """
    def g():
        try:
            yield 2
        finally:
            log('closed')
    it = g()
    log(it.send(None))
""",
    "a dictionary gets other keys while it is iterated across a break": """
    for k in table:
        breaker()
        del table[k]
        table[len(table) + 7] = 1
        if len(xs) > 5: break
        xs.append(k)
    return table
""",
    "a loop over a real iterator advances it": """
    for i in [*xs][:3]:
        try:
            del xs[0]
        finally:
            n, *rest = (len(f'{True!r:>5}'), 2, *xs)
""",
}


DISPLACED = {
    "by another": "box.seen = g(1)\nnext(box.seen)\nbox.seen = g(2)\nlog('a')\nnext(box.seen)",
    "attribute": "box.seen = g(1)\nnext(box.seen)\ndel box.seen\nlog('a')",
    "key": "table['k'] = g(1)\nnext(table['k'])\ntable['k'] = 3\nlog('a')",
    "key taken away": "table['k'] = g(1)\nnext(table['k'])\ndel table['k']\nlog('a')",
    "cleared dictionary": "table['k'] = g(1)\nnext(table['k'])\ntable.clear()\nlog('a')",
    "item": "xs[0] = g(1)\nnext(xs[0])\nxs[0] = 1\nlog('a')",
    "item taken away": "xs.append(g(1))\nnext(xs[-1])\nxs.pop()\nlog('a')",
    "slice taken away": "xs[0] = g(1)\nnext(xs[0])\ndel xs[:1]\nlog('a')",
    "slice": "xs[0] = g(1)\nnext(xs[0])\nxs[:1] = [5]\nlog('a')",
    "cleared list": "xs[0] = g(1)\nnext(xs[0])\nxs.clear()\nlog('a')",
}
"""A generator that is displaced where the trace put it is closed at that moment."""
FOUND |= {
    f"a generator is displaced: {name}": "\n".join(
        ["    def g(n):", "        try:", "            yield 1", "        finally:", "            log(n)", *(f"    {line}" for line in body.splitlines()), ""]
    )
    for name, body in DISPLACED.items()
}


@pytest.mark.parametrize("body", FOUND.values(), ids=FOUND)
def test_found(body: str) -> None:
    source = HEADER + body.lstrip("\n")
    assert compare(source, ToyDomain()).count
    assert compare(source, Domain(), replay=True).count
    for count in (1, 2, 3):
        with stopping.in_force():
            compare(source, stopping.every(count), replay=True)
