"""Rows of memory: what was read of a dictionary or class is passed over as long as that has not changed, and no longer."""

import gc
import sys
import weakref
from collections import Counter, OrderedDict, defaultdict

import pytest

from frameloom.native import SKIP, Callable, Engine, Entry, GuardProgram

NUMBERED = sys.version_info < (3, 12)  # the CPythons whose dictionaries have numbers that can be trusted


class Plain:
    pass


def program_of(memory, *rows):
    """LOCAL 0, then the rows, of register 0, behind a row of memory."""
    constants = tuple(value for _, _, value in rows)
    inner = [(name, 0, target, number, number) for number, (name, target, _) in enumerate(rows)]
    length = len(inner) + 1
    return GuardProgram([("LOCAL", 0, 0, 0, 99), (memory, 0, 0, length, 0), *inner, ("HELD", 0, 0, length, 0)], constants)


def of_dict(key="a"):
    return program_of("SAME_DICT", ("HAS_KEY", 0, key), ("NO_KEY", 0, "other"))


def of_attributes():
    return program_of("SAME_ATTRS", ("DICT_ATTR", 1, "a"), ("NO_DICT_ATTR", 0, "other"))


def holds(program, thing):
    return program.check((thing,)) == -1


def settle(program, thing):
    """Evaluate until the program remembers."""
    for _ in range(3):
        assert holds(program, thing)


# ---- every way to write ----

WAYS = {
    "item": lambda d: d.__setitem__("other", 1),
    "update": lambda d: d.update(other=1),
    "update with pairs": lambda d: dict.update(d, [("other", 1)]),
    "or": lambda d: d.__ior__({"other": 1}),
    "default": lambda d: d.setdefault("other", 1),
    "base class": lambda d: dict.__setitem__(d, "other", 1),
    "pop": lambda d: d.pop("a"),
    "delete": lambda d: d.__delitem__("a"),
    "popitem": lambda d: d.popitem(),
    "clear": lambda d: d.clear(),
    "init": lambda d: dict.__init__(d, other=1),
    "many": lambda d: [d.__setitem__(str(i), i) for i in range(100)] and d.__setitem__("other", 1),
}
MAKERS = {
    "dict": lambda: {"a": 1},
    "OrderedDict": lambda: OrderedDict(a=1),
    "defaultdict": lambda: defaultdict(int, a=1),
    "Counter": lambda: Counter(a=1),
    "subclass": lambda: type("Sub", (dict,), {})(a=1),
    "of other keys": lambda: {(1, 2): 2, "a": 1},
    "copy": lambda: {"a": 1}.copy(),
    "attributes": lambda: vars(filled()),
    "keywords": lambda: (lambda **given: given)(a=1),
}


def filled():
    made = Plain()
    made.a = 1
    return made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", MAKERS)
def test_every_way_to_write_a_dictionary_is_seen(kind, way):
    thing = MAKERS[kind]()
    program = of_dict()
    settle(program, thing)
    WAYS[way](thing)
    assert not holds(program, thing)
    assert not holds(program, thing)


