"""Guards as a native program: a walk over the trie of their sources, with the checks of each object where it is read.

The reference is `Guard.holds`.  Each step and each check has one row here; what has none runs as Python (`PY_STEP`, `PY_CHECK`,
`PY_CHECK_MANY`), which is always right.  Rows for checks of a domain are added by its room (`lowers`).
"""

from __future__ import annotations

import collections
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from frameloom.compile.watch import divide
from frameloom.native import GuardProgram, instance_dict_names
from frameloom.symbolic.guards import CHECKS, PLAIN_KEYS, Guard, same_constant
from frameloom.symbolic.keys import host_hashable
from frameloom.symbolic.layouts.payload import payload_holds
from frameloom.symbolic.source import STEPS, Source

HEAP_TYPE = 1 << 9


class Instruction(NamedTuple):
    """One native instruction, as `native/opcodes.py` describes it."""

    name: str
    source: int
    target: int
    operand: int
    guard: int


class Lowered(NamedTuple):
    """A program, and the guards that its failing indices name."""

    program: GuardProgram
    guards: tuple[Guard, ...]


def lower(guards: Iterable[Guard], code: types.CodeType) -> Lowered:
    """The native program of the guards of a trace of `code`."""
    ordered = tuple(sorted(guards, key=_rank))
    writer = _Writer(ordered, code)
    writer.write()
    return Lowered(GuardProgram(tuple(map(tuple, writer.instructions)), tuple(writer.constants)), ordered)


# -- order -----------------------------------------------------------------------------------------------------------

_ROOT_RANK = {"local": 0, "cell": 1, "function_globals": 2, "global": 3, "builtin": 4, "const": 5, "handled": 9}
_CHECK_RANK = {"TYPE": 0, "IS": 1, "EQUAL": 2, "TENSOR": 3, "CALL": 8, "SAME": 6, "DISTINCT": 9, "SIZES": 9, "STORAGES": 9}


def _rank(guard: Guard) -> tuple[int, int, int]:
    """Global state comes first, since under a mode nothing may be asked of tensors; then arguments, which change most often,
    then what is near; what is dear comes last."""
    if guard.check == "RETURNS":
        return (-1, 0, 0)
    return (_CHECK_RANK.get(guard.check, 4) > 5, _ROOT_RANK[guard.source.root().step], guard.source.depth)


# -- writing ---------------------------------------------------------------------------------------------------------


class _Writer:
    def __init__(self, guards: tuple[Guard, ...], code: types.CodeType) -> None:
        self.guards = guards
        self.code = code
        self.instructions: list[Instruction] = []
        self.constants: list[Any] = []
        self._constant_index: dict[tuple, int] = {}
        self.registers: dict[Source, int] = {}
        self._next = 0
        self.classes = {guard.source: guard.payload for guard in guards if guard.check == "TYPE"}
        for guard in guards:
            if guard.check == "IS":
                self.classes.setdefault(guard.source, type(guard.payload))

    def write(self) -> None:
        for index, guard in divide(self.guards).checked:
            LOWERINGS.get(guard.check, _python_check)(self, index, guard)

    def emit(self, name: str, source: int = 0, target: int = 0, operand: int = 0, guard: int = 0) -> None:
        self.instructions.append(Instruction(name, source, target, operand, guard))

    def constant(self, value: Any) -> int:
        """The index of a constant; equal atoms of one class share one."""
        key = (type(value), value) if type(value) in (str, int, bytes) else (None, id(value))
        index = self._constant_index.get(key)
        if index is None:
            index = self._constant_index[key] = len(self.constants)
            self.constants.append(value)
        return index

    def register(self, source: Source, guard: int) -> int:
        """The register that holds what a source reads; written on first use, whose failure is that of `guard`."""
        found = self.registers.get(source)
        if found is None:
            if source.base is None:
                found = ROOTS[source.step](self, source, guard)
            else:
                base = self.register(source.base, guard)
                found = STEP_LOWERINGS.get(source.step, _python_step)(self, source, base, guard)
            self.registers[source] = found
        return found

    def step(self, name: str, base: int, operand: int, guard: int) -> int:
        """Emit a step into a new register."""
        target = self.new_register()
        self.emit(name, base, target, operand, guard)
        return target

    def new_register(self) -> int:
        self._next += 1
        return self._next - 1

    def argument(self, name: str) -> int:
        """The index of an argument slot."""
        return self.code.co_varnames.index(name)


