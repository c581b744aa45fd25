"""Snapshots: a program that passes over rows whose words did not change says what one says that reads everything every time."""

import collections
import ctypes
import gc
import sys
import threading
import types
import weakref

import pytest

from frameloom.native import GuardProgram

TOLD_BY_WORDS = sys.version_info < (3, 12)  # the CPythons where words tell enough
TAKEN_BY = 3  # evaluations
OFTEN = 12  # uses of a snapshot that make it worth another one at once


class Plain:
    pass


class Other(Plain):
    pass


class Slotted:
    __slots__ = ("a", "b")


def program_of(rows, constants, gather, whole=True):
    """LOCAL 0, then the rows with a snapshot over them, or without."""
    inner = [("LOCAL", 0, 0, 0, 99)]
    length = len(rows) + 1
    inner += [("SNAPSHOT", 0, 0, length, 0), *rows, ("TAKEN", 0, 0, length, 0)] if whole else rows
    return GuardProgram(inner, constants, gather)


class Pair:
    """The same rows with a snapshot and without, which must say the same."""

    def __init__(self, *rows):
        """Each row is (name, source, target, constant or index)."""
        constants, written, gather = [], [], [0]
        for number, (name, source, target, operand) in enumerate(rows):
            if name in INDEXED:
                written.append((name, source, target, operand, number))
            else:
                constants.append(operand)
                written.append((name, source, target, len(constants) - 1, number))
            if target:
                gather.append(target)
        self.constants = tuple(constants)
        self.told = program_of(written, self.constants, tuple(gather))
        self.read = program_of(written, self.constants, tuple(gather), whole=False)

    def agree(self, thing):
        """What both say: whether the rows hold."""
        expected, found = self.read.gather((thing,)), self.told.gather((thing,))
        assert (expected is None) == (found is None)
        assert expected is None or all(one is other for one, other in zip(expected, found))
        assert self.told.check((thing,)) == self.read.check((thing,))
        return expected is not None

    def settle(self, thing):
        for _ in range(TAKEN_BY):
            assert self.agree(thing)

    @property
    def uses(self):
        return self.told.snapshots[0][2]

    @property
    def refused(self):
        return self.told.snapshots[0][3]


INDEXED = {
    "LEN", "LEN_AT_LEAST", "LIST_ITEM", "TUPLE_ITEM", "CONTENTS", "TYPE_OF", "FUNC_CODE", "FUNC_DEFAULTS", "FUNC_KWDEFAULTS",
    "FUNC_CLOSURE", "FUNC_GLOBALS", "FUNC_NAME", "FUNC_QUALNAME", "METHOD_FUNC", "METHOD_SELF", "CELL_EMPTY",
    "FUNC_ANNOTATIONS", "TYPE_DICT", "TYPE_QUALNAME", "PLAIN_ATTRS",
}


def assert_seen(pair, make, change, holds=None):
    """Settle on a thing, change it, and change it again when all is settled anew."""
    thing = make()
    pair.settle(thing)
    before = pair.uses
    pair.settle(thing)
    assert pair.uses > before if TOLD_BY_WORDS else pair.uses == 0
    change(thing)
    for _ in range(2 * TAKEN_BY):
        result = pair.agree(thing)
        assert holds is None or result is holds


# ---- attributes ----

api = ctypes.pythonapi
for function in (api.PyDict_SetItem, api.PyObject_GenericSetAttr):
    function.argtypes = [ctypes.py_object] * 3
api.PyDict_DelItem.argtypes = [ctypes.py_object] * 2
api.PyDict_Clear.argtypes = [ctypes.py_object]
api.PyDict_Merge.argtypes = [ctypes.py_object, ctypes.py_object, ctypes.c_int]

