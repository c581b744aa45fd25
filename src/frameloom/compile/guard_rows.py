"""The rows of the lowering of guards: how each step and each check becomes instructions of the native program.

The reference is `Guard.holds`.  Each step and each check has one row here; what has none runs as Python (`PY_STEP`, `PY_CHECK`,
`PY_CHECK_MANY`), which is always right.  Rows for checks of a domain are added by its room (`lowers`).
"""

from __future__ import annotations

import collections
import functools
import sys
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from frameloom.native import GuardProgram
from frameloom.native.opcodes import NUMBERS, OPCODES, STEADY
from frameloom.rules.class_ import CLASS_TEXT
from frameloom.symbolic.guards import CHECKS, Guard, let_die, others_of
from frameloom.symbolic.keys import host_hashable
from frameloom.symbolic.layouts.payload import payload_holds
from frameloom.symbolic.layouts.reference import REFERENT
from frameloom.symbolic.mortal import may_die, still_there, weakly
from frameloom.symbolic.real import can_be_weak, mro_of, namespace_of
from frameloom.symbolic.source import STEPS, Missing, Source

HEAP_TYPE = 1 << 9
RUNS = frozenset(row.name for row in OPCODES if row.runs)
KINDS = {row.name: row.kind for row in OPCODES}
WORTH_REMEMBERING = 2  # rows
WORTH_A_SNAPSHOT = 4
READERS = frozenset({"step", "check", "pair", "memory"})


class Writer:
    """Writes instructions, which are tuples as `native/opcodes.py` describes them.

    `quiet`: those before the first that may run Python code; `loud`: that one and those behind it.  Every source has a register
    of its own.

    Between `begin` and `end` rows are written that a snapshot can stand for; others go behind these, the roots before them.
    """

    def __init__(self, guards: Sequence[Guard], code: types.CodeType) -> None:
        self.code = code
        self.quiet: list[tuple] = []
        self.loud: list[tuple] = []
        self.constants: list[Any] = []
        self.registers: dict[Source, int] = {}
        self._snapshot: list[tuple] | None = None
        self._late: list[tuple] = []
        self._loud_registers: set[int] = set()
        self._late_registers: set[int] = set()
        self._constant_index: dict[tuple, int] = {}
        self.alike: dict[Any, Any] = {}
        self._next = 0
        self._guards = guards
        self._payloads: dict[tuple[str, Source], Any] | None = None
        self.classes = {guard.source: guard.payload for guard in guards if guard.check == "TYPE"}
        for guard in guards:
            if guard.check == "IS":
                self.classes.setdefault(guard.source, type(guard.payload))

    def emit(self, name: str, source: int = 0, target: int = 0, operand: int = 0, guard: int = 0, reads: Sequence[int] = ()) -> None:
        """Append an instruction.  `reads` are registers that its constant names.

        One that may run Python code, or that reads what such a one found, goes behind all others.
        """
        self._place(name, source, target, reads).append((NUMBERS[name], source, target, operand, guard))

    def _place(self, name: str, source: int, target: int, reads: Sequence[int]) -> list[tuple]:
        kind = KINDS[name]
        if name in RUNS or self._loud_registers and _reads_one_of(self._loud_registers, kind, source, target, reads):
            return self.loud
        if self._snapshot is None or kind == "root" and name not in STEADY:
            return self.quiet
        if name not in STEADY or self._late_registers and _reads_one_of(self._late_registers, kind, source, target, reads):
            return self._late
        return self._snapshot

    def payload(self, check: str, source: Source) -> Any:
        """What the guards of a trace ask of a source by a check, None where they do not."""
        if self._payloads is None:
            self._payloads = {(guard.check, guard.source): guard.payload for guard in self._guards}
        return self._payloads.get((check, source))

    def begin(self) -> None:
        """From here on rows are written for a snapshot."""
        self._snapshot = []

    def end(self) -> None:
        """The end of the rows for a snapshot, which there is if it saves anything."""
        rows, self._snapshot = self._snapshot or [], None
        length = len(rows) + 1
        if length > WORTH_A_SNAPSHOT:
            rows = [(NUMBERS["SNAPSHOT"], 0, 0, length, 0), *rows, (NUMBERS["TAKEN"], 0, 0, length, 0)]
        self.quiet += rows
        self.quiet += self._late
        self._late.clear()
        self._late_registers.clear()

    def memory(self, name: str, register: int) -> tuple[list[tuple], int]:
        """Begin a stretch of memory: where it is written, and the index of its first row there."""
        rows = self._place(name, register, 0, ())
        rows.append((NUMBERS[name], register, 0, 0, 0))
        return rows, len(rows) - 1

    def held(self, rows: list[tuple], start: int) -> None:
        """End a stretch of memory, or take back its first row where it saves nothing."""
        length = len(rows) - start
        if length <= WORTH_REMEMBERING:
            del rows[start]
            return
        opcode, source, target, _, guard = rows[start]
        rows[start] = (opcode, source, target, length, guard)
        rows.append((NUMBERS["HELD"], 0, 0, length, 0))

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
                found = STEP_LOWERINGS.get(source.step, python_step)(self, source, base, guard)
            self.registers[source] = found
        return found

    def step(self, name: str, base: int, operand: int, guard: int) -> int:
        """Emit a step into a new register."""
        target = self._next
        self._next += 1
        if name in RUNS or KINDS[name] == "step" and base in self._loud_registers:
            self._loud_registers.add(target)
        elif self._snapshot is not None and (name not in STEADY and KINDS[name] == "step" or KINDS[name] == "step" and base in self._late_registers):
            self._late_registers.add(target)
        self.emit(name, base, target, operand, guard)
        return target

    def is_loud(self, register: int) -> bool:
        """Whether what is in a register was found by Python code."""
        return register in self._loud_registers

    def argument(self, name: str) -> int:
        """The index of an argument slot."""
        return self.code.co_varnames.index(name)

    def class_read(self, source: Source) -> type | None:
        """The class of what a source reads, where a guard says it."""
        if source.base is None and source.step == "const":
            return type(source.key)
        return self.classes.get(source)