# -- roots -----------------------------------------------------------------------------------------------------------


def can_be_weak(value: Any) -> bool:
    """Whether the program should hold an object weakly: objects of the user's that have weak references."""
    if isinstance(value, type):
        return bool(value.__flags__ & HEAP_TYPE)
    return type(value).__weakrefoffset__ != 0 and not isinstance(value, (types.ModuleType, types.BuiltinFunctionType))


def _root_const(writer: _Writer, source: Source, guard: int) -> int:
    if can_be_weak(source.key):
        return writer.step("CONST_WEAK", 0, writer.constant(weakref.ref(source.key)), guard)
    return writer.step("CONST", 0, writer.constant(source.key), guard)


def _called(function: Callable[[], Any]) -> Any:
    return function()


def _root_handled(writer: _Writer, source: Source, guard: int) -> int:
    asked = writer.step("CONST", 0, writer.constant(sys.exception), guard)
    return writer.step("PY_STEP", asked, writer.constant(_called), guard)


ROOTS: dict[str, Callable[[_Writer, Source, int], int]] = {
    "local": lambda w, s, g: w.step("LOCAL", 0, w.argument(s.key), g),
    "cell": lambda w, s, g: w.step("CELL", 0, w.code.co_freevars.index(s.key), g),
    "global": lambda w, s, g: w.step("GLOBAL", 0, w.constant(s.key), g),
    "builtin": lambda w, s, g: w.step("BUILTIN", 0, w.constant(s.key), g),
    "function_globals": lambda w, s, g: w.step("GLOBALS", 0, 0, g),
    "handled": _root_handled,
    "const": _root_const,
}


# -- steps -----------------------------------------------------------------------------------------------------------


class _ReadStep:
    """A step as a function of one object; raises `Missing` where there is nothing."""

    def __init__(self, source: Source) -> None:
        self.read = STEPS[source.step].read
        self.key = source.key

    def __call__(self, base: Any) -> Any:
        return self.read(base, self.key)


def _python_step(writer: _Writer, source: Source, base: int, guard: int) -> int:
    return writer.step("PY_STEP", base, writer.constant(_ReadStep(source)), guard)


def _item(writer: _Writer, source: Source, base: int, guard: int) -> int:
    cls = _class_read(writer, source.base)
    for storage, name in ((list, "LIST_ITEM"), (tuple, "TUPLE_ITEM")):
        if cls is not None and issubclass(cls, storage):
            return writer.step(name, base, source.key, guard)
    return _python_step(writer, source, base, guard)


def _class_read(writer: _Writer, source: Source) -> type | None:
    """The class of what a source reads, where a guard says it."""
    if source.base is None and source.step == "const":
        return type(source.key)
    return writer.classes.get(source)


def _descriptor(writer: _Writer, source: Source, base: int, guard: int) -> int:
    if type(source.key) is types.MemberDescriptorType and _is_object_member(source.key):
        return writer.step("SLOT", base, writer.constant(source.key), guard)
    return _python_step(writer, source, base, guard)


def _is_object_member(descriptor: Any) -> bool:
    """Whether a member descriptor is one of `__slots__`, made by a class statement: it holds an object, or nothing."""
    return bool(descriptor.__objclass__.__flags__ & HEAP_TYPE) and not descriptor.__objclass__.__flags__ & (1 << 8)


def _closure(writer: _Writer, source: Source, base: int, guard: int) -> int:
    cells = writer.step("FUNC_CLOSURE", base, 0, guard)
    return writer.step("TUPLE_ITEM", cells, source.key, guard)


