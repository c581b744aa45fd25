"""Guard programs against the reference, and the cases that only the native evaluator has to get right."""

import builtins
import gc
import sys
import types
import weakref
from collections import OrderedDict, deque
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, strategies

from frameloom import native
from frameloom.native import Callable, Engine, Entry, GuardProgram, opcodes
from tests.native import guard_reference as reference

SCOPE = reference.Scope((), None, globals(), vars(builtins))


class Program:
    """Writes instructions, keeping constants and registers."""

    def __init__(self):
        self.instructions, self.constants, self.registers = [], [], 0

    def operand(self, name, value):
        if opcodes.OPCODES[opcodes.NUMBERS[name]].operand in ("none", "index"):
            return value or 0
        self.constants.append(value)
        return len(self.constants) - 1

    def root(self, name, value=None):
        return self.step(name, 0, value)

    def step(self, name, source, value=None):
        target = self.registers
        self.registers += 1
        self.add(name, source, target, value)
        return target

    def add(self, name, source=0, target=0, value=None):
        operand = self.operand(name, value)
        self.instructions.append((name, source, target, operand, len(self.instructions)))

    def native(self):
        return GuardProgram(self.instructions, tuple(self.constants))

    def check(self, scope=SCOPE):
        return self.native().check(scope.locals, scope.closure, scope.globals, scope.builtins)

    def reference(self, scope=SCOPE):
        return reference.check(self.instructions, self.constants, scope)


def check(thing, name, value=None):
    """Whether one check holds of one object."""
    program = Program()
    program.add(name, program.root("LOCAL", 0), 0, value)
    scope = SCOPE._replace(locals=(thing,))
    assert program.check(scope) in (-1, 1)
    return program.check(scope) == -1


def step(thing, name, value=None):
    """What one step finds; raises LookupError when it finds nothing."""
    found = []
    program = Program()
    register = program.step(name, program.root("LOCAL", 0), value)
    program.add("PY_CHECK", register, 0, lambda result: found.append(result) or True)
    if program.check(SCOPE._replace(locals=(thing,))) != -1:
        raise LookupError(name)
    return found[0]


# ---- the property: native equals reference, for any program on any objects ----


class Plain:
    shared = 1

    def method(self):
        return self


class Slotted:
    __slots__ = ("a", "b")


class SlottedAndPlain(Slotted):
    pass


class ListWithAttributes(list):
    def __getitem__(self, i):
        raise AssertionError("storage is read, not asked")

    def __len__(self):
        raise AssertionError


class DictWithAttributes(dict):
    def __getitem__(self, key):
        raise AssertionError

    __contains__ = __len__ = __iter__ = __getitem__


class IntPlus(int):
    pass


class StrPlus(str):
    pass


NAMES = ("a", "b", "c", "method", "shared", "__init__", "missing", "g", "len")
LEAVES = (
    0, 1, -1, 2**70, -(2**70), True, False, None, 0.0, -0.0, float("nan"), 1.5, 1j, complex(0, -0.0), "", "a", "b", "\xe9",
    "\u20ac", "\U0001f600", b"", b"a", (), (1, "a"), ..., int, Plain, Slotted, len, IntPlus(1), StrPlus("a"), [].append,
)
MEMBERS = (Slotted.a, Slotted.b, types.FunctionType.__closure__, types.MethodType.__func__)
GETTERS = (types.FunctionType.__code__, types.FunctionType.__dict__["__name__"], range.start, Slotted.a)
NOARGS = (sys.getrecursionlimit, gc.isenabled)


def leaf(random):
    return random.choice(LEAVES)


def fill_attributes(random, thing, depth):
    for name in random.sample(NAMES[:3], random.randrange(4)):
        try:
            setattr(thing, name, build(random, depth - 1))
        except AttributeError:
            pass
    return thing


def make_function(random, depth):
    value, other = build(random, depth - 1), leaf(random)

    def function(a, b=other, *, c=value):
        return value, other

    return function if random.random() < 0.7 else types.MethodType(function, [other])


def hashables(random):
    return [leaf(random) for _ in range(random.choice((0, 1, 2, 3, 8, 40)))]


