"""What each guard instruction means, said in plain Python: the reference that the native evaluator is held against.

It may run the user's code where the native one cannot, so it is used with objects whose comparisons are honest.
"""

import math
import struct
import types
import weakref
from collections import OrderedDict, deque
from itertools import combinations
from typing import NamedTuple

from frameloom.native.opcodes import NUMBERS, OPCODES
from tests.native import arithmetic_reference


class Scope(NamedTuple):
    locals: tuple
    closure: tuple | None
    globals: dict
    builtins: dict


class Fails(Exception):
    """An instruction says no, or finds nothing."""


def need(condition):
    if not condition:
        raise Fails


def own_dict(thing):
    need(not isinstance(thing, type))
    offset = type(thing).__dictoffset__
    need(offset != 0)
    descriptor = next(c.__dict__["__dict__"] for c in type(thing).__mro__ if "__dict__" in c.__dict__)
    need(isinstance(descriptor, (types.GetSetDescriptorType, types.MemberDescriptorType)))
    return descriptor.__get__(thing)


def bits(number):
    return "nan" if math.isnan(number) else struct.pack("d", number)


def complex_bits(number):
    return bits(number.real), bits(number.imag)


def same_key(one, other):
    return one is other or one == other


def alike(one, other):
    """The same key, and no other to the eye: to a dict 1, True and 1.0 are one."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) is tuple:
        return len(one) == len(other) and all(map(alike, one, other))
    return BITS[type(one)](one) == BITS[type(one)](other) if type(one) in BITS else one == other


BITS = {float: bits, complex: complex_bits}


def item(sequence, base, index):
    need(isinstance(sequence, base))
    length = base.__len__(sequence)
    need(-length <= index < length)
    return base.__getitem__(sequence, index)


def mro_lookup(kind, name):
    need(isinstance(kind, type))
    for base in type.__dict__["__mro__"].__get__(kind):
        if name in base.__dict__:
            return base.__dict__[name]
    raise Fails


def absent(find, *arguments):
    try:
        find(*arguments)
    except Fails:
        return True
    return False


LENGTHS = (list, tuple, dict, set, frozenset, str, bytes, bytearray, deque)
FUNCTION = types.FunctionType


def length(thing):
    for base in LENGTHS:
        if isinstance(thing, base):
            return base.__len__(thing)
    raise Fails


def dict_item(thing, key):
    need(isinstance(thing, dict))
    need(dict.__contains__(thing, key))
    return dict.__getitem__(thing, key)


def attribute(thing, name):
    return dict_item(own_dict(thing), name)


def member(thing, descriptor):
    need(isinstance(thing, descriptor.__objclass__))
    try:
        return descriptor.__get__(thing)
    except AttributeError:
        raise Fails from None


def global_value(scope, name):
    return scope.globals[name] if name in scope.globals else dict_item(scope.builtins, name)


def part(kind, get):
    def find(thing, _):
        need(isinstance(thing, kind))
        return get(thing)

    return find


def heap_type(thing):
    """A class made by a class statement (Py_TPFLAGS_HEAPTYPE)."""
    need(isinstance(thing, type) and thing.__flags__ & 1 << 9)
    return thing


def referent(weak):
    found = weak()
    need(found is not None)
    return found


def contents(cell, _):
    need(isinstance(cell, types.CellType))
    try:
        return cell.cell_contents
    except ValueError:
        raise Fails from None


def builtin_self(thing, _):
    need(isinstance(thing, types.BuiltinFunctionType) and thing.__self__ is not None)
    return thing.__self__


def keys_equal(found, expected):
    found = list(found)
    return len(found) == len(expected) and all(map(alike, found, expected))


def plain(key):
    if type(key) is tuple:
        return all(map(plain, key))
    return key is None or type(key) in (str, bytes, int, bool, float, complex)


def odict_keys(thing, keys):
    need(isinstance(thing, OrderedDict))
    return keys_equal(OrderedDict.__iter__(thing), keys) and all(map(plain, OrderedDict.__iter__(thing)))


def as_set(found, expected):
    found = list(found)
    return len(found) == len(expected) and all(any(same_key(a, b) for b in found) for a in expected)


def payload(thing, constant):
    for base in (int, str, bytes, float, complex):
        if type(constant) is base:
            need(isinstance(thing, base))
            if base is float:
                return bits(float.__add__(thing, 0.0) if thing else float.__float__(thing)) == bits(constant)
            if base is complex:
                return complex_bits(complex.__pos__(thing)) == complex_bits(constant)
            return base.__eq__(thing, constant)
    raise AssertionError


def int_in(thing, bounds):
    low, high = bounds
    return type(thing) is int and (low is None or low <= thing) and (high is None or thing <= high)


ROOTS = {
    "LOCAL": lambda scope, i: item(scope.locals, tuple, i),
    "CELL": lambda scope, i: item(scope.closure, tuple, i) if scope.closure is not None else need(False),
    "GLOBALS": lambda scope, _: scope.globals,
    "BUILTINS": lambda scope, _: scope.builtins,
    "GLOBAL": global_value,
    "BUILTIN": lambda scope, name: dict_item(scope.builtins, name),
    "CONST": lambda scope, constant: constant,
    "CONST_WEAK": lambda scope, weak: referent(weak),
    "CALL0": lambda scope, function: function(),
}

STEPS = {
    "CONTENTS": contents,
    "TYPE_OF": lambda thing, _: type(thing),
    "DICT_ATTR": attribute,
    "DICT_ATTRS": lambda thing, _: own_dict(thing),
    "SLOT": member,
    "TYPE_ATTR": mro_lookup,
    "TYPE_DICT": lambda thing, _: need(isinstance(thing, type)) or dict(thing.__dict__),
    "TYPE_MRO": lambda thing, _: need(isinstance(thing, type)) or type.__dict__["__mro__"].__get__(thing),
    "LIST_ITEM": lambda thing, i: item(thing, list, i),
    "TUPLE_ITEM": lambda thing, i: item(thing, tuple, i),
    "DICT_ITEM": dict_item,
    "DICT_KEY": lambda thing, i: need(isinstance(thing, dict)) or item(tuple(dict.keys(thing)), tuple, i),
    "FUNC_CODE": part(FUNCTION, lambda f: f.__code__),
    "FUNC_DEFAULTS": part(FUNCTION, lambda f: f.__defaults__),
    "FUNC_KWDEFAULTS": part(FUNCTION, lambda f: f.__kwdefaults__),
    "FUNC_CLOSURE": part(FUNCTION, lambda f: f.__closure__),
    "FUNC_GLOBALS": part(FUNCTION, lambda f: f.__globals__),
    "FUNC_NAME": part(FUNCTION, lambda f: f.__name__),
    "FUNC_QUALNAME": part(FUNCTION, lambda f: f.__qualname__),
    "FUNC_ANNOTATIONS": part(FUNCTION, lambda f: f.__annotations__),
    "TYPE_NAME": lambda thing, _: heap_type(thing).__name__,
    "TYPE_QUALNAME": lambda thing, _: heap_type(thing).__qualname__,
    "METHOD_FUNC": part(types.MethodType, lambda m: m.__func__),
    "METHOD_SELF": part(types.MethodType, lambda m: m.__self__),
    "BUILTIN_SELF": builtin_self,
    "REFERENT": part(weakref.ref, weakref.ref.__call__),
    "GETTER": member,
    "PY_STEP": lambda thing, function: function(thing),
}

def type_order(cls):
    return [*type.__dict__["__mro__"].__get__(cls)]


CHECKS = {
    "TYPE_IS": lambda thing, kind: type(thing) is kind,
    "TYPE_IS_WEAK": lambda thing, weak: type(thing) is referent(weak),
    "IS": lambda thing, constant: thing is constant,
    "IS_WEAK": lambda thing, weak: thing is referent(weak),
    "IS_NOT": lambda thing, constant: thing is not constant,
    "EQ_INT": lambda thing, constant: type(thing) is int and thing == constant,
    "EQ_STR": lambda thing, constant: type(thing) is str and thing == constant,
    "EQ_BYTES": lambda thing, constant: type(thing) is bytes and thing == constant,
    "EQ_FLOAT": lambda thing, constant: type(thing) is float and bits(thing) == bits(constant),
    "EQ_COMPLEX": lambda thing, constant: type(thing) is complex and complex_bits(thing) == complex_bits(constant),
    "PAYLOAD_EQ": payload,
    "INT_IN": int_in,
    "LEN": lambda thing, n: length(thing) == n,
    "LEN_AT_LEAST": lambda thing, n: length(thing) >= n,
    "HAS_KEY": lambda thing, key: isinstance(thing, dict) and dict.__contains__(thing, key),
    "NO_KEY": lambda thing, key: isinstance(thing, dict) and not dict.__contains__(thing, key),
    "DICT_KEYS": lambda thing, keys: isinstance(thing, dict) and keys_equal(dict.__iter__(thing), keys),
    "DICT_KEY_SET": lambda thing, keys: isinstance(thing, dict) and as_set(dict.__iter__(thing), keys),
    "ODICT_KEYS": odict_keys,
    "INSTANCE_KEYS": lambda thing, keys: keys_equal(own_dict(thing), keys),
    "NO_DICT_ATTR": lambda thing, name: not isinstance(thing, type) and absent(attribute, thing, name),
    "PLAIN_ATTRS": lambda thing, _: type(own_dict(thing)) is dict and not isinstance(thing, types.ModuleType),
    "SLOT_EMPTY": lambda thing, d: isinstance(thing, d.__objclass__) and absent(member, thing, d),
    "CELL_EMPTY": lambda thing, _: isinstance(thing, types.CellType) and absent(contents, thing, _),
    "TYPE_ATTR_IS": lambda thing, pair: mro_lookup(thing, pair[0]) is pair[1],
    "TYPE_ATTR_ABSENT": lambda thing, name: isinstance(thing, type) and absent(mro_lookup, thing, name),
    "TYPE_ORDER": lambda thing, classes: isinstance(thing, type)
    and type_order(thing) == [referent(each) if type(each) is weakref.ref else each for each in classes],
    "TYPE_FLAGS": lambda thing, pair: isinstance(thing, type) and thing.__flags__ & pair[0] == pair[1],
    "SET_HAS": lambda thing, key: isinstance(thing, (set, frozenset)) and key in thing,
    "SET_HAS_NOT": lambda thing, key: isinstance(thing, (set, frozenset)) and key not in thing,
    "SET_EQ": lambda thing, keys: isinstance(thing, (set, frozenset)) and as_set(thing, keys),
    "SET_ORDER": lambda thing, keys: isinstance(thing, (set, frozenset)) and keys_equal(thing, keys),
    "PY_CHECK": lambda thing, function: bool(function(thing)),
}

TESTS = {
    "DISTINCT": lambda registers, numbers: all(
        registers[a] is not registers[b] for a, b in combinations(numbers, 2)
    ),
    "CALL0_IS": lambda registers, pair: pair[0]() is pair[1],
    "PY_CHECK_MANY": lambda registers, pair: bool(pair[0](*[registers[n] for n in pair[1]])),
    "ARITHMETIC": arithmetic_reference.holds,
    "EXACTLY": arithmetic_reference.holds,
    "FAIL": lambda registers, _: False,
}


def step(registers, scope, opcode, source, target, operand):
    if opcode.kind == "root":
        registers[target] = ROOTS[opcode.name](scope, operand)
    elif opcode.kind == "step":
        registers[target] = STEPS[opcode.name](registers[source], operand)
    elif opcode.kind == "check":
        need(CHECKS[opcode.name](registers[source], operand))
    elif opcode.kind in ("memory", "end"):
        pass  # they save time, and say nothing
    elif opcode.kind == "pair":
        need(registers[source] is registers[target])
    else:
        need(TESTS[opcode.name](registers, operand))


def check(instructions, constants, scope):
    """-1, or the guard of the first instruction that fails."""
    registers = {}
    for name, source, target, operand, guard in instructions:
        opcode = OPCODES[NUMBERS[name]]
        if opcode.operand not in ("none", "index"):
            operand = constants[operand]
        try:
            step(registers, scope, opcode, source, target, operand)
        except Fails:
            return guard
    return -1
