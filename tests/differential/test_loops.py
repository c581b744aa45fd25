"""Breaks in loops: a loop is captured once or twice, whichever turn goes on, and what its iterators are about may change."""

from __future__ import annotations

import pytest

from tests.toy.domain import ToyDomain

from .compiled import compare
from .grammar import HEADER
from .test_chains import HELPERS, graphs

OVER = {
    "a list": ("[v + 1, v + 2, v + 3, v + 4]", "w", 3),
    "a list reversed": ("reversed([v + 1, v + 2, v + 3, v + 4])", "w", 3),
    "a tuple": ("(v + 1, v + 2, v + 3, v + 4)", "w", 3),
    "a range nobody looks at": ("range(6)", "v", 3),
    "a range": ("range(6)", "w", 4),
    "a text nobody looks at": ("'abcdef'", "v", 3),
    "keys nobody looks at": ("dict(a=1, b=2, c=3, d=4, e=5)", "v", 3),
    "values": ("dict(a=v + 1, b=v + 2, c=v + 3).values()", "w", 3),
    "items whose keys nobody looks at": ("dict(a=v + 1, b=v + 2, c=v + 3).items()", "w[1]", 3),
    "a real list": ("box.items", "v", 3),
    "enumerate": ("enumerate([v + 1, v + 2, v + 3, v + 4])", "w[1]", 3),
    "enumerate, numbers read": ("enumerate([v + 1, v + 2, v + 3, v + 4], 1)", "w[0]", 4),
    "zip": ("zip([v + 1, v + 2, v + 3, v + 4], range(9))", "w[0]", 3),
    "zip, strict": ("zip([v + 1, v + 2, v + 3], 'abc', strict=True)", "w[0]", 3),
    "map": ("map(double, [v + 1, v + 2, v + 3, v + 4])", "w", 3),
    "filter": ("filter(None, [1, 0, 1, 0, 1])", "v", None),
    "enumerate of zip": ("enumerate(zip([v + 1, v + 2, v + 3], [v + 4, v + 5, v + 6]))", "w[1][0]", 3),
}
"""what is iterated -> (the iterable, what the loop takes of an item, how many graphs there are)"""

LOOP = """
def double(w):
    return w * 2
def outer(v, box):
    for w in {}:
        v = v * 2 + {}
        breaker()
        v = v - 1
    return v * 3
"""


@pytest.mark.parametrize("name", OVER)
def test_a_loop_is_captured_once_or_twice(name: str) -> None:
    iterable, item, count = OVER[name]
    source = HELPERS + LOOP.format(iterable, item) + HEADER.rstrip() + "\n    return outer(a, box)\n"
    compare(source, ToyDomain())
    compare(source, ToyDomain(), replay=True)
    if count is not None:
        assert len(graphs(source)) == count


CHANGED = {
    "a list grows": """
    items = [a, b]
    for w in items:
        a = a + w
        breaker()
        if len(items) < 5:
            items.append(a * 2)
    return a, items
""",
    "a list grows behind the reading": """
    items = [a, b, a, b]
    it = iter(items)
    next(it)
    breaker()
    first = next(it)
    items.append(first + 1)
    items[2] = first * 3
    return [first, *it]
""",
    "a list shrinks": """
    items = [a, b, a, b]
    it = iter(items)
    next(it)
    breaker()
    items.pop(0)
    first = next(it)
    return first, list(it), items
""",
    "another name of the list": """
    items = [a, b, a]
    box.items = items
    for w in items:
        a = a + w
        breaker()
        if len(box.items) < 6:
            box.items.append(b)
    return a, items
""",
    "one list or another": """
    lists = [[1, 2], [3, 4, 5]]
    found = []
    for one in lists:
        for n in one:
            breaker()
            lists[1].append(n) if len(lists[1]) < 6 else None
            found.append(n)
    return found, lists
""",
    "a dict grows": """
    d = dict(a=1, b=2)
    found = []
    try:
        for k in d:
            found.append(k)
            breaker()
            d[k * 2] = a
            a = a + 1
    except RuntimeError as error:
        found.append(error.args)
    return found, d
""",
    "values are replaced": """
    d = dict(a=a, b=b, c=a)
    for k, w in d.items():
        breaker()
        a = a + w
        d[k] = a
        d['c'] = a * 2
    return a, d
""",
    "a dict that has changed before": """
    d = dict(a=1, b=2)
    it = iter(d.values())
    next(it)
    d['c'] = 3
    breaker()
    try:
        return next(it)
    except RuntimeError as error:
        return error.args, list(it)
""",
    "attributes": """
    found = []
    for k, w in vars(box).items():
        breaker()
        found.append((k, a + 1))
        box.items = a
        setattr(box, k, a * 2)
    return found
""",
    "attributes of one of two": """
    found = []
    for one in (box, other):
        for k, w in vars(one).items():
            breaker()
            found.append((k, a + 1))
            box.items = [a]
            found.append(w is None)
    return found
""",
    "an iterator that two know": """
    it = iter([a, b, a, b, a])
    for w in it:
        breaker()
        a = a * 2 + w
        log(next(it, None) is None)
    return a, list(it)
""",
    "pairs of one iterator": """
    it = iter([a, b, a, b, a])
    for v, w in zip(it, it):
        breaker()
        a = a * 2 + w - v
    return a, list(it)
""",
    "what is left": """
    it, back, numbers = iter([a, b, a]), reversed([a, b, a]), iter(range(5))
    next(it), next(back), next(numbers)
    breaker()
    log((it.__length_hint__(), numbers.__length_hint__(), next(numbers)))
    b = b + next(it) + next(back)
    breaker()
    return b, list(it), list(back), list(numbers), list(it)
""",
    "behind the end": """
    items = [a]
    it = iter(items)
    for w in it:
        breaker()
    breaker()
    items.append(b)
    a = a + 1
    return a, list(it), next(it, 7)
""",
    "a strict zip of unlike lengths": """
    try:
        for v, w in zip([a, b, a], [a, b], strict=True):
            breaker()
            a = a + v
    except ValueError as error:
        return a, error.args
""",
    "a map whose function breaks": """
    def double(w):
        breaker()
        return w * 2
    for w in map(double, [a, b, a]):
        a = a + w
        breaker()
        a = a * 2
    return a
""",
    "left early": """
    for i, w in enumerate([a, b, a, b]):
        breaker()
        if i == 2:
            break
        a = a + w
    else:
        return 'never'
    return a, i
""",
    "loops in loops": """
    for i in range(3):
        for w in [a, b]:
            breaker()
            a = a + w
        a = a * 2
    return a
""",
    "a real reversed list that was cut": """
    items = [1, 2, 3, 4, 5, 6]
    back = reversed(items)
    next(back)
    breaker()
    a = a + next(back)
    breaker()
    del items[2:]
    breaker()
    return a, list(back)
""",
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_is_iterated_changes(name: str) -> None:
    source = HELPERS + HEADER.rstrip() + CHANGED[name]
    compare(source, ToyDomain())
    compare(source, ToyDomain(), replay=True)


def test_a_long_loop_takes_no_more_captures_than_a_short_one() -> None:
    def captures(turns: int) -> int:
        source = HELPERS + HEADER.rstrip() + f"\n    for i in range({turns}):\n        a = a * 2\n        breaker()\n        a = a - i\n    return a\n"
        return compare(source, ToyDomain()).count

    assert captures(500) == captures(10) < 10