BUILDERS = (
    lambda r, d: [build(r, d - 1) for _ in range(r.randrange(4))],
    lambda r, d: tuple(build(r, d - 1) for _ in range(r.randrange(4))),
    lambda r, d: {key: build(r, d - 1) for key in hashables(r)},
    lambda r, d: {name: build(r, d - 1) for name in r.sample(NAMES, r.randrange(5))},
    lambda r, d: OrderedDict((key, leaf(r)) for key in hashables(r)),
    lambda r, d: set(hashables(r)),
    lambda r, d: frozenset(hashables(r)),
    lambda r, d: deque(hashables(r)),
    lambda r, d: bytearray(3),
    lambda r, d: fill_attributes(r, Plain(), d),
    lambda r, d: fill_attributes(r, Slotted(), d),
    lambda r, d: fill_attributes(r, SlottedAndPlain(), d),
    lambda r, d: fill_attributes(r, ListWithAttributes([leaf(r)]), d),
    lambda r, d: fill_attributes(r, DictWithAttributes({leaf(r): 1}), d),
    lambda r, d: types.CellType(*[build(r, d - 1)][: r.randrange(2)]),
    lambda r, d: types.CellType(),
    lambda r, d: Plain().method,
    make_function,
)


def build(random, depth):
    if depth <= 0 or random.random() < 0.3:
        return leaf(random)
    return random.choice(BUILDERS)(random, depth)


def keys_of(random, thing):
    """Mostly the keys that are there, to have checks that hold."""
    if isinstance(thing, dict):
        keys = list(OrderedDict.__iter__(thing) if isinstance(thing, OrderedDict) else dict.__iter__(thing))
    elif isinstance(thing, (set, frozenset)):
        keys = list(thing)
    elif hasattr(thing, "__dict__") and not isinstance(thing, type) and random.random() < 0.5:
        keys = list(thing.__dict__)
    else:
        keys = hashables(random)
    if random.random() < 0.3 and keys:
        keys.pop() if random.random() < 0.5 else random.shuffle(keys)
    return tuple(keys)


def attribute_pair(random, thing):
    name = random.choice(NAMES)
    value = next((base.__dict__[name] for base in getattr(thing, "__mro__", ()) if name in base.__dict__), leaf(random)) \
        if isinstance(thing, type) else leaf(random)
    return name, value


def exactly(kind):
    values = [value for value in LEAVES if type(value) is kind]
    return lambda r, thing: thing if type(thing) is kind and r.random() < 0.6 else r.choice(values)


def weak(random, thing):
    return weakref.ref(thing) if type(thing) is Plain and random.random() < 0.7 else weakref.ref(Plain)


def classes_of(random, thing):
    """The order of a class, mostly the one at hand."""
    cls = thing if isinstance(thing, type) and random.random() < 0.8 else Plain
    order = [weakref.ref(base) if base.__flags__ & 1 << 9 else base for base in cls.__mro__]
    return tuple(order if random.random() < 0.8 else reversed(order))


def flags_of(random, thing):
    mask = random.choice((0, 1 << 5, 1 << 6, 1 << 9, 1 << 20, 1 << 31))
    return mask, (thing.__flags__ if isinstance(thing, type) and random.random() < 0.8 else mask) & mask


OPERANDS = {
    "classes": classes_of,
    "flags": flags_of,
    "none": lambda r, thing: None,
    "index": lambda r, thing: r.randrange(-2, 4),
    "name": lambda r, thing: r.choice(NAMES),
    "object": lambda r, thing: thing if r.random() < 0.6 else leaf(r),
    "weak": weak,
    "noargs": lambda r, thing: r.choice(NOARGS),
    "member": lambda r, thing: r.choice(MEMBERS),
    "key": lambda r, thing: r.choice(keys_of(r, thing) or (leaf(r),)) if r.random() < 0.7 else leaf(r),
    "keys": keys_of,
    "getter": lambda r, thing: r.choice(GETTERS),
    "callable": lambda r, thing: r.choice((id, type)),
    "type": lambda r, thing: type(thing) if r.random() < 0.6 else int,
    "int": exactly(int),
    "str": exactly(str),
    "bytes": exactly(bytes),
    "float": exactly(float),
    "complex": exactly(complex),
    "payload": lambda r, thing: r.choice((1, "a", b"a", 0.0, float("nan"), 1j, 2**70)),
    "range": lambda r, thing: r.choice(((None, None), (0, 3), (None, -1), (1, None), (-(2**62), 2**62))),
    "attribute": attribute_pair,
    "registers": lambda r, thing: tuple(range(r.randrange(2))),
    "call": lambda r, thing: (gc.isenabled, r.choice((True, False))),
    "call_many": lambda r, thing: (lambda *things: len(things), ()),
}
TENSOR_OPERANDS = {"tensor", "size_range", "dimensions"}
ELSEWHERE = TENSOR_OPERANDS | {"arithmetic"}  # test_tensors.py and test_arithmetic.py
PLAIN_OPCODES = [row for row in opcodes.OPCODES if row.operand not in ELSEWHERE and row.name != "SIZE_EQ_INT"]
BY_KIND = {kind: [row for row in PLAIN_OPCODES if row.kind == kind] for kind in opcodes.KINDS}


