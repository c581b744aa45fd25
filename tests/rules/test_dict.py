"""Dictionaries, their views and iterators."""

from __future__ import annotations

import pytest

from tests.rules.evaluate import breaks, capture, check, perform


class Key:
    """Hashes and compares by methods of the program."""

    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return self.n % 2

    def __eq__(self, other):
        return isinstance(other, Key) and self.n == other.n


class Filled(dict):
    def __missing__(self, key):
        return f"no {key}"


def items(d):
    d["new"] = 1
    d["a"] = 10
    del d["b"]
    d["b"] = "again"
    return d["a"], d.get("b"), d.get("zz"), d.get("zz", 7), "a" in d, "zz" in d, len(d), list(d), d


def popping(d):
    return d.pop("a"), d.pop("zz", None), d.popitem(), d.setdefault("a", []), d.setdefault("c", 1), d, list(d.items())


def updating(d):
    d.update({"x": 1}, y=2)
    d.update([("p", 1), "qr"])
    d |= {"a": 0}
    e = d | {"z": 1}
    f = dict(d, k=1)
    g = {**d, "h": 2}
    h = d.copy()
    h.clear()
    return d, e, f, g, h, dict.fromkeys("ab", 0), {"m": 1} | d


def viewed(d):
    keys, values, pairs = d.keys(), d.values(), d.items()
    d["late"] = 5
    return (list(keys), list(values), list(pairs), len(keys), "late" in keys, ("late", 5) in pairs, keys & {"a", "q"},
            sorted(keys | {"q"}), keys - {"a"}, sorted(keys ^ {"a", "q"}), keys == {"a", "b", "c", "late"}, keys <= d.keys(),
            list(reversed(d)), list(reversed(pairs)), keys.isdisjoint(["zz"]), max(values) if "b" not in d else 0)


def iterated(d):
    found = []
    for key, value in d.items():
        d[key] = (value, 1)
        found.append(key)
    return found, [*d], {k: v for k, v in d.items()}, next(iter(d)), list(zip(d, d.values()))


def grown_while_iterated(d):
    for key in d:
        d[key + "x"] = 1


def shrunk_while_iterated(d):
    for key in d:
        del d[key]


def faults(d):
    found = []
    for fault in (
        lambda: d["zz"],
        lambda: d.pop("zz"),
        lambda: d.__delitem__("zz"),
        lambda: {}.popitem(),
        lambda: d[[]],
        lambda: d.update(5),
        lambda: d.update([1]),
        lambda: d.update([(1, 2, 3)]),
        lambda: {[]: 1},
        lambda: dict([("a", 1)], **{"b": 2}),
        lambda: d < d,
        lambda: d | 5,
        lambda: [] in d,
    ):
        try:
            found.append(fault())
        except Exception as error:
            found.append((type(error), error.args))
    return found


def compared(d):
    return d == {"c": 3, "b": 2, "a": 1}, d != {}, d == 5, {"a": d} == {"a": dict(d)}, {1: 2} == {True: 2.0}


def with_keys(d):
    e = {Key(1): "one", Key(3): "three"}
    e[Key(1)] = "uno"
    e[(Key(2), 5)] = "pair"
    return e[Key(1)], Key(3) in e, Key(5) in e, len(e), e[(Key(2), 5)], e.get(1), {1: "a", 1.0: "b", True: "c"}


def missing(d):
    f = Filled(d)
    f["own"] = 1
    return f["nothing"], f["own"], f.get("nothing"), f, type(f.copy()), f == f.copy(), f.keys() - {"a"}


def shown(d):
    d["self"] = d
    return repr(d), repr(d.keys())[:9], str({1: [2, {3}]}), f"{ {'a': None} }"


@pytest.mark.parametrize("program", [
    items, popping, updating, viewed, iterated, grown_while_iterated, faults, compared, with_keys, missing, shown,
    shrunk_while_iterated,
], ids=lambda f: f.__name__)
@pytest.mark.parametrize("fresh", [True, False], ids=["made", "given"])
def test_program(program, fresh):
    if fresh:
        def made():
            return program({"a": 1, "b": 2, "c": 3})
        check(made)
    else:
        check(program, {"a": 1, "b": 2, "c": 3})


def test_replaced_keys_break():
    def replaced():
        d = {1: 1, 2: 2}
        for key in d:
            del d[key]
            d[key + 5] = 1

    assert "FL102" in breaks(replaced)


def counts_hashes():
    class Counted:
        hashes = 0

        def __hash__(self):
            Counted.hashes += 1
            return 7

        def __eq__(self, other):
            return self is other

    return Counted, {Counted(): 1, "a": 2}


def test_keys_that_hash_in_python_are_not_hashed_while_tracing():
    cls, given = counts_hashes()
    before = cls.hashes
    trace = capture(lambda d: [v for v in d.values()], (given,))
    assert cls.hashes == before
    assert perform(trace) == [1, 2]


@pytest.mark.parametrize(("program", "given", "expected"), [
    (lambda d: 1 if d else 2, {"a": 1}, ["type(d) is dict", "len(d) >= 1"]),
    (lambda d: 1 if d else 2, {}, ["type(d) is dict", "len(d) == 0"]),
    (lambda d: d["a"], {"a": 1}, ["type(d) is dict", "'a' in d", "d['a'] == 1"]),
    (lambda d: d.get("b"), {"a": 1}, ["type(d) is dict", "'b' not in d"]),
    (lambda d: d.__setitem__("b", 1), {"a": 1}, ["type(d) is dict"]),
    (lambda d: len(d), {"a": 1}, ["type(d) is dict", "len(d) == 1"]),
], ids=["some", "none", "item", "missing", "stored", "length"])
def test_no_more_is_observed_than_the_result_tells(program, given, expected):
    trace = capture(program, (given,))
    guards = [guard for guard in trace.session.guards.values() if guard.source.root().step == "local"]
    assert [str(guard) for guard in guards] == expected


def test_the_length_of_a_large_container_observes_no_more_of_it() -> None:
    def program(d, items):
        d["new"] = 1
        d[0] = "replaced"
        del d[1]
        found = d.get(2), d.get("zz")
        items.append(7)
        return len(d), len(items), found, bool(d)

    counts = set()
    for size in (10, 10_000):
        given = (dict.fromkeys(range(size), 5), list(range(size)))
        trace = capture(program, given)
        counts.add(len(trace.session.guards))
        assert perform(trace)[:2] == (size, size + 1)
    assert len(counts) == 1