WAYS_TO_SET = {
    "setattr": lambda o, k, v: setattr(o, k, v),
    "object": lambda o, k, v: object.__setattr__(o, k, v),
    "generic": lambda o, k, v: api.PyObject_GenericSetAttr(o, k, v),
    "item": lambda o, k, v: o.__dict__.__setitem__(k, v),
    "C item": lambda o, k, v: api.PyDict_SetItem(o.__dict__, k, v),
    "update": lambda o, k, v: o.__dict__.update({k: v}),
    "merge": lambda o, k, v: api.PyDict_Merge(o.__dict__, {k: v}, 1),
    "or": lambda o, k, v: o.__dict__.__ior__({k: v}),
    "pop and set": lambda o, k, v: (o.__dict__.pop(k, None), o.__dict__.setdefault(k, v)),
    "dictionary": lambda o, k, v: setattr(o, "__dict__", {**o.__dict__, k: v}),
    "exec": lambda o, k, v: exec(f"o.{k} = v", {"o": o, "v": v}),
}
WAYS_TO_DELETE = {
    "delattr": lambda o: delattr(o, "a"),
    "object": lambda o: object.__delattr__(o, "a"),
    "item": lambda o: o.__dict__.__delitem__("a"),
    "C item": lambda o: api.PyDict_DelItem(o.__dict__, "a"),
    "pop": lambda o: o.__dict__.pop("a"),
    "popitem": lambda o: [o.__dict__.popitem() for _ in range(len(o.__dict__))],
    "clear": lambda o: o.__dict__.clear(),
    "C clear": lambda o: api.PyDict_Clear(o.__dict__),
    "dictionary": lambda o: setattr(o, "__dict__", {}),
    "no dictionary": lambda o: delattr(o, "__dict__"),
    "init": lambda o: (o.__dict__.clear(), o.__dict__.__init__(b=1)),
}


def with_values(count=3):
    made = Plain()
    for name in ("a", "b", *[f"more{i}" for i in range(count)]):
        setattr(made, name, 12345 + count)
    made.a = 1000
    return made


def with_many_values():
    return with_values(12)


def with_dictionary():
    made = with_values()
    vars(made)
    return made


def with_table_of_its_own():
    made = Plain()
    vars(made).update(with_values(40).__dict__)
    return made


def with_dictionary_from_elsewhere():
    made = Plain()
    made.__dict__ = {"a": 1000, "b": 2, 3: 4}
    return made


MAKERS = [with_values, with_many_values, with_dictionary, with_table_of_its_own, with_dictionary_from_elsewhere]


def attribute_rows():
    return Pair(
        ("TYPE_IS_WEAK", 0, 0, weakref.ref(Plain)), ("DICT_ATTR", 0, 1, "a"), ("EQ_INT", 1, 0, 1000), ("NO_DICT_ATTR", 0, 0, "other"),
        ("DICT_ATTR", 0, 2, "b"),
    )


@pytest.mark.parametrize("way", WAYS_TO_SET)
@pytest.mark.parametrize("make", MAKERS)
def test_attributes_that_are_set(make, way):
    for name, value, holds in (("a", 1001, False), ("a", int("1000"), True), ("other", 1, False), ("b", [1], True), ("c", 1, True)):
        assert_seen(attribute_rows(), make, lambda thing: WAYS_TO_SET[way](thing, name, value), holds)


@pytest.mark.parametrize("way", WAYS_TO_DELETE)
@pytest.mark.parametrize("make", MAKERS)
def test_attributes_that_are_deleted(make, way):
    assert_seen(attribute_rows(), make, WAYS_TO_DELETE[way], False)


@pytest.mark.parametrize("make", MAKERS)
def test_a_class_that_is_assigned(make):
    assert_seen(attribute_rows(), make, lambda thing: setattr(thing, "__class__", Other), False)


@pytest.mark.parametrize("make", [with_values, with_many_values, with_dictionary, with_table_of_its_own])
def test_the_order_of_attributes(make):
    names = tuple(vars(make()))
    pair = Pair(("TYPE_IS", 0, 0, Plain), ("INSTANCE_KEYS", 0, 0, names), ("DICT_ATTR", 0, 1, "a"), ("NO_DICT_ATTR", 0, 0, "other"))

    def again(thing):
        for name in names[-3:-1]:
            value = getattr(thing, name)
            delattr(thing, name)
            setattr(thing, name, value)

    assert_seen(pair, make, again, False)