def walk(random, program, scope):
    """A random path into the objects of the scope: the register, and the object that the reference finds there."""
    row = random.choice(BY_KIND["root"]) if random.random() < 0.2 else opcodes.OPCODES[opcodes.NUMBERS["LOCAL"]]
    register = program.root(row.name, OPERANDS[row.operand](random, None))
    for _ in range(random.randrange(4)):
        found = lookup(program, scope, register)
        if found is None:
            break
        row = random.choice([row for row in BY_KIND["step"] if applies(row.name, found[0])])
        register = program.step(row.name, register, OPERANDS[row.operand](random, found[0]))
    found = lookup(program, scope, register)
    return register, None if found is None else found[0]


STEPS_OF = (
    (list, "LIST_ITEM"), (tuple, "TUPLE_ITEM"), (dict, "DICT_ITEM"), (types.FunctionType, "FUNC_"),
    (types.MethodType, "METHOD_"), (types.CellType, "CONTENTS"), (type, "TYPE_"), (Slotted, "SLOT"), (Plain, "DICT_ATTR"),
)


def applies(name, thing):
    """Prefer steps that may find something; keep the others possible."""
    kinds = [kind for kind, prefix in STEPS_OF if name.startswith(prefix) and name != "TYPE_OF"]
    return not kinds or isinstance(thing, tuple(kinds)) or hash((name, type(thing))) % 5 == 0


def lookup(program, scope, register):
    found = []
    instructions = [*program.instructions, ("PY_CHECK", register, 0, len(program.constants), 0)]
    constants = [*program.constants, lambda thing: found.append(thing) or True]
    reference.check(instructions, constants, scope)
    return found or None


@given(strategies.integers(0, 2**32))
def test_native_equals_reference(seed):
    random = Random(seed)
    scope = reference.Scope(
        tuple(build(random, 4) for _ in range(4)),
        random.choice((None, (types.CellType(1), types.CellType()))),
        {"g": build(random, 2), "a": 1},
        {"len": len, "g": 2},
    )
    for _ in range(40):
        program = Program()
        register, thing = walk(random, program, scope)
        for _ in range(random.randrange(1, 4)):
            row = random.choice([*BY_KIND["check"] * 4, *BY_KIND["test"], *BY_KIND["pair"]])
            program.add(row.name, register, 0, OPERANDS[row.operand](random, thing))
        first = program.check(scope)
        assert first == program.reference(scope), program.native().dump()
        # The reference asks for __dict__, which moves attributes out of the instance: nothing may change.
        assert program.check(scope) == first, program.native().dump()


def test_the_property_reaches_every_row():
    """Both answers of every check were seen, else the property above says nothing of the row."""
    seen = set()
    for seed in range(400):
        random = Random(seed)
        thing = build(random, 3)
        for row in BY_KIND["check"]:
            if row.name not in ("PY_CHECK",):
                operand = OPERANDS[row.operand](random, thing)
                seen.add((row.name, check(thing, row.name, operand)))
    missing = {(row.name, answer) for row in BY_KIND["check"] for answer in (True, False)} - seen
    assert missing <= {("PY_CHECK", True), ("PY_CHECK", False)}, missing


# ---- the table ----


