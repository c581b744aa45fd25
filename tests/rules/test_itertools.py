"""The module itertools: what each iterator gives, and that it leaves the trace as itself, standing where it was."""

from __future__ import annotations

import itertools
import operator

import pytest

from tests.rules.evaluate import breaks, check
from tests.rules.running import breaks as stops


def given():
    it = itertools
    return (list(it.chain([1], "ab", (2,))), list(it.chain.from_iterable(["ab", [3]])), list(it.islice(range(9), 2, 8, 3)), list(it.islice("abc", 2)),
            list(it.islice(it.count(5), 3)), list(it.islice(it.count(1, 0.5), 3)), list(it.islice(it.cycle("ab"), 5)), list(it.repeat(1, 3)),
            list(it.product([1, 2], "ab")), list(it.product([0, 1], repeat=2)), list(it.permutations("abc", 2)), list(it.combinations("abc", 2)),
            list(it.combinations_with_replacement("ab", 2)), list(it.accumulate([1, 2, 3])), list(it.accumulate([1, 2, 3], operator.mul, initial=10)),
            list(it.starmap(pow, [(2, 3), (3, 2)])), list(it.takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(it.dropwhile(lambda x: x < 3, [1, 3, 1])),
            list(it.filterfalse(None, [0, 1])), list(it.compress("abcd", [1, 0, 1])), list(it.zip_longest("ab", [1], fillvalue="-")),
            list(it.pairwise([1, 2, 3])), [(k, list(g)) for k, g in it.groupby("aabca")], [(k, len(list(g))) for k, g in it.groupby([1, 3, 2], lambda x: x % 2)],
            list(it.permutations([1, 2])), list(it.product()), list(it.pairwise([1])), list(it.accumulate([])), list(it.zip_longest()))


def groups():
    out = []
    grouped = itertools.groupby([1, 1, 2, 2, 3])
    first = next(grouped)
    second = next(grouped)
    out.append(list(first[1]))
    out.append(next(second[1]))
    for key, group in grouped:
        out.append((key, list(group)))
    return out, list(second[1])


def teed():
    a, b = itertools.tee(x * 2 for x in range(4))
    first = next(a), next(a)
    c, d = itertools.tee(b)
    return first, list(b), list(a), list(d), itertools.tee([], 0)


def faults():
    it = itertools
    found = []
    for fault in (lambda: it.islice([1], -1), lambda: it.islice([1], "x"), lambda: it.islice([1], 0, 1, 0), lambda: it.count("x"),
                  lambda: it.product([1], repeat=-1), lambda: it.combinations([1], -1), lambda: it.permutations([1], "x"), lambda: list(it.chain([1], 5)),
                  lambda: it.chain.from_iterable(5), lambda: list(it.starmap(pow, [5])), lambda: list(it.accumulate([1, "a"])), lambda: it.cycle(5)):
        try:
            found.append(fault())
        except Exception as error:
            found.append((type(error), error.args))
    return found


@pytest.mark.parametrize("program", [given, groups, teed, faults], ids=lambda f: f.__name__)
def test_program(program):
    check(program)


LEAVING = {
    "chain": lambda: itertools.chain([1, 2], (3, 4), "x"),
    "from_iterable": lambda: itertools.chain.from_iterable([[1, 2], [3], "ab"]),
    "islice": lambda: itertools.islice([1, 2, 3, 4, 5, 6, 7], 1, 7, 2),
    "islice_open": lambda: itertools.islice([1, 2, 3, 4, 5, 6, 7], 1, None),
    "repeat": lambda: itertools.repeat("r", 4),
    "cycle_done": lambda: itertools.islice(itertools.cycle("a"), 4),
    "product": lambda: itertools.product([1, 2], "ab"),
    "permutations": lambda: itertools.permutations([1, 2, 3], 2),
    "combinations": lambda: itertools.combinations([1, 2, 3], 2),
    "accumulate": lambda: itertools.accumulate([1, 2, 3]),
    "accumulate_initial": lambda: itertools.accumulate([1, 2, 3], max, initial=2),
    "accumulate_nothing": lambda: itertools.accumulate([None, 1, None], lambda a, b: b),
    "starmap": lambda: itertools.starmap(pow, [(2, 3), (3, 2), (1, 1)]),
    "filterfalse": lambda: itertools.filterfalse(None, [0, 1, 0, ""]),
    "takewhile": lambda: itertools.takewhile(bool, [1, 2, 0, 3]),
    "dropwhile": lambda: itertools.dropwhile(bool, [1, 0, 3, 4]),
    "compress": lambda: itertools.compress("abcd", [1, 1, 0, 1]),
    "zip_longest": lambda: itertools.zip_longest("abc", [1], (), fillvalue=0),
    "pairwise": lambda: itertools.pairwise("abcd"),
    "groupby": lambda: itertools.groupby([]),
}
if hasattr(itertools, "batched"):
    LEAVING["batched"] = lambda: itertools.batched("abcdefg", 2)


@pytest.mark.parametrize("taken", [0, 1, 2, 6])
@pytest.mark.parametrize("name", LEAVING)
def test_leaves_as_itself(name, taken):
    make = LEAVING[name]

    def program():
        iterator = make()
        given = []
        for _ in range(taken):
            given.append(next(iterator, "end"))
        return given, iterator

    if name == "cycle_done" and taken == 1:
        from frameloom.symbolic.layouts import layout_of
        from tests.rules.evaluate import capture

        inner = capture(program, ()).result.body.items[1].body.iterators[0]
        assert layout_of(inner.cls).is_bound(inner), "a cycle in its first round has no form outside the trace"
    else:
        check(program)


def test_count_leaves_as_itself():
    def program():
        counter = itertools.count(3, 2)
        next(counter)
        return next(counter), itertools.islice(counter, 2)

    check(program)


def test_batches():
    if hasattr(itertools, "batched"):
        check(lambda: (list(itertools.batched("abcde", 2)), list(itertools.batched([], 3))))


COUNTER = itertools.count()


def test_real_ones_break():
    assert "FL502" in breaks(lambda: next(COUNTER))


@pytest.mark.parametrize(
    "make",
    [
        itertools.pairwise,
        enumerate,
        lambda inner: itertools.islice(inner, 4),
        lambda inner: itertools.zip_longest(inner, [1]),
        lambda inner: itertools.accumulate(inner, lambda a, b: (a, b)),
        lambda inner: itertools.chain(inner, inner),
        lambda inner: map(lambda *items: items, inner, [1, 2, 3]),
    ],
    ids=["pairwise", "enumerate", "islice", "zip_longest", "accumulate", "chain", "map"],
)
def test_an_iterator_is_advanced_by_what_it_runs(make):
    class Inner:
        count = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.count += 1
            if self.count > 6:
                raise StopIteration
            return next(outer[0], None) if self.count == 2 else [self.count]

    outer = []

    def program():
        outer[:] = [make(Inner())]
        return list(outer[0])

    stops("FL502", program)