def test_objects_that_have_no_attributes_yet():
    pair = Pair(("TYPE_IS", 0, 0, Plain), ("NO_DICT_ATTR", 0, 0, "a"), ("NO_DICT_ATTR", 0, 0, "b"), ("TYPE_OF", 0, 1, 0))
    for way in WAYS_TO_SET.values():
        assert_seen(pair, Plain, lambda thing: way(thing, "b", 1), False)
        assert_seen(pair, Plain, lambda thing: way(thing, "c", 1), True)


def test_functions_have_attributes():
    pair = Pair(("TYPE_IS", 0, 0, types.FunctionType), ("NO_DICT_ATTR", 0, 0, "a"), ("FUNC_CODE", 0, 1, 0), ("FUNC_DEFAULTS", 0, 2, 0))
    assert_seen(pair, lambda: eval("lambda: 0"), lambda function: setattr(function, "a", 1), False)


def test_an_ordered_dictionary_as_attributes_is_not_told_by_words():
    pair = Pair(("TYPE_IS", 0, 0, Plain), ("INSTANCE_KEYS", 0, 0, ("a", "b")), ("DICT_ATTR", 0, 1, "a"), ("DICT_ATTR", 0, 2, "b"))
    thing = Plain()
    thing.__dict__ = collections.OrderedDict(a=1, b=2)
    pair.settle(thing)
    assert pair.uses == 0
    thing.__dict__.move_to_end("a")
    assert not pair.agree(thing)


# ---- containers ----

DICT_WAYS = {
    "item": lambda d: d.__setitem__("a", 1001),
    "update": lambda d: d.update(a=1001),
    "or": lambda d: d.__ior__({"a": 1001}),
    "default": lambda d: d.setdefault("other", 1),
    "pop": lambda d: d.pop("a"),
    "delete": lambda d: d.__delitem__("a"),
    "popitem": lambda d: d.popitem(),
    "clear": lambda d: d.clear(),
    "base class": lambda d: dict.__setitem__(d, "a", 1001),
    "C": lambda d: api.PyDict_SetItem(d, "a", 1001),
    "many": lambda d: d.update({str(i): i for i in range(100)} | {"other": 1}),
}
DICT_MAKERS = {
    "dict": lambda: {"a": 1000, "b": {}},
    "of other keys": lambda: {(1, "x"): 2, "a": 1000, 7: 1, "b": {}},
    "OrderedDict": lambda: collections.OrderedDict(a=1000, b={}),
    "defaultdict": lambda: collections.defaultdict(int, a=1000, b={}),
    "subclass": lambda: type("Sub", (dict,), {})(a=1000, b={}),
}


@pytest.mark.parametrize("way", DICT_WAYS)
@pytest.mark.parametrize("kind", DICT_MAKERS)
def test_dictionaries(kind, way):
    pair = Pair(
        ("DICT_ITEM", 0, 1, "a"), ("EQ_INT", 1, 0, 1000), ("NO_KEY", 0, 0, "other"), ("DICT_ITEM", 0, 2, "b"), ("TYPE_IS", 2, 0, dict), ("LEN", 2, 0, 0),
    )
    assert_seen(pair, DICT_MAKERS[kind], DICT_WAYS[way], False)
    assert_seen(pair, DICT_MAKERS[kind], lambda thing: thing["b"].update(x=1), False)


def test_keys_that_python_code_compares_are_not_told_by_words():
    class Name(str):
        pass

    thing = {Name("a"): 1000}
    pair = Pair(("DICT_ITEM", 0, 1, "a"), ("EQ_INT", 1, 0, 1000), ("NO_KEY", 0, 0, "other"), ("LEN", 0, 0, 1))
    pair.settle(thing)
    assert pair.uses == 0
    Name.__eq__ = lambda self, other: False
    Name.__hash__ = str.__hash__
    assert not pair.agree(thing)


LIST_WAYS = {
    "item": lambda x: x.__setitem__(0, 1001), "slice": lambda x: x.__setitem__(slice(0, 1), [1001]), "pop": lambda x: x.pop(0),
    "insert": lambda x: x.insert(0, 5), "clear": lambda x: x.clear(), "reverse": lambda x: x.reverse(), "append": lambda x: x.append(1),
    "more": lambda x: x.extend(range(1000)), "sort": lambda x: x.sort(), "times": lambda x: x.__imul__(0), "delete": lambda x: x.__delitem__(0),
}