def test_header_is_not_stale():
    source = Path(__file__).parents[2] / "src" / "frameloom" / "native" / opcodes.HEADER.name
    assert source.read_text() == opcodes.header()


def test_reference_has_every_row():
    tables = {"root": reference.ROOTS, "step": reference.STEPS, "check": reference.CHECKS, "test": reference.TESTS}
    for kind, table in tables.items():
        assert set(table) - {"ARITHMETIC", "EXACTLY"} == {row.name for row in BY_KIND[kind]}
    assert {row.name for row in BY_KIND["pair"]} == {"SAME"}
    assert set(OPERANDS) | ELSEWHERE == {row.operand for row in opcodes.OPCODES}


@pytest.mark.parametrize(
    ("instructions", "constants", "error"),
    [
        ([("NOTHING", 0, 0, 0, 0)], (), ValueError),
        ([("LOCAL", 0, 0, 0)], (), TypeError),
        (["LOCAL"], (), TypeError),
        ([("TYPE_OF", 0, 0, 0, 0)], (), ValueError),
        ([("LOCAL", 0, -1, 0, 0)], (), ValueError),
        ([("LOCAL", 0, 70000, 0, 0)], (), ValueError),
        ([("LOCAL", 0, 0, 0, -1)], (), ValueError),
        ([("LOCAL", 0, 0, 0, 0), ("IS", 0, 0, 0, 0)], (), IndexError),
        ([("LOCAL", 0, 0, 0, 0), ("DICT_ATTR", 0, 1, 0, 0)], (5,), TypeError),
        ([("LOCAL", 0, 0, 0, 0), ("TYPE_IS", 0, 0, 0, 0)], (5,), TypeError),
        ([("LOCAL", 0, 0, 0, 0), ("EQ_INT", 0, 0, 0, 0)], (True,), TypeError),
        ([("LOCAL", 0, 0, 0, 0), ("IS_WEAK", 0, 0, 0, 0)], (5,), TypeError),
        ([("LOCAL", 0, 0, 0, 0), ("SLOT", 0, 1, 0, 0)], (types.CodeType.co_argcount,), TypeError),
        ([("LOCAL", 0, 0, 0, 0), ("DICT_KEYS", 0, 0, 0, 0)], (([],),), TypeError),
        ([("LOCAL", 0, 0, 0, 0), ("DISTINCT", 0, 0, 0, 0)], ((0, 1),), ValueError),
        ([("LOCAL", 0, 0, 0, 0), ("SAME", 0, 1, 0, 0)], (), ValueError),
        ([("CALL0", 0, 0, 0, 0)], (len,), TypeError),
        ([("LOCAL", 0, 0, 0, 0), ("TENSOR", 0, 0, 0, 0)], (((int,), 1, 1, 1, 1, (), None, None),), ValueError),
        (5, (), TypeError),
    ],
)
def test_nonsense_is_refused(instructions, constants, error):
    with pytest.raises(error):
        GuardProgram(instructions, constants)


def test_dump():
    program = Program()
    register = program.step("DICT_ATTR", program.root("LOCAL", 2), "weight")
    program.add("IS", register, 0, None)
    program.add("SAME", register, 0)
    program.add("FAIL")
    assert program.native().dump() == (
        "  0  r0 = LOCAL 2  ; guard 0\n"
        "  1  r1 = DICT_ATTR r0 'weight'  ; guard 1\n"
        "  2  IS r1 None  ; guard 2\n"
        "  3  SAME r1 r0  ; guard 3\n"
        "  4  FAIL  ; guard 4\n"
    )
    assert len(program.native()) == 5 and program.native().registers == 2 and not program.native().runs


# ---- nothing of the user's runs, nothing is materialised ----


class Hostile:
    """Runs no code of its own under a guard."""

    def __init__(self, value):
        self.value = value

    def forbidden(self, *arguments):
        raise AssertionError("user code ran under a guard")

    __eq__ = __getattribute__ = __bool__ = __len__ = __iter__ = __getitem__ = forbidden
    hashes = 0

    def __hash__(self):
        type(self).hashes += 1
        return 1


