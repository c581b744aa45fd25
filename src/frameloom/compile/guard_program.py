"""Guards as a native program: a walk over the trie of their sources, with the checks of each object where it is read.

The reference is `Guard.holds`; `guard_rows` has the rows.  What is asked of the state of the process comes first, then the
arguments themselves, then what hangs on each root, the small ones first; checks of several objects and of Python come last.

Everything that is read of the storage of one dictionary stands together, between rows of memory, with the checks that can
only change when what the dictionary holds changes: as long as it does not, one comparison stands for all of them.
"""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from frameloom.compile import arithmetic  # noqa: F401  rows for checks of numbers
from frameloom.compile.guard_rows import HEAP_TYPE, LOWERINGS, UNREAD, Writer, python_check
from frameloom.native import GuardProgram
from frameloom.symbolic.guards import PLAIN_KEYS, Guard
from frameloom.symbolic.source import Source


class Lowered(NamedTuple):
    """A program, and the guards that its failing indices name."""

    program: GuardProgram
    guards: tuple[Guard, ...]


def lower(guards: Iterable[Guard], code: types.CodeType) -> Lowered:
    """The native program of the guards of a trace of `code`."""
    return Lowering(guards, code).finish()


class Lowering:
    """The guards of one trace on their way into a program.  When made, all of them have been written."""

    def __init__(self, guards: Iterable[Guard], code: types.CodeType) -> None:
        self.guards = tuple(guards)
        self.writer = Writer(self.guards, code)
        self._checks: dict[Source, list[int]] = {}
        self._children: dict[Source, list[Source]] = {}
        self._blame: dict[Source, int] = {}
        self._sizes: dict[Source, int] = {}
        self._done: set[int] = set()
        first: list[int] = []
        last: list[int] = []
        for index, guard in enumerate(self.guards):
            if guard.check in LAST:
                last.append(index)
            elif guard.check in FIRST:
                first.append(index)
            else:
                self._plant(index, guard.source)
        self._write(first, last)

    def reads(self, source: Source) -> bool:
        """Whether the program can hand out what the source reads."""
        register = self.writer.registers.get(source)
        if register is not None:
            return not self.writer.is_loud(register)
        return source.base is not None and source.step in READABLE and self.reads(source.base)

    def finish(self, packed: Sequence[Source] = (), gathered: Sequence[Source] = ()) -> Lowered:
        """The program, which hands out what the `packed` sources read, as one tuple if there are any, then what each of the
        `gathered` reads, in their order."""
        writer = self.writer
        registers = tuple([writer.register(source, self._blame_of(source)) for source in (*packed, *gathered)])
        program = GuardProgram((*writer.quiet, *writer.loud), tuple(writer.constants), registers, len(packed))
        return Lowered(program, self.guards)

    # -- the trie ------------------------------------------------------------------------------------------------
    def _plant(self, index: int, source: Source) -> None:
        """Enter a guard and the path of its source."""
        self._checks.setdefault(source, []).append(index)
        blame, children = self._blame, self._children
        while source not in blame:
            blame[source] = index
            base = source.base
            if base is None:
                break
            children.setdefault(base, []).append(source)
            source = base
        root = source
        while root.base is not None:
            root = root.base
        self._sizes[root] = self._sizes.get(root, 0) + 1

    def _blame_of(self, source: Source) -> int:
        """The guard that says what reads the source: one of its own, or of what hangs on it, or of what it hangs on."""
        at: Source | None = source
        while at is not None and at not in self._blame:
            at = at.base
        return 0 if at is None else self._blame[at]

    def _write(self, first: list[int], last: list[int]) -> None:
        for index in first:
            self._check(index)
        roots = sorted(self._sizes, key=self._sizes.__getitem__)
        arguments = [root for root in roots if root.step in ARGUMENTS]
        asked = {root: self._ask(root) for root in arguments}
        small = [root for root in roots if root.step not in ARGUMENTS and self._sizes[root] <= FEW]
        large = [root for root in roots if root.step not in ARGUMENTS and self._sizes[root] > FEW]
        self._same = {root: [] for root in roots}
        for index in last:
            root = self._root_of_both(self.guards[index])
            if root in self._same:
                self._same[root].append(index)
                self._done.add(index)
        self._stretch(small)
        for root in sorted([*arguments, *large], key=self._sizes.__getitem__):
            self._stretch([root], asked.get(root))
        for index in last:
            if index not in self._done:
                self._check(index)

    def _stretch(self, roots: list[Source], asked: Asked | None = None) -> None:
        """Everything at some roots and below them, depth first, for one snapshot.  `asked`: the root itself has been."""
        self.writer.begin()
        for root in roots:
            self._storages(root, asked or self._ask(root))
            pending = [*reversed(self._children.get(root, ()))]
            while pending:
                source = pending.pop()
                if not (source.step == "dict" and self._names_only(source)):
                    self._storages(source, self._ask(source))
                pending.extend(reversed(self._children.get(source, ())))
        for root in roots:
            for index in self._same[root]:
                self._check(index)
        self.writer.end()

    def _root_of_both(self, guard: Guard) -> Source | None:
        """The root of both sources of a guard that they read one object."""
        root = guard.source.root() if guard.check == "SAME" else None
        return root if root is not None and guard.payload.root() is root else None

    # -- one object ----------------------------------------------------------------------------------------------
    def _check(self, index: int) -> None:
        guard = self.guards[index]
        LOWERINGS.get(guard.check, python_check)(self.writer, index, guard)

    def _ask(self, source: Source) -> Asked:
        """The checks of what a source reads, but for those of its storages, which are returned."""
        if source not in self._children and self._unread(source):
            return Asked([], [])
        self.writer.register(source, self._blame[source])
        children = self._children.get(source, ())
        absent = [index for child in children if child.step == "dict" and self._names_only(child) for index in self._checks[child]]
        stored = _storage_of(self.writer.class_read(source)).checks
        held: list[int] = []
        for index in self._checks.get(source, ()):
            if index not in self._done:
                check = self.guards[index].check
                if check == "NO_ATTRIBUTE":
                    absent.append(index)
                elif check in stored:
                    held.append(index)
                else:
                    self._check(index)
        return Asked(absent, held)

    def _unread(self, source: Source) -> bool:
        """Write the checks of what a source reads without reading it, if that can be."""
        lowering = UNREAD.get(source.step)
        checks = [(index, self.guards[index]) for index in self._checks.get(source, ())]
        if lowering is None or not checks or not lowering(self.writer, source, checks):
            return False
        self._done.update(index for index, _ in checks)
        return True

    def _storages(self, source: Source, asked: Asked) -> None:
        """What is read of the storages of what a source reads."""
        step, _, memory = _storage_of(self.writer.class_read(source))
        children = self._children.get(source, ())
        self._storage("SAME_ATTRS", source, asked.absent, [child for child in children if child.step == "attribute"])
        self._storage(memory, source, asked.held, [child for child in children if child.step == step])

    def _names_only(self, source: Source) -> bool:
        """Whether of an instance's dictionary only the names are asked, for which it need not be there."""
        checks = self._checks.get(source)
        return checks is not None and source not in self._children and all(self._asks_names(self.guards[index]) for index in checks)

    def _asks_names(self, guard: Guard) -> bool:
        return guard.check == "KEYS" and all(type(name) is str for name in guard.payload)

    def _storage(self, memory: str, source: Source, checks: list[int], children: list[Source]) -> None:
        """What is read and checked of one storage; behind a row of memory where that saves anything."""
        if not checks and not children:
            return
        writer = self.writer
        register = writer.registers[source]
        remembers = not writer.is_loud(register) and self._keys_are_plain(checks, children)
        stretch = writer.memory(memory, register) if remembers else None
        present = {_key(self.guards[index].payload): index for index in checks if self.guards[index].check == "HAS_KEY"}
        for child in children:
            index = present.pop(_key(child.key), None)
            writer.register(child, self._blame[child] if index is None else index)
            if index is not None:
                self._done.add(index)  # to read it is to find it there
            self._fixed(child)
        for index in checks:
            if index not in self._done:
                self._check(index)
        if stretch is not None:
            writer.held(*stretch)

    def _keys_are_plain(self, checks: list[int], children: list[Source]) -> bool:
        """Whether the keys asked for compare with others in the same way for ever."""
        asked = [self.guards[index].payload for index in checks if self.guards[index].check in ONE_KEY]
        return all(type(key) in PLAIN_KEYS for key in (*asked, *[child.key for child in children]))

    def _fixed(self, source: Source) -> None:
        """The checks that the same object always answers in the same way, and those of the items of a tuple."""
        cls = self.writer.class_read(source)
        is_tuple = cls is not None and issubclass(cls, tuple)
        for index in self._checks.get(source, ()):
            guard = self.guards[index]
            check = guard.check
            if check == "TYPE" and is_for_good(guard.payload) or check in ("IS", "EQUAL") or is_tuple and check == "LENGTH":
                self._check(index)
                self._done.add(index)
        if is_tuple:
            for child in self._children.get(source, ()):
                if child.step == "item":
                    self.writer.register(child, self._blame[child])
                    self._fixed(child)


