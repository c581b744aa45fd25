"""Lists: every method, on lists that the trace made and on arguments."""

from __future__ import annotations

import pytest

from tests.rules.evaluate import capture, check


class Loud:
    """Equal to numbers, by a method of the program."""

    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return isinstance(other, Loud) and self.n == other.n

    def __lt__(self, other):
        return self.n < other.n

    def __repr__(self):
        return f"Loud({self.n})"


class Stack(list):
    """A subclass with attributes and a method of its own."""

    def push(self, value):
        self.append(value)
        self.last = value
        return self


def growing(a):
    a.append(4)
    a.extend((5, 6))
    a.extend(x * 2 for x in a[:2])
    a.extend(a)
    a.insert(0, "first")
    a.insert(-1, "before last")
    a.insert(99, "end")
    a += [7]
    a += (8,)
    a *= 2
    return a, len(a)


def shrinking(a):
    taken = [a.pop(), a.pop(0), a.pop(-2)]
    a.remove(2)
    del a[0]
    b = a.copy()
    a.clear()
    return taken, a, b


def looking(a):
    return a[0], a[-1], a[1:], a[::-1], a[::2], 2 in a, 9 in a, a.index(2), a.index(2, 1), a.count(2), list(reversed(a)), a == [1], a != a


def slices(a):
    a[1:3] = "xyz"
    a[::2] = [0] * len(a[::2])
    a[5:] = []
    del a[1:3]
    a[0] = a[-1] = None
    return a


def ordering(a):
    return a < [1, 2], a <= a, a > [0], a >= [9], [1] + a, a * 2, 3 * a, sorted(a), sorted(a, reverse=True), sorted(a, key=lambda x: -x)


def sorting(a):
    a.sort()
    b = list(a)
    a.sort(key=lambda x: x % 3)
    c = list(a)
    a.reverse()
    return a, b, c


def faults(a):
    found = []
    for fault in (
        lambda: a[99],
        lambda: a["x"],
        lambda: a.pop(99),
        lambda: [].pop(),
        lambda: a.remove(99),
        lambda: a.index("nothing"),
        lambda: a + 5,
        lambda: a * "x",
        lambda: a < 5,
        lambda: a.__setitem__(99, 1),
        lambda: a.__setitem__("x", 1),
        lambda: a.__delitem__(99),
        lambda: a[::0],
        lambda: a.__setitem__(slice(0, 9, 2), [1]),
        lambda: a.__setitem__(slice(0, 1), 5),
        lambda: a.extend(5),
        lambda: a.sort(key=lambda x: x if x % 2 else str(x)),
        lambda: list(5),
        lambda: a.insert("x", 1),
    ):
        try:
            found.append(fault())
        except Exception as error:
            found.append((type(error), error.args))
    return found


def changed_while_iterated(a):
    seen = []
    for x in a:
        seen.append(x)
        if len(a) < 6:
            a.append(x + 10)
    return seen


def unpacked(a):
    first, *middle, last = a
    return first, middle, last, [*a, *a], (*a,)


def stacks(a):
    s = Stack(a)
    s.push(1).push([2])
    t = Stack()
    t.extend(s)
    return s, t, s == t, s.last, len(s), s + [1], type(s * 2), Stack("ab")


def loud(a):
    items = [Loud(3), Loud(1), Loud(2)]
    return items.index(Loud(2)), Loud(1) in items, [x.n for x in sorted(items)], items.count(Loud(3)), repr(items)


def itself(a):
    a.append(a)
    return repr(a), a[-1] is a


def views_of_progress(a):
    out = []
    try:
        out.extend(x if x < 3 else 1 // 0 for x in a)
    except ZeroDivisionError:
        return out


@pytest.mark.parametrize("program", [
    growing, shrinking, looking, slices, ordering, sorting, faults, changed_while_iterated, unpacked, stacks, loud, itself,
    views_of_progress,
], ids=lambda f: f.__name__)
@pytest.mark.parametrize("fresh", [True, False], ids=["made", "given"])
def test_program(program, fresh):
    if fresh:
        def made():
            return program([1, 2, 3, 2])
        check(made)
    else:
        check(program, [1, 2, 3, 2])


@pytest.mark.parametrize(("program", "given", "expected"), [
    (lambda a: 1 if a else 2, [7, 8], ["type(a) is list", "len(a) >= 1"]),
    (lambda a: 1 if a else 2, [], ["type(a) is list", "len(a) == 0"]),
    (lambda a: a[1], [7, 8, 9], ["type(a) is list", "len(a) >= 2", "a[1] == 8"]),
    (lambda a: a.append(1), [7], ["type(a) is list"]),
    (lambda a: a.extend((1, 2)), [7], ["type(a) is list"]),
    (lambda a: a[-1], [7, 8], ["type(a) is list", "len(a) == 2", "a[1] == 8"]),
], ids=["some", "none", "item", "append", "extend", "last"])
def test_no_more_is_observed_than_the_result_tells(program, given, expected):
    trace = capture(program, (given,))
    guards = [guard for guard in trace.session.guards.values() if guard.source.root().step == "local"]
    assert [str(guard) for guard in guards] == expected