def test_keys_that_only_python_could_compare():
    class Same(Hostile):
        __getattribute__ = object.__getattribute__

        def __hash__(self):
            return hash(1)

    key = Same(0)
    store = {key: "value"}
    assert not check(store, "HAS_KEY", 1) and not check(store, "NO_KEY", 1)
    assert check(store, "HAS_KEY", key)
    assert step(store, "DICT_ITEM", key) == "value"
    assert check(store, "NO_KEY", 2)
    assert not check({key}, "SET_HAS", 1) and not check({key}, "SET_HAS_NOT", 1)
    assert check({key}, "SET_HAS", key) and check({key}, "SET_HAS_NOT", 3)
    assert check(store, "DICT_KEYS", (key,)) and not check(store, "DICT_KEYS", (1,))
    assert not check(OrderedDict(store), "ODICT_KEYS", (key,))


def test_keys_by_value():
    store = {1: "one", "a": 2, (1, "x"): 3, 2.5: 4, None: 5}
    for key, same in ((1, True), (1, 1.0), ("a", "".join(["a"])), ((1, "x"), (1.0, "".join("x"))), (2.5, 5 / 2), (None, None)):
        assert check(store, "HAS_KEY", same) and step(store, "DICT_ITEM", same) == store[key]
    for key in (0, "b", (1, "y"), 2.25, (1,), ...):
        assert check(store, "NO_KEY", key)


@pytest.mark.parametrize("other", [True, 1.0, (1,), -0.0, 0.0, (True, 0.0), (1, -0.0), 0j, complex(0.0, -0.0), float("nan")])
@pytest.mark.parametrize("key", [1, 0.0, (1, 0.0), complex(0.0, 0.0), float("nan")])
def test_keys_that_are_one_key_to_a_dict_are_told_apart_where_they_are_looked_at(key, other):
    """The keys of a dictionary or a set that a program went through must come out as they are: 1 is not True."""
    same = repr(key) == repr(other)
    assert check({other: "value"}, "DICT_KEYS", (key,)) == same
    assert check(OrderedDict({other: "value"}), "ODICT_KEYS", (key,)) == same
    assert check({other}, "SET_ORDER", (key,)) == same


