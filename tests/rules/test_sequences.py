"""Random sequences of operations on lists, dictionaries, sets and deques, made by the trace and given to it: results, errors and
the final state, the latter through the replay of the logged operations."""

from __future__ import annotations

from collections import OrderedDict, deque

from hypothesis import given
from hypothesis import strategies as st

from tests.rules.evaluate import Broke, difference, symbolic, told

NUMBER = st.integers(-3, 7).map(str)
ITEM = st.sampled_from(["0", "1", "2", "3", "True", "1.0", "'a'", "'b'", "None", "(1, 2)", "-1", "5"])
ITEMS = st.lists(ITEM, max_size=4)
LISTED = ITEMS.map(lambda items: f"[{', '.join(items)}]")
TUPLED = ITEMS.map(lambda items: f"({''.join(item + ', ' for item in items)})")
BOUND = st.one_of(st.just(""), NUMBER)
SLICE = st.builds(lambda a, b, c: f"{a}:{b}" + (f":{c}" if c else ""), BOUND, BOUND, st.sampled_from(["", "1", "2", "-1", "-2", "0"]))
ITERABLE = st.one_of(LISTED, TUPLED, st.just("a"), ITEMS.map(lambda items: f"iter([{', '.join(items)}])"), st.just("(x for x in (7, 8))"))


def calls(*forms: str, **holes: st.SearchStrategy) -> st.SearchStrategy:
    """One of the forms, its holes filled."""
    used = [(form, {name: hole for name, hole in holes.items() if f"{{{name}}}" in form}) for form in forms]
    return st.one_of([st.fixed_dictionaries(filled).map(lambda values, form=form: form.format(**values)) for form, filled in used])


LIST_STEPS = calls(
    "a.append({x})", "a.extend({it})", "a.insert({n}, {x})", "a.pop()", "a.pop({n})", "a.remove({x})", "a.clear()", "a.reverse()",
    "a.index({x})", "a.count({x})", "{x} in a", "a[{n}]", "a[{s}]", "a.__setitem__({n}, {x})", "a.__setitem__(slice(*({n}, {n})), {it})",
    "a.__delitem__({n})", "len(a)", "a.copy()", "a == {l}", "a < {l}", "a + {l}", "a * 2", "list(a)", "[x for x in a]", "list(reversed(a))",
    "a.sort(key=str)", "a.sort(key=repr, reverse=True)", "sorted(a, key=str)", "a.__iadd__({it})", "a.__imul__(2)", "tuple(a)", "repr(a)",
    "a[:1] == a[1:]", "next(iter(a), 'none')", "any(a)", "dict(enumerate(a))", "[*a, *a][{n}]",
    x=ITEM, it=ITERABLE, n=NUMBER, s=SLICE, l=LISTED,
)
DICT_STEPS = calls(
    "d.__setitem__({x}, {y})", "d.__delitem__({x})", "d[{x}]", "d.get({x}, {y})", "d.pop({x})", "d.pop({x}, {y})", "d.popitem()", "d.setdefault({x}, {y})",
    "d.update({m})", "d.update([({x}, {y})])", "d.clear()", "len(d)", "{x} in d", "list(d)", "list(d.values())", "list(d.items())", "list(reversed(d))", "d.copy()",
    "d == {m}", "d | {m}", "d.__ior__({m})", "sorted(map(repr, d.keys() & {m}.keys()))", "d.keys() == {m}.keys()", "({x}, {y}) in d.items()", "repr(d)",
    "{{**d}}", "dict(d)", "[d[k] for k in d]", "bool(d)", "next(iter(d.items()), None)",
    x=ITEM, y=ITEM, m=st.lists(st.tuples(ITEM, ITEM), max_size=3).map(lambda pairs: "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"),
)
SET_STEPS = calls(
    "s.add({x})", "s.discard({x})", "s.remove({x})", "{x} in s", "len(s)", "s.update({it})", "s.intersection_update({it})", "s.difference_update({it})",
    "s.symmetric_difference_update({l})", "s == set({l})", "s <= set({l})", "s.isdisjoint({it})", "s.issubset({it})", "s.issuperset({it})", "s.clear()",
    "sorted(map(repr, s | set({l})))", "sorted(map(repr, s & set({l})))", "sorted(map(repr, s - set({l})))", "sorted(map(repr, s ^ set({l})))", "s.copy() == s",
    "list(s)", "s.pop()", "[x for x in s.union({it})]", "list(s.intersection({l}))", "repr(s.difference({it}))", "frozenset(s)", "list(set({it}))", "s.__ior__(set({l}))",
    "s.__iand__(set({l}))", "s.__isub__(set({l}))", "set({l}) | s",
    x=ITEM, it=st.one_of(LISTED, TUPLED), l=LISTED,
)
ORDERED_STEPS = st.one_of(DICT_STEPS, calls("d.move_to_end({x})", "d.move_to_end({x}, last=False)", "d.popitem(last=False)", "list(d.items())", x=ITEM))
DEQUE_STEPS = calls(
    "q.append({x})", "q.appendleft({x})", "q.pop()", "q.popleft()", "q.extend({it})", "q.extendleft({it})", "q.rotate({n})", "q.reverse()", "q.insert({n}, {x})", "q[{n}]",
    "q.__setitem__({n}, {x})", "q.__delitem__({n})", "{x} in q", "q.count({x})", "list(q)", "list(reversed(q))", "len(q)", "q.copy()", "q == deque({l})", "repr(q)", "q.clear()",
    "q.__iadd__({l})", "q + deque({l})",
    x=ITEM, it=st.one_of(LISTED, TUPLED), n=NUMBER, l=LISTED,
)


