"""Keys with a `__hash__` and `__eq__` written in Python: these run as often as eager runs them, and in its order."""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from tests.rules.running import compared, whole

ASKED: list = []


class Key:
    """Tells what it is asked."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.fails = False

    def __hash__(self) -> int:
        if self.fails:
            raise ValueError("no hash any more")
        ASKED.append(("hash", self.n))
        return self.n % 3

    def __eq__(self, other: object) -> bool:
        ASKED.append(("eq", self.n, getattr(other, "n", other)))
        return self.n == getattr(other, "n", other)


class Fails:
    """A key with the hash of the number 3 that does not let itself be compared."""

    def __hash__(self) -> int:
        return 3

    def __eq__(self, other: object) -> bool:
        raise ValueError("not comparable")


def asked() -> Any:
    found = list(ASKED)
    ASKED.clear()
    return found


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    ASKED.clear()


def keys(*numbers: int) -> list:
    return [Key(n) for n in numbers]


def made() -> Any:
    return {key: key.n for key in keys(1, 4, 7, 1, 2)}, set(keys(1, 4, 2)), frozenset(keys(5, 8)), {3: 0, Key(3): 1, Key(6): 2}


def changed_after() -> Any:
    key = Key(1)
    d, s = {key: 1}, {key}
    key.fails = True
    return d, s


def copied() -> Any:
    d = dict.fromkeys(keys(1, 4, 7))
    return dict(d), d.copy(), {**d}, set(d), dict.fromkeys(set(d)), frozenset(d), Counter(d), d | d, set(d) == set(d), d == dict(d)


def counted() -> Any:
    return Counter(keys(1, 4, 1, 1, 7, 4))


def grouped() -> Any:
    d = defaultdict(list)
    for key in keys(1, 4, 1):
        d[key].append(key.n)
    return d


def nested() -> Any:
    return {(Key(1), "a"): 1, (Key(1), "b"): 2, frozenset(keys(1, 2)): 3}


def joined() -> Any:
    a, b = set(keys(0, 4, 2)), set(keys(4, 5))
    return sorted(k.n for k in a | b), sorted(k.n for k in a & b), sorted(k.n for k in a - b), sorted(k.n for k in a ^ b), a <= a | b


@pytest.mark.parametrize("program", [made, changed_after, copied, counted, grouped, nested], ids=lambda f: f.__name__)
def test_fresh_containers_do_not_ask_again(program: Callable) -> None:
    whole(lambda: shown(program()), state=asked)


def test_operations_of_sets_hash_no_member_again() -> None:
    whole(joined, state=lambda: [question for question in asked() if question[0] == "hash"])


def shown(value: Any) -> Any:
    """Containers as lists, so that looking at them asks no key."""
    if isinstance(value, (dict, OrderedDict)):
        return [(shown(k), shown(v)) for k, v in dict.items(value)]
    if isinstance(value, (set, frozenset)):
        return sorted((shown(member) for member in value), key=repr)
    if isinstance(value, (list, tuple)):
        return [shown(v) for v in value]
    return value.n if type(value) is Key else value


@pytest.mark.parametrize("program", [made, changed_after, copied, counted, nested], ids=lambda f: f.__name__)
def test_made_for_the_caller_without_asking_again(program: Callable) -> None:
    def run() -> Any:
        found = program()
        before = len(ASKED)
        return before, found

    ASKED.clear()
    before, found = run()
    expected = shown(found), before, len(ASKED)
    ASKED.clear()
    call = compiled(run)
    for _ in range(2):
        ASKED.clear()
        before, found = call()
        assert (shown(found), before, len(ASKED)) == expected


def compiled(function: Callable) -> Callable:
    from frameloom.symbolic.domain import Domain
    from tests.differential.compiled import Compiled

    return Compiled(Domain(), replay=True).of(function)


def written(d: dict, s: set) -> Any:
    d[Key(1)] = "new"
    d[Key(4)] = "later"
    d[4] = "as a number"
    del d[Key(2)]
    d.pop(Key(5))
    d.update({Key(8): 8})
    s.add(Key(4))
    s.discard(Key(1))
    s.update(keys(7, 10))
    s -= {Key(7)}
    return Key(1) in d, 4 in d, Key(10) in s, len(d), len(s)


def test_existing_containers_are_asked_as_eager_asks_them() -> None:
    compared(written, (lambda: {Key(1): 1, Key(2): 2, Key(5): 5}, lambda: {Key(1), Key(2)}), 2, asked)


def test_what_existing_containers_keep_is_not_asked_again() -> None:
    def program(d: dict, s: set) -> Any:
        e, t = dict(d), set(s)
        return len(e), len(t), e == d, t == s, [k.n for k in e], sorted(k.n for k in t), t.issubset(s), d.keys() == e.keys()

    makers = (lambda: {Key(1): 1, Key(4): 2}, lambda: {Key(1), Key(4)})
    compared(program, makers, 2, asked)


def test_a_number_is_not_compared_by_the_host_with_a_key_of_its_hash() -> None:
    compared(lambda d: [3 in d, d.get(3)], (lambda: {Fails(): 1},), 2, asked)
    compared(lambda s: 3 in s, (lambda: {Fails()},), 2, asked)
    compared(lambda d: d.setdefault(3, 5), (lambda: {Key(6): 1},), 2, asked)


def test_a_subclass_of_dict_is_iterated_by_its_own_method() -> None:
    class Other(dict):
        def __iter__(self) -> Any:
            return iter("xy")

    whole(lambda d: (sorted(set(d)), sorted({"z"}.union(d)), sorted({"x", "a"}.intersection(d))), lambda: Other(a=1))


# -- lists whose items change them while they are compared ------------------------------------------------------------


def test_lists_that_an_item_empties_while_they_are_compared() -> None:
    class Emptying:
        def __init__(self, others: list) -> None:
            self.others = others

        def __eq__(self, other: object) -> Any:
            self.others.clear()
            return NotImplemented

    def program() -> Any:
        a, b, c = [], [], []
        a.append(Emptying(b))
        b.append(Emptying(a))
        c.append(Emptying(c))
        return a == b, c == [1], c != [1], a, b, c

    whole(program)


# -- ordered dictionaries -----------------------------------------------------------------------------------------------


def iterated(change: Callable) -> Callable:
    def program() -> Any:
        od = OrderedDict.fromkeys("abc")
        it = iter(od)
        found = [next(it)]
        change(od)
        for _ in range(2):
            try:
                found.append(next(it))
            except (RuntimeError, StopIteration) as error:
                found.append((type(error).__name__, error.args))
        return found, list(od)

    return program


@pytest.mark.parametrize("change", [
    lambda od: od.__setitem__("d", 1), lambda od: od.__delitem__("a"), lambda od: od.__delitem__("c"), lambda od: od.move_to_end("a"),
    lambda od: od.move_to_end("c"), lambda od: od.move_to_end("a", last=False), lambda od: od.__setitem__("a", 1), lambda od: od.clear(),
], ids=["add", "delete first", "delete last", "move", "stays last", "stays first", "replace", "clear"])
def test_an_ordered_dictionary_that_changes_while_it_is_iterated(change: Callable) -> None:
    whole(iterated(change))


@pytest.mark.parametrize("kind", [dict, set])
def test_an_iterator_keeps_in_mind_that_its_container_changed(kind: type) -> None:
    def program() -> Any:
        made = kind.fromkeys("ab") if kind is dict else set("a")
        it = iter(made)
        found = []
        made.update({"c": 1})
        for _ in range(2):
            try:
                found.append(next(it))
            except RuntimeError as error:
                found.append(error.args)
            made.pop("c") if kind is dict and "c" in made else made.discard("c") if kind is set else None
        return found

    whole(program)


def test_an_iterator_of_a_changed_dictionary_leaves_the_trace_as_it_is() -> None:
    def program() -> Any:
        d = {"a": 1, "b": 2}
        it = iter(d)
        next(it)
        d["c"] = 3
        return it

    compared(lambda: attempt(lambda it: list(it), program()), (), 2, tuple)
    call = compiled(program)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="dictionary changed size"):
            next(call())


def attempt(function: Callable, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), error.args


BEHIND = {
    "set": lambda od: dict.__setitem__(od, "c", 3),
    "delete": lambda od: dict.__delitem__(od, "a"),
    "pop": lambda od: dict.pop(od, "a"),
    "popitem": lambda od: dict.popitem(od),
    "setdefault": lambda od: dict.setdefault(od, "c", 3),
    "update": lambda od: dict.update(od, c=3),
    "clear": lambda od: dict.clear(od),
}


@pytest.mark.parametrize("name", BEHIND)
@pytest.mark.parametrize("given", [False, True], ids=["fresh", "given"])
def test_methods_of_dict_do_not_see_the_order_of_an_ordered_dictionary(name: str, given: bool) -> None:
    change = BEHIND[name]

    def program(od: Any = None) -> Any:
        od = OrderedDict(a=1, b=2) if od is None else od
        change(od)
        try:
            return observed(od)
        finally:
            OrderedDict.clear(od)

    def observed(od: Any) -> Any:
        return [attempt(f, od) for f in (list, repr, len, lambda od: next(reversed(od)))], list(dict.keys(od))

    compared(program, (lambda: OrderedDict(a=1, b=2),) if given else (), 2, tuple)


def test_the_order_that_dict_sees_is_not_that_of_the_ordered_dictionary() -> None:
    def program() -> Any:
        od = OrderedDict(a=1, b=2)
        od.move_to_end("a")
        return list(od), list(dict.keys(od)), dict.__repr__(od), list(dict.copy(od)), list(dict(od)), {**od}

    compared(program, (), 2, tuple)


def test_an_ordered_dictionary_asks_its_keys_again_and_again() -> None:
    def program(given: OrderedDict) -> Any:
        od = OrderedDict((key, key.n) for key in keys(1, 4))
        od.move_to_end(next(iter(od)))
        return [key.n for key in od], [key.n for key in given], list(od.values())

    compared(program, (lambda: OrderedDict((key, 0) for key in keys(1, 4)),), 2, asked)


def test_copies_are_equal() -> None:
    assert shown(copy.deepcopy(made())) == shown(made())


class Five:
    """A `__hash__` that is an object of no hash itself, as those of other languages' classes are."""

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, *args: Any) -> int:
        return 5


class HashedByObject:
    __hash__ = Five()  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashedByObject)


HASHED_BY_OBJECT = HashedByObject()


def test_a_hash_that_is_an_object_without_one() -> None:
    def program() -> Any:
        return {HASHED_BY_OBJECT: 1}[HASHED_BY_OBJECT], dict.fromkeys([HASHED_BY_OBJECT], 2).get(HASHED_BY_OBJECT), hash(HASHED_BY_OBJECT)

    compared(program, (), 2, tuple)