def _reads_one_of(registers: set[int], kind: str, source: int, target: int, reads: Sequence[int]) -> bool:
    return kind in READERS and source in registers or kind == "pair" and target in registers or not registers.isdisjoint(reads)


# -- roots -----------------------------------------------------------------------------------------------------------


def _root_const(writer: Writer, source: Source, guard: int) -> int:
    if can_be_weak(source.key):
        return writer.step("CONST_WEAK", 0, writer.constant(weakref.ref(source.key)), guard)
    return writer.step("CONST", 0, writer.constant(source.key), guard)


ROOTS: dict[str, Callable[[Writer, Source, int], int]] = {
    "local": lambda w, s, g: w.step("LOCAL", 0, w.argument(s.key), g),
    "cell": lambda w, s, g: w.step("CELL", 0, w.code.co_freevars.index(s.key), g),
    "global": lambda w, s, g: w.step("GLOBAL", 0, w.constant(s.key), g),
    "builtin": lambda w, s, g: w.step("BUILTIN", 0, w.constant(s.key), g),
    "function_globals": lambda w, s, g: w.step("GLOBALS", 0, 0, g),
    "handled": lambda w, s, g: w.step("CALL0", 0, w.constant(sys.exception), g),
    "const": _root_const,
}


# -- sources that need no reading ------------------------------------------------------------------------------------


def _nothing_handled(writer: Writer, source: Source, checks: Sequence[tuple[int, Guard]]) -> bool:
    """That no exception is being handled, asked of the built-in function without keeping its answer."""
    if any(guard.check != "EQUAL" or guard.payload is not None for _, guard in checks):
        return False
    writer.emit("CALL0_IS", 0, 0, writer.constant((sys.exception, None)), checks[0][0])
    return True


def _plain_dictionary(writer: Writer, source: Source, checks: Sequence[tuple[int, Guard]]) -> bool:
    """That an instance's `__dict__` is a dict and no object of a subclass: it need not be made for that."""
    cls = writer.class_read(source.base)
    if not _is_made_with_dictionary(cls) or any(guard.check != "TYPE" or guard.payload is not dict for _, guard in checks):
        return False
    index = checks[0][0]
    writer.emit("PLAIN_ATTRS", writer.register(source.base, index), 0, 0, index)
    return True