def _method_self(writer: _Writer, source: Source, base: int, guard: int) -> int:
    cls = _class_read(writer, source.base)
    name = {types.MethodType: "METHOD_SELF", types.BuiltinFunctionType: "BUILTIN_SELF"}.get(cls)
    if name is None:
        return _python_step(writer, source, base, guard)
    return writer.step(name, base, 0, guard)


def _plain(name: str) -> Callable[[_Writer, Source, int, int], int]:
    return lambda writer, source, base, guard: writer.step(name, base, 0, guard)


def _keyed(name: str) -> Callable[[_Writer, Source, int, int], int]:
    return lambda writer, source, base, guard: writer.step(name, base, writer.constant(source.key), guard)


STEP_LOWERINGS: dict[str, Callable[[_Writer, Source, int, int], int]] = {
    "attribute": _keyed("DICT_ATTR"),
    "descriptor": _descriptor,
    "type_attribute": _keyed("TYPE_ATTR"),
    "type": _plain("TYPE_OF"),
    "item": _item,
    "dict_item": _keyed("DICT_ITEM"),
    "contents": _plain("CONTENTS"),
    "closure": _closure,
    "code": _plain("FUNC_CODE"),
    "globals": _plain("FUNC_GLOBALS"),
    "defaults": _plain("FUNC_DEFAULTS"),
    "kwdefaults": _plain("FUNC_KWDEFAULTS"),
    "method_function": _plain("METHOD_FUNC"),
    "method_self": _method_self,
}


# -- checks ----------------------------------------------------------------------------------------------------------

Lowering = Callable[[_Writer, int, Guard], None]


class _Check:
    """A check as a function of the object it is about, and of the objects that other sources of its payload read."""

    def __init__(self, guard: Guard, payload: Any) -> None:
        self.holds = CHECKS[guard.check].holds
        self.payload = payload

    def __call__(self, value: Any, *others: Any) -> bool:
        payload = self.payload
        if others:
            payload = payload._replace(others=tuple(map(_Found, others)))
        return self.holds(value, payload, None)