ARGUMENTS = frozenset({"local", "cell"})
FIRST = frozenset({"RETURNS"})
LAST = frozenset({"SAME", "DISTINCT", "SIZES", "STORAGES", "CALL", "OUTCOME"})
ONE_KEY = frozenset({"HAS_KEY", "NO_KEY"})
IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
READABLE = frozenset({"attribute", "type_attribute", "contents", "closure", "defaults", "kwdefaults", "method_function"})
FEW = 100  # guards at a root: what hangs on arguments is asked before what hangs on a root with more


class Asked(NamedTuple):
    """Checks of the storages of an object: of its attributes, and of what else it has."""

    absent: list[int]
    held: list[int]


class Storage(NamedTuple):
    """What is read of one kind of storage: by which step and which checks, and the row that remembers it."""

    step: str
    checks: frozenset[str]
    memory: str


CLASS = Storage("type_attribute", frozenset({"NO_TYPE_ATTRIBUTE", "ORDER"}), "SAME_TYPE")
ORDERED_DICT = Storage("dict_item", frozenset({"HAS_KEY", "NO_KEY", "LENGTH", "LENGTH_AT_LEAST"}), "SAME_DICT")
DICT = Storage("dict_item", ORDERED_DICT.checks | {"KEYS"}, "SAME_DICT")
NOTHING = Storage("", frozenset(), "")


def _storage_of(cls: type | None) -> Storage:
    """The storage besides the attributes that objects of a class have."""
    if cls is None:
        return NOTHING
    if issubclass(cls, dict):
        return ORDERED_DICT if issubclass(cls, OrderedDict) else DICT
    return CLASS if issubclass(cls, type) else NOTHING


def is_for_good(cls: type) -> bool:
    """Whether an object of this class can never have another one."""
    return (not cls.__flags__ & HEAP_TYPE or bool(cls.__flags__ & IMMUTABLE)) and not issubclass(cls, types.ModuleType)


def _key(key: object) -> tuple:
    """A key of dictionaries by class and value where the host may compare it, else by identity."""
    return (type(key), key) if type(key) in (str, int, bytes) else (None, id(key))