def _is_made_with_dictionary(cls: type | None) -> bool:
    """Whether `__dict__` of instances is what a class statement, or a type of C, makes it: modules have another."""
    owners = map(namespace_of, () if cls is None else mro_of(cls))
    found = next((names["__dict__"] for names in owners if "__dict__" in names), None)
    return type(found) is types.GetSetDescriptorType


def _text_of_class(writer: Writer, source: Source, checks: Sequence[tuple[int, Guard]]) -> bool:
    """What `type.__repr__` says of a class made by a class statement: it is made of two names, which are looked at."""
    if source.key is not CLASS_TEXT or not _is_made_by_statement(source.base):
        return False
    cls = source.base.key
    module, name = namespace_of(cls).get("__module__"), type.__dict__["__qualname__"].__get__(cls)
    text = f"<class '{module}.{name}'>"
    if type(module) is not str or module == "builtins" or any((guard.check, guard.payload) != ("EQUAL", text) for _, guard in checks):
        return False
    index = checks[0][0]
    base = writer.register(source.base, index)
    own = writer.step("TYPE_DICT", base, 0, index)
    found = writer.step("DICT_ITEM", own, writer.constant("__module__"), index), writer.step("TYPE_QUALNAME", base, 0, index)
    for register, wanted in zip(found, (module, name)):
        writer.emit("EQ_STR", register, 0, writer.constant(wanted), index)
    return True


UNREAD: dict[str, Callable[[Writer, Source, Sequence[tuple[int, Guard]]], bool]] = {
    "handled": _nothing_handled,
    "dict": _plain_dictionary,
    "descriptor": _text_of_class,
}
"""step -> lowering of all checks on what a source reads, where they can be made without reading it; False where not.  For sources that
no other source hangs on"""


# -- steps -----------------------------------------------------------------------------------------------------------


class _ReadStep:
    """A step as a function of one object; raises `Missing` where there is nothing."""

    def __init__(self, source: Source) -> None:
        self.read = STEPS[source.step].read
        self.key = source.key

    def __call__(self, base: Any) -> Any:
        return self.read(base, self.key)


def python_step(writer: Writer, source: Source, base: int, guard: int) -> int:
    return writer.step("PY_STEP", base, writer.constant(_ReadStep(source)), guard)


def _item(writer: Writer, source: Source, base: int, guard: int) -> int:
    cls = writer.class_read(source.base)
    for storage, name in ((list, "LIST_ITEM"), (tuple, "TUPLE_ITEM")):
        if cls is not None and issubclass(cls, storage):
            return writer.step(name, base, source.key, guard)
    return python_step(writer, source, base, guard)


def _descriptor(writer: Writer, source: Source, base: int, guard: int) -> int:
    name = NAMED.get(source.key) or _reader_of(source.key)
    if name in ("TYPE_NAME", "TYPE_QUALNAME") and not _is_made_by_statement(source.base):
        name = "GETTER"
    if name is None:
        return python_step(writer, source, base, guard)
    return writer.step(name, base, writer.constant(source.key), guard)


def _is_made_by_statement(source: Source) -> bool:
    return source.base is None and source.step == "const" and bool(source.key.__flags__ & HEAP_TYPE)


NAMED = {
    types.FunctionType.__dict__["__name__"]: "FUNC_NAME",
    types.FunctionType.__dict__["__qualname__"]: "FUNC_QUALNAME",
    types.FunctionType.__dict__["__annotations__"]: "FUNC_ANNOTATIONS",
    type.__dict__["__name__"]: "TYPE_NAME",
    type.__dict__["__qualname__"]: "TYPE_QUALNAME",
    REFERENT: "REFERENT",
}


@functools.lru_cache(maxsize=4096)
def _reader_of(descriptor: Any) -> str | None:
    """The instruction that reads what a descriptor of C stands for: the slot itself where it holds an object."""
    for name in ("SLOT", "GETTER"):
        try:
            GuardProgram((("LOCAL", 0, 0, 0, 0), (name, 0, 1, 0, 0)), (descriptor,))
        except TypeError:
            continue
        return name
    return None