@pytest.mark.parametrize("way", LIST_WAYS)
@pytest.mark.parametrize("cls", [list, type("Sub", (list,), {})])
def test_lists(cls, way):
    pair = Pair(("TYPE_IS", 0, 0, cls), ("LEN", 0, 0, 3), ("LIST_ITEM", 0, 1, 0), ("EQ_INT", 1, 0, 1000), ("LIST_ITEM", 0, 2, -1), ("LEN_AT_LEAST", 0, 0, 2))
    assert_seen(pair, lambda: cls([1000, 2, 3]), LIST_WAYS[way], False)


def test_a_number_in_the_place_of_another():
    """An int that dies leaves its address to the next: the pointer in the list may be the same."""
    pair = Pair(("TYPE_IS", 0, 0, list), ("LEN", 0, 0, 1), ("LIST_ITEM", 0, 1, 0), ("EQ_INT", 1, 0, 100000))
    thing = [int("100000")]
    pair.settle(thing)
    for number in range(300):
        del thing[:]
        thing.append(int("100000") + number % 2)
        assert pair.agree(thing) is (number % 2 == 0)


@pytest.mark.parametrize("make", [with_values, with_dictionary])
def test_an_object_in_the_place_of_another(make):
    pair = Pair(
        ("LEN", 0, 0, 1), ("LIST_ITEM", 0, 1, 0), ("TYPE_IS_WEAK", 1, 0, weakref.ref(Plain)), ("DICT_ATTR", 1, 2, "a"), ("EQ_INT", 2, 0, 1000),
    )
    thing = [make()]
    pair.settle(thing)
    for number in range(200):
        del thing[:]
        thing.append(make())
        thing[0].a = int("1000") + number % 2
        assert pair.agree(thing) is (number % 2 == 0)
        assert pair.agree(thing) is (number % 2 == 0)


def test_a_tuple_in_the_place_of_another():
    pair = Pair(("LEN", 0, 0, 2), ("TUPLE_ITEM", 0, 1, 0), ("EQ_STR", 1, 0, "first one"), ("TUPLE_ITEM", 0, 2, 1), ("LEN", 2, 0, 2))
    for number in range(200):
        thing = ("first " + ("one" if number % 3 else "two"), (number, number))
        assert pair.agree(thing) is (number % 3 > 0)
        del thing
        gc.collect(0) if number % 50 == 0 else None


def test_sets_have_lengths():
    pair = Pair(("TYPE_IS", 0, 0, set), ("LEN", 0, 0, 1), ("LEN_AT_LEAST", 0, 0, 1), ("IS_NOT", 0, 0, None))
    assert_seen(pair, lambda: {1}, lambda thing: thing.add(2), False)
    assert_seen(pair, lambda: {1}, lambda thing: thing.clear(), False)


@pytest.mark.parametrize("make", [lambda: bytearray(b"ab"), lambda: collections.deque([1, 2])])
def test_other_things_have_lengths(make):
    pair = Pair(("LEN", 0, 0, 2), ("LEN_AT_LEAST", 0, 0, 1), ("IS_NOT", 0, 0, None), ("TYPE_OF", 0, 1, 0))
    assert_seen(pair, make, lambda thing: thing.pop(), False)


# ---- functions, cells, methods, slots ----


def function_of(first=1000, *, second=5):
    return first, second


def make_function():
    kept = [1000]

    def made(first=1000, *, second=5):
        return kept, first, second

    return made


def swap_defaults(function):
    function.__defaults__ = (1001,)


FUNCTION_WAYS = {
    "code": lambda f: setattr(f, "__code__", make_function().__code__.replace(co_name="other")),
    "defaults": swap_defaults,
    "no defaults": lambda f: setattr(f, "__defaults__", None),
    "keyword defaults": lambda f: setattr(f, "__kwdefaults__", {"second": 6}),
    "a keyword default": lambda f: f.__kwdefaults__.update(second=6),
    "cell": lambda f: setattr(f.__closure__[0], "cell_contents", [1001]),
    "no cell": lambda f: delattr(f.__closure__[0], "cell_contents"),
    "in the cell": lambda f: f.__closure__[0].cell_contents.append(1),
    "name": lambda f: setattr(f, "__name__", "renamed"),
    "qualified name": lambda f: setattr(f, "__qualname__", "renamed"),
}