def test_a_value_that_is_replaced_is_seen():
    first, second = [1], [1]
    thing = {"a": first, "b": 0}
    program = program_of("SAME_DICT", ("DICT_ITEM", 1, "a"), ("NO_KEY", 0, "other"))
    gathering = GuardProgram(
        [("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, 3, 0), ("DICT_ITEM", 0, 1, 0, 0), ("NO_KEY", 0, 0, 1, 0), ("HELD", 0, 0, 3, 0)],
        ("a", "other"), (1,),
    )
    for value in (first, second, first, second):
        thing["a"] = value
        for _ in range(3):
            assert holds(program, thing)
            assert gathering.gather((thing,))[0] is value


def hot_store(thing, value):
    thing.a = value


ATTRIBUTE_WAYS = {
    "setattr": lambda o: setattr(o, "other", 1),
    "object": lambda o: object.__setattr__(o, "other", 1),
    "vars": lambda o: vars(o).update(other=1),
    "delete": lambda o: delattr(o, "a"),
    "replaced": lambda o: setattr(o, "__dict__", {"other": 1}),
    "dictionary gone": lambda o: o.__dict__.clear(),
    "setstate": lambda o: o.__dict__.__setitem__("other", 1),
}


@pytest.mark.parametrize("way", ATTRIBUTE_WAYS)
@pytest.mark.parametrize("made", [True, False], ids=["with a dictionary", "without"])
def test_every_way_to_write_an_attribute_is_seen(way, made):
    thing = filled()
    if made:
        vars(thing)
    program = of_attributes()
    settle(program, thing)
    ATTRIBUTE_WAYS[way](thing)
    assert not holds(program, thing)


def test_specialised_stores_are_seen():
    """CPython writes attributes and items of hot code by instructions of its own."""
    thing = filled()
    vars(thing)
    program = GuardProgram(
        [("LOCAL", 0, 0, 0, 0), ("SAME_ATTRS", 0, 0, 3, 0), ("DICT_ATTR", 0, 1, 0, 0), ("NO_DICT_ATTR", 0, 0, 1, 0), ("HELD", 0, 0, 3, 0)],
        ("a", "other"), (1,),
    )
    for number in range(300):
        hot_store(thing, [number])
        for _ in range(2):
            assert program.gather((thing,)) == (thing.a,) == ([number],)


class Farewell:
    """Says goodbye, by a finaliser of its own."""

    def __init__(self, says):
        self.says = says

    def __del__(self):
        self.says()


class Box:
    """Dies silently, but for weak references."""


def said_by_finaliser(says):
    return Farewell(says)


def said_by_weak_reference(says):
    box = Box()
    GOODBYES.append(weakref.ref(box, lambda _: says()))
    return box


def said_by_what_it_holds(says):
    return [[Farewell(says)]]


GOODBYES = []


class OwnAttributes(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


def owner_of_a_dictionary():
    made = Plain()
    vars(made)
    return made


@pytest.mark.parametrize("goodbye", [said_by_finaliser, said_by_weak_reference, said_by_what_it_holds])
@pytest.mark.parametrize("make", [owner_of_a_dictionary, OwnAttributes])
@pytest.mark.parametrize("rows", [("SAME_ATTRS", "DICT_ATTR", "NO_DICT_ATTR"), ("SAME_DICT", "DICT_ITEM", "NO_KEY")], ids=["attributes", "dict"])
def test_who_asks_while_the_old_value_dies_finds_the_new_one(rows, make, goodbye):
    """CPython 3.11's specialised store of an attribute lets go of the old value before it gives the dict a new number."""
    memory, step, absent = rows
    thing = make()
    for index in range(40):  # too many for a table that instances share
        setattr(thing, f"filler{index}", index)
    looked_at = thing if memory == "SAME_ATTRS" or type(thing) is OwnAttributes else vars(thing)
    program = GuardProgram(
        [("LOCAL", 0, 0, 0, 0), (memory, 0, 0, 3, 0), (step, 0, 1, 0, 0), (absent, 0, 0, 1, 0), ("HELD", 0, 0, 3, 0)],
        ("a", "other"), (1,),
    )
    told = []

    def says():
        told.append(program.gather((looked_at,))[0] is thing.a)

    for _ in range(100):
        hot_store(thing, goodbye(says))
        program.gather((looked_at,))
        program.gather((looked_at,))
    hot_store(thing, None)
    GOODBYES.clear()
    assert told == [True] * 100


def test_an_ordered_dictionary_as_attributes():
    """Its order is its own: no number tells of `move_to_end`."""
    thing = Plain()
    thing.__dict__ = OrderedDict(a=1, b=2)
    program = program_of("SAME_ATTRS", ("INSTANCE_KEYS", 0, ("a", "b")), ("NO_DICT_ATTR", 0, "other"))
    settle(program, thing)
    vars(thing).move_to_end("a")
    assert not holds(program, thing)


def test_a_key_that_comes_to_compare_otherwise():
    class Name(str):
        pass

    name = Name("a")
    thing = {name: 1}
    program = program_of("SAME_DICT", ("HAS_KEY", 0, "a"), ("NO_KEY", 0, "other"))
    settle(program, thing)
    Name.__eq__ = lambda self, other: False
    Name.__hash__ = str.__hash__
    assert not holds(program, thing)


def test_a_thousand_changes_of_a_class_are_seen():
    class Changing(Plain):
        value = 0

    program = GuardProgram(
        [("LOCAL", 0, 0, 0, 0), ("SAME_TYPE", 0, 0, 3, 0), ("TYPE_ATTR", 0, 1, 0, 0), ("TYPE_ATTR_ABSENT", 0, 0, 1, 0), ("HELD", 0, 0, 3, 0)],
        ("value", "other"), (1,),
    )
    for number in range(1100):
        Changing.value = number
        for _ in range(3):
            assert program.gather((Changing,)) == (number,)
    Changing.other = 1
    assert not holds(program, Changing)
    del Changing.other
    settle(program, Changing)
    Changing.__bases__ = (type("Base", (Plain,), {"other": 1}),)
    assert not holds(program, Changing)


def test_a_change_of_a_base_class_is_seen():
    class Base:
        pass

    class Derived(Base):
        a = 1

    program = program_of("SAME_TYPE", ("TYPE_ATTR", 1, "a"), ("TYPE_ATTR_ABSENT", 0, "other"))
    settle(program, Derived)
    Base.other = 1
    assert not holds(program, Derived)
    del Base.other
    settle(program, Derived)


# ---- what memory does ----


def test_rows_are_passed_over():
    """A row that does not belong there, since its answer can change without the dictionary, shows it."""
    inner = [1]
    thing = {"a": inner}
    program = GuardProgram(
        [("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, 3, 0), ("DICT_ITEM", 0, 1, 0, 0), ("LEN", 1, 0, 1, 7), ("HELD", 0, 0, 3, 0)],
        ("a",),
    )
    settle(program, thing)
    inner.append(2)
    assert program.check((thing,)) == (-1 if NUMBERED else 7)
    thing["b"] = 1
    assert program.check((thing,)) == 7
    inner.pop()
    settle(program, thing)


def test_what_failed_is_not_remembered():
    thing = {"a": 1, "other": 2}
    program = of_dict()
    for _ in range(3):
        assert not holds(program, thing)
    del thing["other"]
    settle(program, thing)


def test_memory_behind_python_code_is_none():
    thing = {"a": [1]}
    rows = [("LOCAL", 0, 0, 0, 0), ("PY_STEP", 0, 1, 0, 1), ("SAME_DICT", 1, 0, 3, 0), ("DICT_ITEM", 1, 2, 1, 0), ("LEN", 2, 0, 1, 7)]
    program = GuardProgram([*rows, ("HELD", 0, 0, 3, 0)], (lambda given: given, "a"))
    assert program.quiet == 1
    settle(program, thing)
    thing["a"].append(2)
    assert program.check((thing,)) == 7


@pytest.mark.parametrize("instructions", [
    [("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, 1, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, 0, 0), ("HELD", 0, 0, 0, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, -1, 0), ("HELD", 0, 0, 1, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, 2, 0), ("HELD", 0, 0, 1, 0)],
    [("LOCAL", 0, 0, 0, 0), ("HELD", 0, 0, 1, 0)],
    [("SAME_DICT", 0, 0, 1, 0), ("HELD", 0, 0, 1, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, 2, 0), ("PY_STEP", 0, 1, 0, 0), ("HELD", 0, 0, 2, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, 3, 0), ("SAME_DICT", 0, 0, 1, 0), ("HELD", 0, 0, 1, 0), ("HELD", 0, 0, 3, 0)],
    [("LOCAL", 0, 0, 0, 0), ("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, 1, 0), ("HELD", 0, 0, 1, 0)],
])
def test_nonsense_is_refused(instructions):
    with pytest.raises(ValueError):
        GuardProgram(instructions, (len,))


# ---- what is gathered ----


def test_gathering():
    value = object()
    thing = {"a": value}
    program = GuardProgram([("LOCAL", 0, 0, 0, 0), ("DICT_ITEM", 0, 1, 0, 5)], ("a",), (1, 0, 1))
    before = sys.getrefcount(value)
    found = program.gather((thing,))
    during = sys.getrefcount(value)
    same = found == (value, thing, value)
    del found
    after = sys.getrefcount(value)
    assert same and (during, after) == (before + 2, before)
    assert program.gather(({},)) is None


def test_the_first_of_what_is_gathered_come_as_one_tuple():
    value, other = object(), object()
    thing = {"a": value, "b": other}
    rows = [("LOCAL", 0, 0, 0, 0), ("DICT_ITEM", 0, 1, 0, 5), ("DICT_ITEM", 0, 2, 1, 5)]
    program = GuardProgram(rows, ("a", "b"), (1, 0, 1, 2), 3)
    before = sys.getrefcount(value)
    found = program.gather((thing,))
    during = sys.getrefcount(value)
    same = found == ((value, thing, value), other)
    del found
    assert same and (during, sys.getrefcount(value)) == (before + 2, before)
    del thing["b"]
    refused = program.gather((thing,))
    assert refused is None and sys.getrefcount(value) == before
    thing["b"] = other
    assert GuardProgram(rows, ("a", "b"), (1, 2), 2).gather((thing,)) == ((value, other),)


@pytest.mark.parametrize("packed", [-1, 2])
def test_no_more_are_packed_than_are_gathered(packed):
    with pytest.raises(ValueError):
        GuardProgram([("LOCAL", 0, 0, 0, 0)], (), (0,), packed)


def test_the_collector_does_not_run_between_the_guards_and_what_they_gather():
    """It might let go of what the guards found and do not own."""

    class Farewell:
        def __del__(self):
            thing.clear()

    thing = {"a": [1]}
    program = GuardProgram([("LOCAL", 0, 0, 0, 0), ("DICT_ITEM", 0, 1, 0, 5)], ("a",), (1,) * 50, 50)
    thresholds = gc.get_threshold()
    try:
        for _ in range(30):
            thing["a"] = [1]
            cycle = Farewell()
            cycle.itself = cycle
            del cycle
            gc.set_threshold(1)
            found = program.gather((thing,))
            gc.set_threshold(*thresholds)
            assert found is None or found[0] == ([1],) * 50
    finally:
        gc.set_threshold(*thresholds)


def test_nothing_is_kept_of_what_was_gathered_where_python_code_says_no():
    value = object()
    thing = [value]
    answers = [False]
    program = GuardProgram(
        [("LOCAL", 0, 0, 0, 0), ("LIST_ITEM", 0, 1, 0, 0), ("PY_CHECK", 1, 0, 0, 3)], (lambda found: answers[0],), (1,)
    )
    before = sys.getrefcount(value)
    refused = program.check((thing,)), program.gather((thing,))
    answers[0] = True
    found = program.gather((thing,))
    given = found == (value,)
    del found
    after = sys.getrefcount(value)
    assert refused == (3, None) and given and after == before


def test_python_code_that_takes_away_what_is_looked_at():
    thing = [[object()]]
    program = GuardProgram(
        [("LOCAL", 0, 0, 0, 0), ("LIST_ITEM", 0, 1, 0, 0), ("PY_CHECK", 0, 0, 0, 3), ("LEN", 1, 0, 1, 4), ("PY_CHECK", 1, 0, 1, 5)],
        (lambda found: found.clear() or True, lambda found: len(found) == 1), (1,),
    )
    assert [len(found) for found in program.gather((thing,))] == [1]


@pytest.mark.parametrize("gather", [(0,), (2,), (-1,), (70000,)])
def test_only_what_is_read_without_python_code_is_gathered(gather):
    with pytest.raises(ValueError):
        GuardProgram([("LOCAL", 0, 1, 0, 0), ("PY_STEP", 1, 2, 0, 0)], (len,), gather)


# ---- entries with inputs ----


def entry_with_inputs(template, guards, local_names, **options):
    code = template.__code__
    inputs = tuple(code.co_varnames.index(name) for name in local_names)
    return Entry(code, guards, inputs=inputs, **options)


def attribute_a():
    return GuardProgram([("LOCAL", 0, 0, 0, 0), ("DICT_ATTR", 0, 1, 0, 1)], ("a",), (1,))


def gives_its_input(thing):
    if 0:
        found = None
    return found


def test_inputs_are_locals_of_the_entry():
    def target(thing):
        return "eager"

    engine = Engine(lambda function, code, arguments, misses: entry_with_inputs(gives_its_input, attribute_a(), ["found"]))
    value = [1]
    thing = filled()
    thing.a = value
    compiled = Callable(target, engine)
    before = sys.getrefcount(value)
    same = [compiled(thing) is value for _ in range(5)]
    after = sys.getrefcount(value)
    assert same == [True] * 5 and after == before


def test_an_entry_whose_guards_do_not_hold_for_the_call_it_was_made_for():
    def target(thing):
        return "eager"

    engine = Engine(lambda function, code, arguments, misses: entry_with_inputs(gives_its_input, attribute_a(), ["found"]))
    assert Callable(target, engine)(Plain()) == "eager"


def needs_room(thing):
    if 0:
        found = a = b = c = d = e = f = None
    return [found, (found, (found, (found, (found, found))))][0]


def test_inputs_where_the_stack_has_no_room():
    """Deep enough that frames come to the end of a chunk, where the entry is called as a function."""
    def target(thing):
        return "eager"

    def compile_(function, code, arguments, misses):
        return entry_with_inputs(needs_room, attribute_a(), ["found"]) if code is target.__code__ else SKIP

    def at_depth(n, thing):
        return at_depth(n - 1, thing) if n else target(thing)

    engine = Engine(compile_)
    compiled = Callable(at_depth, engine)
    value = [1]
    thing = filled()
    thing.a = value
    before = sys.getrefcount(value)
    same = [compiled(depth, thing) is value for depth in range(300)]
    after = sys.getrefcount(value)
    assert all(same) and after == before
    assert engine.counters()["as_function"] > 0


@pytest.mark.parametrize("inputs", [(), (0,), (1, 1), (5,), (-1,), ("found",)])
def test_inputs_that_do_not_fit_are_refused(inputs):
    with pytest.raises((ValueError, TypeError)):
        Entry(gives_its_input.__code__, attribute_a(), inputs=inputs)


def test_a_cell_is_no_input():
    def template(thing):
        if 0:
            found = None
        return lambda: found

    with pytest.raises(ValueError):
        Entry(template.__code__, attribute_a(), inputs=(1,))