def _closure(writer: Writer, source: Source, base: int, guard: int) -> int:
    cells = writer.step("FUNC_CLOSURE", base, 0, guard)
    return writer.step("TUPLE_ITEM", cells, source.key, guard)


def _method_self(writer: Writer, source: Source, base: int, guard: int) -> int:
    cls = writer.class_read(source.base)
    name = {types.MethodType: "METHOD_SELF", types.BuiltinFunctionType: "BUILTIN_SELF"}.get(cls)
    if name is None:
        return python_step(writer, source, base, guard)
    return writer.step(name, base, 0, guard)


class _WeakKey:
    """A step or check of a dictionary by a key that may die: `act(mapping, key)`, or `Missing` and False when it is gone."""

    __slots__ = ("act", "reference", "is_step")

    def __init__(self, act: Callable[[Any, Any], Any], key: Any, is_step: bool) -> None:
        self.act = act
        self.reference = weakly(key)
        self.is_step = is_step

    def __call__(self, mapping: Any) -> Any:
        key = self.reference()
        if key is not None:
            return self.act(mapping, key)
        if self.is_step:
            raise Missing("gone")
        return False


def _dict_item(writer: Writer, source: Source, base: int, guard: int) -> int:
    if not may_die(source.key):
        return _keyed("DICT_ITEM")(writer, source, base, guard)
    step = _WeakKey(STEPS["dict_item"].read, source.key, True)
    return writer.step("PY_STEP", base, writer.constant(step), guard)


def _key_check(check: str, name: str) -> Lowering:
    def lowering(writer: Writer, index: int, guard: Guard) -> None:
        if not may_die(guard.payload):
            _check(name, _payload)(writer, index, guard)
            return
        holds = CHECKS[check].holds
        act = _WeakKey(lambda mapping, key: holds(mapping, key, None), guard.payload, False)
        writer.emit("PY_CHECK", writer.register(guard.source, index), 0, writer.constant(act), index)

    return lowering


def _plain(name: str) -> Callable[[Writer, Source, int, int], int]:
    return lambda writer, source, base, guard: writer.step(name, base, 0, guard)


def _keyed(name: str) -> Callable[[Writer, Source, int, int], int]:
    return lambda writer, source, base, guard: writer.step(name, base, writer.constant(source.key), guard)