@pytest.mark.parametrize("way", FUNCTION_WAYS)
def test_functions(way):
    code = make_function().__code__
    pair = Pair(
        ("TYPE_IS", 0, 0, types.FunctionType), ("FUNC_CODE", 0, 1, 0), ("IS_WEAK", 1, 0, weakref.ref(code)), ("FUNC_DEFAULTS", 0, 2, 0),
        ("LEN", 2, 0, 1), ("TUPLE_ITEM", 2, 3, 0), ("EQ_INT", 3, 0, 1000), ("FUNC_KWDEFAULTS", 0, 4, 0), ("DICT_ITEM", 4, 5, "second"),
        ("EQ_INT", 5, 0, 5), ("FUNC_CLOSURE", 0, 6, 0), ("TUPLE_ITEM", 6, 7, 0), ("CONTENTS", 7, 8, 0), ("LIST_ITEM", 8, 9, 0),
        ("EQ_INT", 9, 0, 1000), ("LEN", 8, 0, 1), ("FUNC_NAME", 0, 10, 0), ("EQ_STR", 10, 0, "made"), ("FUNC_QUALNAME", 0, 11, 0),
        ("EQ_STR", 11, 0, "make_function.<locals>.made"), ("FUNC_GLOBALS", 0, 12, 0), ("IS", 12, 0, globals()),
    )
    assert_seen(pair, make_function, FUNCTION_WAYS[way], False)


ANNOTATION_WAYS = {
    "an annotation": lambda f: f.__annotations__.update(value=str),
    "annotations": lambda f: setattr(f, "__annotations__", {"value": str}),
    "one more": lambda f: f.__annotations__.update(other=int),
    "none": lambda f: delattr(f, "__annotations__"),
}


@pytest.mark.parametrize("way", ANNOTATION_WAYS)
def test_annotations(way):
    def make():
        def made(value: int):
            return value

        assert made.__annotations__
        return made

    pair = Pair(
        ("TYPE_IS", 0, 0, types.FunctionType), ("FUNC_ANNOTATIONS", 0, 1, 0), ("TYPE_IS", 1, 0, dict), ("LEN", 1, 0, 1),
        ("DICT_ITEM", 1, 2, "value"), ("IS", 2, 0, make().__annotations__["value"]),
    )
    assert_seen(pair, make, ANNOTATION_WAYS[way], False)


NAME_WAYS = {
    "module": lambda cls: setattr(cls, "__module__", "elsewhere"),
    "no module": lambda cls: setattr(cls, "__module__", 5),
    "qualified name": lambda cls: setattr(cls, "__qualname__", "Renamed"),
}


@pytest.mark.parametrize("way", NAME_WAYS)
def test_names_of_classes(way):
    pair = Pair(
        ("TYPE_IS", 0, 0, type), ("TYPE_DICT", 0, 1, 0), ("DICT_ITEM", 1, 2, "__module__"), ("EQ_STR", 2, 0, __name__),
        ("TYPE_QUALNAME", 0, 3, 0), ("EQ_STR", 3, 0, "Made"),
    )
    assert_seen(pair, lambda: type("Made", (), {"__module__": __name__}), NAME_WAYS[way], False)


class Names(dict):
    pass


PLAIN_WAYS = {
    "dictionary": lambda o: setattr(o, "__dict__", Names(a=1)),
    "class": lambda o: setattr(o, "__class__", type("Other", (type(o),), {"__dict__": property(lambda self: {})})),
}


@pytest.mark.parametrize("has_dictionary", [False, True])
@pytest.mark.parametrize("way", PLAIN_WAYS)
def test_what_an_instance_says_its_dictionary_is(way, has_dictionary):
    def make():
        made = type("Derived", (type("Base", (), {}),), {})()
        made.a = 1000
        assert not has_dictionary or made.__dict__
        return made

    assert_seen(Pair(("PLAIN_ATTRS", 0, 0, 0), ("IS_NOT", 0, 0, None)), make, PLAIN_WAYS[way], False)