def program(name: str, steps: list[str], start: str | None) -> object:
    """A function that runs the steps one by one and gives what each gave or raised."""
    lines = [f"def program({name if start is None else ''}):", f"    {name} = {start or name}", "    out = []"]
    for step in steps:
        lines += ["    try:", f"        out.append({step})", "    except Exception as error:", "        out.append((type(error), error.args))"]
    lines.append(f"    return out, {name}")
    space: dict = {"deque": deque, "OrderedDict": OrderedDict}
    exec("\n".join(lines), space)
    return space["program"]


def compare(name: str, steps: list[str], start: str, make: object, may_break: tuple[str, ...] = ()) -> None:
    """Run the steps on a container that the trace makes, and on one that it is given."""
    for function, arguments in ((program(name, steps, start), lambda: ()), (program(name, steps, None), lambda: (make(),))):
        first, second = arguments(), arguments()
        expected = told(function, *first), first
        try:
            found = symbolic(function, second), second
        except Broke as broke:
            assert any(code in str(broke) for code in may_break), f"{steps}: {broke}"
            continue
        assert not difference(found, expected), f"{steps}: {difference(found, expected)}"


@given(st.lists(LIST_STEPS, min_size=1, max_size=8))
def test_lists(steps):
    compare("a", steps, "[1, 'a', 2]", lambda: [1, "a", 2])


@given(st.lists(DICT_STEPS, min_size=1, max_size=8))
def test_dictionaries(steps):
    compare("d", steps, "{1: 'one', 'a': 2, None: 3}", lambda: {1: "one", "a": 2, None: 3})


@given(st.lists(ORDERED_STEPS, min_size=1, max_size=8))
def test_ordered_dictionaries(steps):
    def make():
        made = OrderedDict([(1, "one"), ("a", 2), (None, 3)])
        made.move_to_end(1)
        return made

    compare("d", steps, "OrderedDict([('a', 2), (None, 3), (1, 'one')])", make)


@given(st.lists(SET_STEPS, min_size=1, max_size=8))
def test_sets(steps):
    compare("s", steps, "{1, 'a', 2}", lambda: {1, "a", 2}, ("FL501", "FL504"))


@given(st.lists(DEQUE_STEPS, min_size=1, max_size=8))
def test_deques(steps):
    compare("q", steps, "deque([1, 'a', 2])", lambda: deque([1, "a", 2]))