STEP_LOWERINGS: dict[str, Callable[[Writer, Source, int, int], int]] = {
    "attribute": _keyed("DICT_ATTR"),
    "descriptor": _descriptor,
    "type_attribute": _keyed("TYPE_ATTR"),
    "type": _plain("TYPE_OF"),
    "item": _item,
    "dict_item": _dict_item,
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

Lowering = Callable[[Writer, int, Guard], None]


class PythonCheck:
    """A check as a function of the object it is about, and of the objects that other sources of its payload read."""

    def __init__(self, guard: Guard, payload: Any) -> None:
        self.holds = CHECKS[guard.check].holds
        self.payload = payload

    def __call__(self, value: Any, *others: Any) -> bool:
        payload = still_there(self.payload)
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


def python_check(writer: Writer, index: int, guard: Guard) -> None:
    others = others_of(guard)
    register = writer.register(guard.source, index)
    if not others:
        writer.emit("PY_CHECK", register, 0, writer.constant(PythonCheck(guard, let_die(guard).payload)), index)
        return
    check = PythonCheck(guard, guard.payload._replace(others=()))  # whose roots it would keep alive
    registers = (register, *(writer.register(other, index) for other in others))
    writer.emit("PY_CHECK_MANY", 0, 0, writer.constant((check, registers)), index, registers)


def _check(name: str, operand: Callable[[Writer, Guard], int] = lambda writer, guard: 0) -> Lowering:
    def lowering(writer: Writer, index: int, guard: Guard) -> None:
        writer.emit(name, writer.register(guard.source, index), 0, operand(writer, guard), index)

    return lowering


def _payload(writer: Writer, guard: Guard) -> int:
    return writer.constant(guard.payload)


def _number(writer: Writer, guard: Guard) -> int:
    return guard.payload


def _type(writer: Writer, index: int, guard: Guard) -> None:
    register = writer.register(guard.source, index)
    if can_be_weak(guard.payload):
        writer.emit("TYPE_IS_WEAK", register, 0, writer.constant(weakref.ref(guard.payload)), index)
    else:
        writer.emit("TYPE_IS", register, 0, writer.constant(guard.payload), index)


def _is(writer: Writer, index: int, guard: Guard) -> None:
    register = writer.register(guard.source, index)
    if can_be_weak(guard.payload):
        writer.emit("IS_WEAK", register, 0, writer.constant(weakref.ref(guard.payload)), index)
    else:
        writer.emit("IS", register, 0, writer.constant(guard.payload), index)


_EQUAL = {int: "EQ_INT", str: "EQ_STR", bytes: "EQ_BYTES", float: "EQ_FLOAT", complex: "EQ_COMPLEX"}
_SINGLETONS = (type(None), bool, type(Ellipsis), type(NotImplemented))


def _equal(writer: Writer, index: int, guard: Guard) -> None:
    cls = type(guard.payload)
    if cls in _SINGLETONS:
        _is(writer, index, guard)
    elif cls in _EQUAL:
        writer.emit(_EQUAL[cls], writer.register(guard.source, index), 0, writer.constant(guard.payload), index)
    else:
        python_check(writer, index, guard)


def _same(writer: Writer, index: int, guard: Guard) -> None:
    first = writer.register(guard.source, index)
    writer.emit("SAME", first, writer.register(guard.payload, index), 0, index)


def _distinct(writer: Writer, index: int, guard: Guard) -> None:
    registers = tuple(writer.register(source, index) for source in (guard.source, *guard.payload))
    writer.emit("DISTINCT", 0, 0, writer.constant(registers), index, registers)


def _keys(writer: Writer, index: int, guard: Guard) -> None:
    source = guard.source
    if source.step == "dict" and all(type(name) is str for name in guard.payload):  # the dictionary need not be there
        writer.emit("INSTANCE_KEYS", writer.register(source.base, index), 0, writer.constant(guard.payload), index)
        return
    cls = writer.class_read(source)
    if cls is None or not all(map(host_hashable, guard.payload)) or may_die(guard.payload):
        python_check(writer, index, guard)
    else:
        name = "ODICT_KEYS" if issubclass(cls, collections.OrderedDict) else "DICT_KEYS"
        _check(name, _payload)(writer, index, guard)


def _members(writer: Writer, index: int, guard: Guard) -> None:
    if may_die(guard.payload):
        python_check(writer, index, guard)
    else:
        _check("SET_ORDER", _payload)(writer, index, guard)


def _call(writer: Writer, index: int, guard: Guard) -> None:
    function, argument, _ = guard.payload
    special = CALL_LOWERINGS.get(function)
    register = writer.register(guard.source, index)
    if special is not None:
        special(writer, index, register, argument)
    else:
        writer.emit("PY_CHECK", register, 0, writer.constant(PythonCheck(guard, guard.payload)), index)


def _payload_holds(writer: Writer, index: int, register: int, plain: Any) -> None:
    writer.emit("PAYLOAD_EQ", register, 0, writer.constant(plain), index)


CALL_LOWERINGS: dict[Callable, Callable[[Writer, int, int, Any], None]] = {payload_holds: _payload_holds}
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
    "HAS_KEY": _key_check("HAS_KEY", "HAS_KEY"),
    "NO_KEY": _key_check("NO_KEY", "NO_KEY"),
    "MEMBER": _key_check("MEMBER", "SET_HAS"),
    "NOT_MEMBER": _key_check("NOT_MEMBER", "SET_HAS_NOT"),
    "MEMBERS": _members,
    "NO_ATTRIBUTE": _check("NO_DICT_ATTR", _payload),
    "NO_TYPE_ATTRIBUTE": _check("TYPE_ATTR_ABSENT", _payload),
    "ORDER": _check("TYPE_ORDER", _payload),
    "FLAGS": _check("TYPE_FLAGS", _payload),
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