class _Found:
    """Stands for a source that has been read."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def read(self, scope: Any) -> Any:
        return self.value


def _python_check(writer: _Writer, index: int, guard: Guard) -> None:
    others = getattr(guard.payload, "others", ())
    check = _Check(guard, guard.payload)
    register = writer.register(guard.source, index)
    if not others:
        writer.emit("PY_CHECK", register, 0, writer.constant(check), index)
        return
    registers = (register, *(writer.register(other, index) for other in others))
    writer.emit("PY_CHECK_MANY", 0, 0, writer.constant((check, registers)), index)


def _check(name: str, operand: Callable[[_Writer, Guard], int] = lambda writer, guard: 0) -> Lowering:
    def lowering(writer: _Writer, index: int, guard: Guard) -> None:
        writer.emit(name, writer.register(guard.source, index), 0, operand(writer, guard), index)

    return lowering


def _payload(writer: _Writer, guard: Guard) -> int:
    return writer.constant(guard.payload)


def _number(writer: _Writer, guard: Guard) -> int:
    return guard.payload


def _type(writer: _Writer, index: int, guard: Guard) -> None:
    register = writer.register(guard.source, index)
    if can_be_weak(guard.payload):
        writer.emit("TYPE_IS_WEAK", register, 0, writer.constant(weakref.ref(guard.payload)), index)
    else:
        writer.emit("TYPE_IS", register, 0, writer.constant(guard.payload), index)


def _is(writer: _Writer, index: int, guard: Guard) -> None:
    register = writer.register(guard.source, index)
    if can_be_weak(guard.payload):
        writer.emit("IS_WEAK", register, 0, writer.constant(weakref.ref(guard.payload)), index)
    else:
        writer.emit("IS", register, 0, writer.constant(guard.payload), index)


_EQUAL = {int: "EQ_INT", str: "EQ_STR", bytes: "EQ_BYTES", float: "EQ_FLOAT", complex: "EQ_COMPLEX"}
_SINGLETONS = (type(None), bool, type(Ellipsis), type(NotImplemented))


def _equal(writer: _Writer, index: int, guard: Guard) -> None:
    cls = type(guard.payload)
    if cls in _SINGLETONS:
        _is(writer, index, guard)
    elif cls in _EQUAL:
        writer.emit(_EQUAL[cls], writer.register(guard.source, index), 0, writer.constant(guard.payload), index)
    else:
        _python_check(writer, index, guard)


def _same(writer: _Writer, index: int, guard: Guard) -> None:
    first = writer.register(guard.source, index)
    writer.emit("SAME", first, writer.register(guard.payload, index), 0, index)


def _distinct(writer: _Writer, index: int, guard: Guard) -> None:
    registers = tuple(writer.register(source, index) for source in (guard.source, *guard.payload))
    writer.emit("DISTINCT", 0, 0, writer.constant(registers), index)


class _InstanceKeys:
    """Whether the own dictionary of an object, if it had one, would have these keys in this order."""

    def __init__(self, names: tuple) -> None:
        self.names = names

    def __call__(self, obj: Any) -> bool:
        found = instance_dict_names(obj)
        return found is not None and len(found) == len(self.names) and all(map(_same_key, found, self.names))


def _same_key(one: Any, other: Any) -> bool:
    return one is other or type(one) in PLAIN_KEYS and same_constant(one, other)


def _keys(writer: _Writer, index: int, guard: Guard) -> None:
    source = guard.source
    if source.step == "dict" and source not in writer.registers:
        base = writer.register(source.base, index)
        writer.emit("PY_CHECK", base, 0, writer.constant(_InstanceKeys(guard.payload)), index)
        return
    cls = _class_read(writer, source)
    if cls is None or not all(map(host_hashable, guard.payload)):
        _python_check(writer, index, guard)
    else:
        name = "ODICT_KEYS" if issubclass(cls, collections.OrderedDict) else "DICT_KEYS"
        _check(name, _payload)(writer, index, guard)


def _call(writer: _Writer, index: int, guard: Guard) -> None:
    function, argument, _ = guard.payload
    special = CALL_LOWERINGS.get(function)
    register = writer.register(guard.source, index)
    if special is not None:
        special(writer, index, register, argument)
    else:
        writer.emit("PY_CHECK", register, 0, writer.constant(_Check(guard, guard.payload)), index)


def _payload_holds(writer: _Writer, index: int, register: int, plain: Any) -> None:
    writer.emit("PAYLOAD_EQ", register, 0, writer.constant(plain), index)


CALL_LOWERINGS: dict[Callable, Callable[[_Writer, int, int, Any], None]] = {payload_holds: _payload_holds}
"""function of a CALL check -> what stands for it"""

LOWERINGS: dict[str, Lowering] = {
    "TYPE": _type,
    "IS": _is,
    "EQUAL": _equal,
    "SAME": _same,
    "DISTINCT": _distinct,
    "LENGTH": _check("LEN", _number),
    "LENGTH_AT_LEAST": _check("LEN_AT_LEAST", _number),
    "KEYS": _keys,
    "HAS_KEY": _check("HAS_KEY", _payload),
    "NO_KEY": _check("NO_KEY", _payload),
    "MEMBER": _check("SET_HAS", _payload),
    "NOT_MEMBER": _check("SET_HAS_NOT", _payload),
    "MEMBERS": _check("SET_ORDER", _payload),
    "NO_ATTRIBUTE": _check("NO_DICT_ATTR", _payload),
    "NO_TYPE_ATTRIBUTE": _check("TYPE_ATTR_ABSENT", _payload),
    "EMPTY_CELL": _check("CELL_EMPTY"),
    "CALL": _call,
}
"""check -> lowering(writer, index of the guard, guard)"""


def lowers(check: str) -> Callable[[Lowering], Lowering]:
    """Decorator: the function lowers a check of a domain."""

    def add(lowering: Lowering) -> Lowering:
        LOWERINGS[check] = lowering
        return lowering

    return add