def test_a_dict_through_all_its_lives():
    """Shared keys, own keys, general keys, deletions, growth over the widths of the index table."""
    for count in (1, 5, 6, 30, 31, 100, 200, 300, 70_000):
        store = {f"key{i}": i for i in range(count)}
        wanted = range(0, count, max(1, count // 50))
        assert all(step(store, "DICT_ITEM", f"key{i}") == i for i in wanted)
        del store["key0"]
        assert check(store, "NO_KEY", "key0") and check(store, "LEN", count - 1)
        store[0] = "general"
        assert step(store, "DICT_ITEM", 0) == "general"
        assert all(step(store, "DICT_ITEM", f"key{i}") == i for i in wanted if i)
        elements = set(store)
        assert all(check(elements, "SET_HAS", f"key{i}") for i in wanted if i)
        assert check(elements, "SET_HAS_NOT", "key0") and check(elements, "SET_HAS", 0)


def test_attributes_are_found_wherever_they_are_and_no_dict_is_made():
    for number in range(1, 40):
        kind = type("Kind", (), {})
        things = [kind() for _ in range(3)]
        for thing in things:
            for i in range(number):
                setattr(thing, f"a{i}", i)
        thing = things[0]
        size = sys.getsizeof(thing), gc.get_referents(thing)
        assert step(thing, "DICT_ATTR", "a0") == 0 and step(thing, "DICT_ATTR", f"a{number - 1}") == number - 1
        assert check(thing, "NO_DICT_ATTR", "missing")
        assert (sys.getsizeof(thing), gc.get_referents(thing)) == size
        del thing.a0
        assert check(thing, "NO_DICT_ATTR", "a0") == (True)
        thing.__dict__["more"] = "m"
        assert step(thing, "DICT_ATTR", "more") == "m" and step(thing, "DICT_ATTRS") is thing.__dict__
        thing.__dict__ = {"fresh": 1}
        assert check(thing, "NO_DICT_ATTR", f"a{number - 1}") and step(thing, "DICT_ATTR", "fresh") == 1


def test_names_of_an_instance_in_order():
    thing = Plain()
    assert check(thing, "INSTANCE_KEYS", ()) and not check(thing, "INSTANCE_KEYS", ("a",))
    thing.b, thing.a, thing.c = 1, 2, 3
    assert check(thing, "INSTANCE_KEYS", ("b", "a", "c")) and not check(thing, "INSTANCE_KEYS", ("a", "b", "c"))
    other = Plain()
    other.a, other.b = 1, 2
    assert check(other, "INSTANCE_KEYS", ("a", "b")) and not check(other, "INSTANCE_KEYS", ("a",))
    del thing.a
    assert check(thing, "INSTANCE_KEYS", ("b", "c"))
    thing.a = 5
    assert check(thing, "INSTANCE_KEYS", ("b", "c", "a")) and thing.__dict__ == {"b": 1, "c": 3, "a": 5}
    assert check(thing, "INSTANCE_KEYS", ("b", "c", "a"))
    assert not check(1, "INSTANCE_KEYS", ()) and not check(Plain, "INSTANCE_KEYS", ())


def test_a_dict_that_is_not_there_is_not_made():
    thing = Plain()
    thing.a = 1
    with pytest.raises(LookupError):
        step(thing, "DICT_ATTRS")
    module = types.ModuleType("m")
    assert step(module, "DICT_ATTRS") is module.__dict__ and step(module, "DICT_ATTR", "__name__") == "m"
    with pytest.raises(LookupError):
        step(1, "DICT_ATTR", "a")


def test_ordered_dicts():
    store = OrderedDict.fromkeys("abcd")
    assert check(store, "ODICT_KEYS", tuple("abcd"))
    store.move_to_end("a")
    assert check(store, "ODICT_KEYS", tuple("bcda")) and not check(store, "ODICT_KEYS", tuple("abcd"))
    assert check(store, "DICT_KEYS", tuple("abcd"))
    assert not check(dict(store), "ODICT_KEYS", tuple("abcd"))


def test_slots():
    thing = Slotted()
    thing.a = 5
    assert step(thing, "SLOT", Slotted.a) == 5 and check(thing, "SLOT_EMPTY", Slotted.b)
    with pytest.raises(LookupError):
        step(thing, "SLOT", Slotted.b)
    with pytest.raises(LookupError):
        step(Plain(), "SLOT", Slotted.a)
    assert not check(Plain(), "SLOT_EMPTY", Slotted.a)


def test_weakly_held_things():
    thing, kind = Plain(), type("Kind", (), {})
    instance = kind()
    program = Program()
    program.add("IS_WEAK", program.root("LOCAL", 0), 0, weakref.ref(thing))
    program.add("TYPE_IS_WEAK", program.root("LOCAL", 1), 0, weakref.ref(kind))
    program.add("SAME", program.root("CONST_WEAK", weakref.ref(thing)), 0)
    scope = SCOPE._replace(locals=(thing, instance))
    compiled = program.native()
    assert compiled.check(scope.locals) == -1
    assert compiled.check((None, instance)) == 1
    died = weakref.ref(thing)
    del thing, scope
    gc.collect()
    assert died() is None
    # A dead referent reads as None, which must not pass for None.
    assert compiled.check((None, instance)) == 1


def test_distinct():
    for count in (2, 5, 12, 13, 40, 200):
        things = tuple([] for _ in range(count))
        program = Program()
        registers = tuple(program.root("LOCAL", i) for i in range(count))
        program.add("DISTINCT", 0, 0, registers)
        assert program.check(SCOPE._replace(locals=things)) == -1
        assert program.check(SCOPE._replace(locals=(*things[:-1], things[0]))) == count
        assert program.check(SCOPE._replace(locals=(things[1], *things[1:]))) == count


def test_steps_that_run_python_keep_what_they_look_at():
    class Owner:
        def __init__(self):
            self.item = Plain()

    owner = Owner()

    def forget(thing):
        del owner.item
        gc.collect()
        return [1, 2, 3]

    program = Program()
    item = program.step("DICT_ATTR", program.root("LOCAL", 0), "item")
    made = program.step("PY_STEP", item, forget)
    program.add("TYPE_IS", item, 0, Plain)
    program.add("LEN", made, 0, 3)
    program.add("PY_CHECK_MANY", 0, 0, (lambda a, b: type(a) is Plain and b == [1, 2, 3], (item, made)))
    assert program.native().runs
    assert program.check(SCOPE._replace(locals=(owner,))) == -1
    assert program.check(SCOPE._replace(locals=(owner,))) == 1


def test_exceptions_of_python_checks():
    def raises(error):
        def function(*_):
            raise error

        return function

    assert not check(1, "PY_CHECK", raises(ValueError("no")))
    with pytest.raises(LookupError):
        step(1, "PY_STEP", raises(AttributeError()))
    with pytest.raises(KeyboardInterrupt):
        check(1, "PY_CHECK", raises(KeyboardInterrupt))

    class NoTruth:
        def __bool__(self):
            raise ValueError

    assert not check(NoTruth(), "PY_CHECK", lambda thing: thing)
    assert native.state() == "idle"


def test_frames_of_python_checks_are_not_hooked():
    states = []
    program = Program()
    program.add("PY_CHECK", program.root("LOCAL", 0), 0, lambda _: states.append(native.state()) or True)

    def user(x):
        raise AssertionError

    entry = Entry((lambda x: -x).__code__, program.native())
    engine = Engine(lambda *_: None)
    engine.install(user.__code__, entry)
    assert Callable(user, engine)(1) == -1
    assert states == ["capturing"]


def test_entries_by_guards():
    def user(x):
        raise AssertionError

    asked = []

    def compile(function, code, arguments, misses):
        asked.append([index for _, index in misses])
        program = Program()
        program.add("EQ_INT", program.root("LOCAL", 0), 0, arguments[0])
        code = compile_source(f"lambda x: ('entry', {arguments[0]}, x)")
        return Entry(code, program.native())

    def compile_source(source):
        return eval(source).__code__

    engine = Engine(compile)
    f = Callable(user, engine)
    for _ in range(3):
        assert [f(n) for n in range(4)] == [("entry", n, n) for n in range(4)]
    assert asked == [[], [1], [1, 1], [1, 1, 1]]
    # An entry that is hit again and again comes to the front.
    for _ in range(3):
        f(0)
    assert engine.entries(user.__code__)[0].code.co_consts[:3].__contains__(0)
    assert len(engine.entries(user.__code__)) == 4


def test_guards_see_globals_and_closure():
    space = {"g": 1}
    exec("def outer():\n    c = 5\n    def user(x): return c, g, len\n    return user", space)
    user = space["outer"]()
    asked = []

    def compile(function, code, arguments, misses):
        asked.append(misses and misses[0][1])
        program = Program()
        program.add("EQ_INT", program.root("GLOBAL", "g"), 0, space["g"])
        program.add("IS", program.root("GLOBAL", "len"), 0, len)
        contents = program.step("CONTENTS", program.root("CELL", 0))
        program.add("EQ_INT", contents, 0, user.__closure__[0].cell_contents)
        return Entry(code, program.native())

    f = Callable(user, Engine(compile))
    assert f(0) == (5, 1, len) == f(0)
    space["g"] = 2
    assert f(0) == (5, 2, len)
    user.__closure__[0].cell_contents = 6
    assert f(0) == (6, 2, len)
    space["len"] = "other"
    f(0)
    assert asked[0] == () and asked[1:] == [1, 6, 3]


def test_checks_do_not_leak():
    random = Random(7)
    thing = build(random, 4)
    programs = []
    for _ in range(200):
        program = Program()
        register, found = walk(random, program, SCOPE._replace(locals=(thing,)))
        row = random.choice(BY_KIND["check"])
        program.add(row.name, register, 0, OPERANDS[row.operand](random, found))
        programs.append(program)
    scope = SCOPE._replace(locals=(thing, 1, 2, 3))

    def round():
        for program in programs:
            program.check(scope)

    round()
    gc.collect()
    counts = [sys.getrefcount(constant) for program in programs for constant in program.constants]
    blocks = sys.getallocatedblocks()
    for _ in range(20):
        round()
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 50
    # Twenty rounds: a leak shows as twenty or more; others may hold a common constant for a moment.
    after = [sys.getrefcount(constant) for program in programs for constant in program.constants]
    assert all(abs(a - b) < 10 for a, b in zip(after, counts, strict=True))