def test_cells():
    pair = Pair(("TYPE_IS", 0, 0, types.CellType), ("CELL_EMPTY", 0, 0, 0), ("IS_NOT", 0, 0, None), ("TYPE_OF", 0, 1, 0))
    assert_seen(pair, types.CellType, lambda cell: setattr(cell, "cell_contents", 1), False)


def test_methods():
    pair = Pair(
        ("TYPE_IS", 0, 0, types.MethodType), ("METHOD_FUNC", 0, 1, 0), ("IS", 1, 0, function_of), ("METHOD_SELF", 0, 2, 0),
        ("DICT_ATTR", 2, 3, "a"), ("EQ_INT", 3, 0, 1000),
    )
    assert_seen(pair, lambda: types.MethodType(function_of, with_dictionary()), lambda method: setattr(method.__self__, "a", 1), False)
    for number in range(100):
        thing = with_dictionary()
        thing.a += number % 2
        assert pair.agree(types.MethodType(function_of, thing)) is (number % 2 == 0)


def test_slots():
    def make():
        made = Slotted()
        made.a = 1000
        return made

    slots = Slotted.__dict__
    pair = Pair(("TYPE_IS_WEAK", 0, 0, weakref.ref(Slotted)), ("SLOT", 0, 1, slots["a"]), ("EQ_INT", 1, 0, 1000), ("SLOT_EMPTY", 0, 0, slots["b"]))
    assert_seen(pair, make, lambda thing: setattr(thing, "a", 1001), False)
    assert_seen(pair, make, lambda thing: delattr(thing, "a"), False)
    assert_seen(pair, make, lambda thing: setattr(thing, "b", 1), False)


# ---- classes ----


def make_class():
    base = type("Base", (Plain,), {"b": 2})
    return type("Derived", (base,), {"a": [1000]})


CLASS_WAYS = {
    "attribute": lambda cls: setattr(cls, "a", [1000]),
    "deleted": lambda cls: delattr(cls, "a"),
    "new": lambda cls: setattr(cls, "other", 1),
    "of the base": lambda cls: setattr(cls.__bases__[0], "b", 3),
    "new of the base": lambda cls: setattr(cls.__bases__[0], "other", 3),
    "bases": lambda cls: setattr(cls, "__bases__", (Plain,)),
    "inside": lambda cls: cls.a.append(1),
    "type": lambda cls: type.__setattr__(cls, "a", 5),
}


@pytest.mark.parametrize("way", CLASS_WAYS)
def test_classes(way):
    def make():
        made = make_class()
        made.a  # gives it a number
        return made

    pair = Pair(
        ("TYPE_IS", 0, 0, type), ("TYPE_ATTR", 0, 1, "a"), ("LEN", 1, 0, 1), ("LIST_ITEM", 1, 2, 0), ("EQ_INT", 2, 0, 1000),
        ("TYPE_ATTR", 0, 3, "b"), ("EQ_INT", 3, 0, 2), ("TYPE_ATTR_ABSENT", 0, 0, "other"),
    )
    assert_seen(pair, make, CLASS_WAYS[way], way == "attribute")


