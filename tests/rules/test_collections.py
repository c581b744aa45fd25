"""OrderedDict, defaultdict, Counter, deque, named tuples."""

from __future__ import annotations

import bisect
import heapq
import time
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple

import pytest

from tests.rules.evaluate import breaks, check

Point = namedtuple("Point", "x y", defaults=[5])


class Lookup(OrderedDict):
    """An OrderedDict whose stores are counted."""

    def __setitem__(self, key, value):
        super().__setitem__(key, (value, len(self)))


class Odd(deque):
    """Copies of it are lists."""

    def __new__(cls, *arguments):
        return [42] if arguments else deque.__new__(cls)


class Recent(deque):
    """A deque with an attribute."""


def ordered(d):
    d["new"] = 1
    d.move_to_end("a")
    d.move_to_end("new", last=False)
    first = list(d), list(d.values()), list(d.items()), list(reversed(d)), list(reversed(d.items()))
    last, front = d.popitem(), d.popitem(last=False)
    d["z"] = 0
    e = d.copy()
    e["more"] = 2
    return (first, last, front, d, e, d == e, d == dict(d), OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), repr(e), d | {"q": 1}, type(d | {}), d.pop("z"),
            d.setdefault("s", 5), d.keys() & {"s"}, len(d), "s" in d, OrderedDict.fromkeys("ab", 1), type(d.keys()), d.get("none"), repr(OrderedDict()))


def ordered_subclass():
    d = Lookup(a=1)
    d["b"] = 2
    d.update(c=3)
    return d, list(d.items()), d["a"], d.copy(), d.pop("a")


def ordered_faults():
    found = []
    d = OrderedDict(a=1)
    for fault in (lambda: d.move_to_end("q"), lambda: OrderedDict().popitem(), lambda: d["q"], lambda: d.pop("q"), lambda: d.__delitem__("q"),
                  lambda: [d.setdefault(k + "x", 1) for k in d]):
        try:
            found.append(fault())
        except Exception as error:
            found.append((type(error), error.args))
    return found


def defaults():
    d = defaultdict(list)
    d["a"].append(1)
    d["a"].append(2)
    e = defaultdict(int, {"x": 1}, y=2)
    e["z"] += 5
    f = defaultdict(lambda: "made")
    plain = defaultdict()
    try:
        plain["q"]
    except KeyError as error:
        missed = error.args
    return (d, e, f["k"], list(f), f.get("other"), missed, d.copy(), type(d.copy()), d.default_factory, repr(d), d | {"b": 1}, dict(e), "no" in d, len(d),
            d == {"a": [1, 2]})


def counted():
    c = Counter("hello")
    c["l"] += 3
    c.update(["h"], z=2)
    d = Counter(a=2, b=1)
    return (c, c["none"], c.most_common(), sorted(c.elements()), c + d, c - d, d & Counter(a=1), d | Counter(c=1), c.total(), c == Counter(c), +d,
            Counter([1, 1, 2]), dict(d))


def queues(q):
    q.append(4)
    q.appendleft(0)
    q.extend([5, 6])
    q.extendleft("ab")
    taken = q.pop(), q.popleft()
    q.rotate(2)
    q.rotate(-1)
    q[0] = "set"
    del q[1]
    q.insert(2, "in")
    q.remove(3)
    r = q.copy()
    q.reverse()
    return taken, q, r, len(q), q[0], q[-1], 4 in q, q.count(4), q.index(4), list(reversed(q)), q == r, q != r, repr(q), q + r, q * 2, list(q), bool(deque()), q.maxlen


def bounded():
    q = deque([1, 2, 3], maxlen=2)
    q.append(4)
    q.appendleft(9)
    r = deque(maxlen=0)
    r.append(1)
    s = Recent("abc", 2)
    s.name = "x"
    q += [7]
    return q, r, s, q.maxlen, repr(q), q.copy(), deque(range(5), 3), deque("ab") < deque("b"), s.name


def queue_faults():
    found = []
    for fault in (lambda: deque().pop(), lambda: deque().popleft(), lambda: deque([1])[5], lambda: deque([1])["x"], lambda: deque([1]).index(4),
                  lambda: deque(maxlen=-1), lambda: deque([1], 1).insert(0, 2), lambda: deque([1]) + [1], lambda: [q.append(1) for q in [deque([1])] for _ in q],
                  lambda: deque(5)):
        try:
            found.append(fault())
        except Exception as error:
            found.append((type(error), error.args))
    return found


def odd_copies():
    queue = Odd()
    found = []
    for fault in (lambda: queue * 42, lambda: queue + deque([1]), lambda: queue.copy()):
        try:
            found.append(fault())
        except TypeError as error:
            found.append(error.args)
    return found


def named():
    p = Point(1, 2)
    x, y = p
    return (p, p.x, p[1], p._replace(x=9), p._asdict(), Point(3), Point(y=1, x=2), p == (1, 2), x, y, repr(p), Point._fields, Point._make([7, 8]), len(p),
            p + (3,), p._field_defaults, isinstance(p, tuple), hash(p) == hash((1, 2)), {p: 1}[(1, 2)])


def chained():
    c = ChainMap({"a": 1}, {"b": 2})
    c["c"] = 3
    return c["b"], c["c"], list(c), dict(c), len(c)


@pytest.mark.parametrize("program", [ordered_subclass, ordered_faults, defaults, counted, bounded, queue_faults, odd_copies, named, chained], ids=lambda f: f.__name__)
def test_made(program):
    check(program)


@pytest.mark.parametrize("fresh", [True, False], ids=["made", "given"])
def test_ordered(fresh):
    given = OrderedDict(a=1, b=2, c=3)
    given.move_to_end("b")
    if fresh:
        check(lambda: ordered(OrderedDict(a=1, b=2, c=3)))
    else:
        check(ordered, given)


@pytest.mark.parametrize("fresh", [True, False], ids=["made", "given"])
def test_queue(fresh):
    if fresh:
        check(lambda: queues(deque([1, 2, 3])))
    else:
        check(queues, deque([1, 2, 3]))


def structured(t):
    return t.tm_year, t[1], t.tm_mon, len(t), t.tm_isdst, tuple(t), t == tuple(t)


def test_structure_sequence():
    check(structured, time.gmtime(0))


def heaps(h):
    heapq.heapify(h)
    heapq.heappush(h, 3)
    taken = heapq.heappop(h), heapq.heapreplace(h, 8), heapq.heappushpop(h, 0)
    return taken, h, heapq.nsmallest(2, h), heapq.nlargest(2, h), list(heapq.merge([1, 4], [2]))


def test_heap():
    check(heaps, [5, 1, 9, 7, 2])
    check(lambda: heaps([5, 1, 9, 7, 2]))
    check(lambda: heapq.heappop([]))


def sections(a):
    bisect.insort(a, 4)
    bisect.insort_left(a, 1, key=lambda x: -x)
    return bisect.bisect(a, 3), bisect.bisect_left(a, 3), bisect.bisect_right(a, 3, 1, 2), a


def test_bisect():
    check(sections, [1, 3, 3, 5])


def test_default_of_an_argument():
    def program(d):
        d["new"].append(1)
        return d["a"], d.default_factory

    check(program, defaultdict(list, a=[0]))


def test_removing_what_is_not_in_a_deque_is_left_to_eager():
    assert "FL102" in breaks(lambda: deque([1]).remove(2))


def test_named_argument():
    check(lambda p: (p.x, p.y, p._replace(y=0)), Point(4, [1]))