@pytest.fixture
def small_heap():
    """What exists already is left out of collections, of which a test makes many."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("small_heap")
def test_a_class_in_the_place_of_another():
    def make(value):
        made = type("Made", (), {"a": value, "b": 2})
        made.a
        return made

    pair = Pair(("TYPE_ATTR", 0, 1, "a"), ("EQ_INT", 1, 0, 1000), ("TYPE_ATTR", 0, 2, "b"), ("TYPE_ATTR_ABSENT", 0, 0, "c"))
    for number in range(60):
        made = make(1000 + number % 2)
        assert pair.agree(made) is (number % 2 == 0)
        assert pair.agree(made) is (number % 2 == 0)
        del made
        gc.collect()


def test_what_is_held_weakly_dies():
    known = Plain()
    thing = [known]
    pair = Pair(("LEN", 0, 0, 1), ("LIST_ITEM", 0, 1, 0), ("IS_WEAK", 1, 0, weakref.ref(known)), ("CONST_WEAK", 0, 2, weakref.ref(known)))
    del known
    pair.settle(thing)
    before = pair.uses
    pair.settle(thing)
    assert pair.uses > before or not TOLD_BY_WORDS
    for _ in range(50):
        del thing[:]
        thing.append(Plain())
        assert not pair.agree(thing)


@pytest.mark.usefixtures("small_heap")
def test_a_class_that_dies():
    made = type("Made", (), {})
    thing = [made()]
    pair = Pair(("LEN", 0, 0, 1), ("LIST_ITEM", 0, 1, 0), ("TYPE_IS_WEAK", 1, 0, weakref.ref(made)), ("TYPE_OF", 1, 2, 0))
    pair.settle(thing)
    pair.settle(thing)
    for _ in range(20):
        del thing[:]
        del made
        gc.collect()
        made = type("Made", (), {})
        thing.append(made())
        assert not pair.agree(thing)


# ---- the snapshot itself ----


def tree_rows():
    return Pair(
        ("DICT_ATTR", 0, 1, "table"), ("DICT_ITEM", 1, 2, "one"), ("DICT_ATTR", 2, 3, "a"), ("EQ_INT", 3, 0, 1000), ("DICT_ATTR", 2, 4, "b"),
    )


def make_tree(a=1000):
    tree = Plain()
    tree.table = {"one": with_dictionary()}
    tree.table["one"].a = a
    vars(tree)
    return tree


def test_two_trees_take_turns():
    one, other, wrong = make_tree(), make_tree(), make_tree(1001)
    pair = tree_rows()
    pair.settle(one)
    for _ in range(30):
        for tree, holds in ((one, True), (other, True), (wrong, False), (one, True), (one, True)):
            assert pair.agree(tree) is holds


def test_a_tree_that_changes_often_is_read_and_settles_again():
    tree, pair = make_tree(), tree_rows()
    for number in range(200):
        tree.table["one"].b = [number]
        assert pair.agree(tree)
    for _ in range(20000):
        pair.told.check((tree,))
    before = pair.uses
    assert pair.agree(tree)
    assert pair.uses > before or not TOLD_BY_WORDS


def test_a_table_that_dies_while_it_is_looked_at():
    class Farewell:
        def __del__(self):
            told.append(pair.agree(tree))

    told = []
    tree, pair = make_tree(), tree_rows()
    for _ in range(50):
        hot_store(tree.table["one"], Farewell())
        for _ in range(TAKEN_BY):
            assert pair.agree(tree)
    tree.table["one"].b = None
    assert told == [True] * 50


def hot_store(thing, value):
    thing.b = value


@pytest.mark.parametrize("goodbye", ["finaliser", "weak reference"])
def test_who_asks_while_the_old_value_dies(goodbye):
    """CPython 3.11's specialised store of an attribute lets go of the old value before it gives the dict a new number."""
    kept = []

    class Farewell:
        pass

    def says():
        told.append(pair.agree(tree))

    def made():
        value = Farewell()
        kept.append(weakref.ref(value, lambda _: says()))
        return value

    class Speaking(Farewell):
        def __del__(self):
            says()

    told = []
    tree, pair = make_tree(), tree_rows()
    for index in range(40):  # too many for a table that instances share
        setattr(tree.table["one"], f"filler{index}", index)
    for _ in range(100):
        hot_store(tree.table["one"], Speaking() if goodbye == "finaliser" else made())
        for _ in range(TAKEN_BY):
            assert pair.agree(tree)
    hot_store(tree.table["one"], None)
    assert told == [True] * 100


NAMES = [sys.intern(f"part{number}") for number in range(24)]  # a hot store finds names by identity


class Parted:
    """Has a dictionary of its own, with so many values that their words are left out where nobody is storing."""

    def __init__(self):
        for name in NAMES:
            self.__dict__[name] = [name]
        for number in range(40):  # too many for a table that instances share
            self.__dict__[f"filler{number}"] = number


def parted_rows():
    return Pair(*[("DICT_ATTR", 0, number + 1, name) for number, name in enumerate(NAMES)])


def hot_store_of_part(thing, value):
    thing.part7 = value


def called_by_python(says):
    return (lambda: says())()


def called_by_c(says):
    return list(map(lambda _: says(), [0]))[0]


def called_deep(says, depth=100):
    return says() if depth == 0 else called_by_c(lambda: called_deep(says, depth - 1))


def called_by_another_thread(says):
    thread = threading.Thread(target=says)
    thread.start()
    thread.join()


@pytest.mark.parametrize("calls", [called_by_python, called_by_c, called_deep, called_by_another_thread])
def test_who_asks_while_one_of_many_values_dies(calls):
    """The words of what was found in a table are left out, but not while a store may be under way, wherever that stands."""

    class Farewell:
        def __del__(self):
            calls(lambda: told.append(pair.agree(thing)))

    told = []
    thing, pair = Parted(), parted_rows()
    for _ in range(60):
        hot_store_of_part(thing, Farewell())
        before = pair.uses
        for _ in range(OFTEN):
            assert pair.agree(thing)
        assert pair.uses > before or not TOLD_BY_WORDS
    hot_store_of_part(thing, None)
    assert told == [True] * 60


def test_references_do_not_change():
    tree, pair = make_tree(), tree_rows()
    pair.settle(tree)
    inner = tree.table["one"].b = [1]
    before = sys.getrefcount(inner), sys.getrefcount(tree), sys.getrefcount(tree.table)
    for _ in range(100):
        pair.told.gather((tree,))
        pair.told.check((tree,))
    assert (sys.getrefcount(inner), sys.getrefcount(tree), sys.getrefcount(tree.table)) == before


def test_a_tree_is_not_kept_alive():
    tree, pair = make_tree(), tree_rows()
    pair.settle(tree)
    gone = weakref.ref(tree), weakref.ref(tree.table["one"])
    del tree
    assert gone[0]() is None and gone[1]() is None
    pair.settle(make_tree())


def test_memory_within_a_snapshot():
    rows = [
        ("LOCAL", 0, 0, 0, 0), ("SNAPSHOT", 0, 0, 6, 0), ("SAME_DICT", 0, 0, 3, 0), ("DICT_ITEM", 0, 1, 0, 1), ("LEN", 1, 0, 1, 2),
        ("HELD", 0, 0, 3, 0), ("LEN", 0, 0, 1, 3), ("TAKEN", 0, 0, 6, 0),
    ]
    program = GuardProgram(rows, ("a",), (1,))
    thing = {"a": (1,)}
    for _ in range(5):
        assert program.gather((thing,)) == ((1,),)
    thing["a"] = (1, 2)
    assert program.check((thing,)) == 2
    thing["a"] = (2,)
    for _ in range(5):
        assert program.gather((thing,)) == ((2,),)


@pytest.mark.parametrize("instructions", [
    [("LOCAL", 0, 0, 0, 0), ("SNAPSHOT", 0, 0, 1, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SNAPSHOT", 0, 0, 1, 0), ("HELD", 0, 0, 1, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, 1, 0), ("TAKEN", 0, 0, 1, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SNAPSHOT", 0, 0, 2, 0), ("PY_STEP", 0, 1, 0, 0), ("TAKEN", 0, 0, 2, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SNAPSHOT", 0, 0, 3, 0), ("SNAPSHOT", 0, 0, 1, 0), ("TAKEN", 0, 0, 1, 0), ("TAKEN", 0, 0, 3, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SAME_DICT", 0, 0, 3, 0), ("SNAPSHOT", 0, 0, 1, 0), ("TAKEN", 0, 0, 1, 0), ("HELD", 0, 0, 3, 0)],
    [("LOCAL", 0, 0, 0, 0), ("SNAPSHOT", 0, 0, 2, 0), ("SAME_DICT", 0, 0, 2, 0), ("TAKEN", 0, 0, 2, 0), ("HELD", 0, 0, 2, 0)],
    [("LOCAL", 0, 0, 0, 0), ("LOCAL", 0, 0, 0, 0), ("SNAPSHOT", 0, 0, 1, 0), ("TAKEN", 0, 0, 1, 0)],
])
def test_nonsense_is_refused(instructions):
    with pytest.raises(ValueError):
        GuardProgram(instructions, (len,))
