"""Observation: the one room where a trace looks at real objects, and hence the one that makes guards (law 2)."""

from __future__ import annotations

import types
from typing import Any, Callable

from frameloom.symbolic import kinds
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.guards import HEAP_TYPE, class_order
from frameloom.symbolic.instance_dict import MISSING, class_item
from frameloom.symbolic.layouts import layout_of
from frameloom.symbolic.layouts.class_ import ClassBody
from frameloom.symbolic.made import STAND_INS
from frameloom.symbolic.real import flags_of, mro_of, namespace_of, stands_on
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.source import Missing, Source
from frameloom.symbolic.values import ABSENT, Const, Lazy, Node, Obj, Real, Value


class Observer:
    """Looks at real objects for one session."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.seen: dict[int, Value] = {}
        self.lent: list[Real] = []
        self.type_memo: dict[tuple, Value] = {}
        self.ordered: dict[type, bool] = {}
        self.class_writes: dict[tuple, Value] = {}
        self.constants: dict[int, Value] = {}
        self.made_ever: list[tuple[int, Obj]] = []  # those that were taken back, too
        self.made: dict[int, Obj] = {}  # classes made by the trace, by the id of their stand-ins
        self.promoted: frozenset = frozenset()  # sources of numbers that are read at run time

    def forget(self) -> None:
        """Let go of the real objects, and of their values, which may point at each other in circles."""
        for real in self.lent:
            real.object = real.source = None
        self.lent.clear()
        for value in self.seen.values():
            if type(value) is Obj:
                value.attributes = value.slots = value.body = None
        self.seen.clear()
        self.forget_classes()

    def forget_classes(self) -> None:
        """Let go of the stand-ins of classes that the trace has made."""
        for key, cls in self.made_ever:
            del STAND_INS[key]
            cls.body = None
        self.made_ever.clear()

    def real(self, found: Any, source: Source) -> Real:
        """A real object and the path to it, until all are let go."""
        made = Real(found, source)
        self.lent.append(made)
        return made

    # -- wrapping ------------------------------------------------------------------------------------------------
    def wrap(self, found: Any, source: Source) -> Value:
        """The symbolic value of a real object reached by `source`, with the guard that keeps it true."""
        return kinds.kind_of(type(found), self.session.domain).wrap(self, found, source)

    def resolve(self, value: Value) -> Value:
        """`value`, looked at if it was not yet."""
        if type(value) is Lazy:
            return self.wrap(value.real.object, value.real.source)
        return value

    def constant(self, found: Any) -> Value:
        """The symbolic value of an object that the program's own code holds (a code constant) or that is fixed for good."""
        if type(found) in kinds.ATOMS:
            return Const(found)
        known = self.constants.get(id(found))
        if known is None:
            known = self._constant(found)
            self.session.journal.set_item(self.constants, id(found), known)
        return known

    def _constant(self, found: Any) -> Value:
        known = self.seen.get(id(found))
        if known is not None:
            if type(known) in (Obj, Node):
                self.identify(known)  # that the path found before leads to this very object is what is assumed from now on
            return known
        return kinds.kind_of(type(found), self.session.domain).constant(self, found, self.session.sources.const(found))

    def atom(self, found: Any, source: Source) -> Value:
        if type(found) in (int, float) and self._varies(source):
            return self.promote(found, source)
        self.session.guard("EQUAL", source, found)
        return Const(found, source if kinds.has_equals(found) else None)

    def _varies(self, source: Source) -> bool:
        """Whether a number is read at run time: the program declares it, or earlier captures found it, or all arguments are taken to vary."""
        declared = self.session.declared
        if declared is not None:
            answer = declared.number(source)
            if answer is not None:
                return answer
        return source in self.promoted or self.session.domain.begins_varying and source.base is None and source.step == "local"

    def promote(self, found: Any, source: Source) -> Node:
        """A number that is read at run time instead of being guarded by value."""
        known = self.seen.get(source)
        if known is None:
            self.session.guard("TYPE", source, type(found))
            from frameloom.symbolic.values import INPUT

            known = self.session.record(INPUT, (), {}, type(found), None, tape="host", real=self.real(found, source))
            self.session.journal.set_item(self.seen, source, known)
        return known

    def specialise(self, node: Node) -> Const:
        """The value of a promoted number after all, guarded."""
        self.session.guard("EQUAL", node.real.source, node.real.object)
        return Const(node.real.object)

    def peek_number(self, node: Node) -> Any:
        """What a promoted number is in this call, without a guard: the caller guards what it makes of it."""
        return node.real.object

    def global_entry(self, real: Real, name: str) -> Value:
        """A global of the root function, read by the way its code reads it, or ABSENT."""
        found = dict.get(real.object, name, MISSING)
        if found is MISSING:
            self.session.guard("NO_KEY", real.source, name)
            return ABSENT
        return self.wrap(found, self.session.sources.global_(name))

    def singleton(self, found: Any, source: Source) -> Const:
        """An immutable object known by identity."""
        self.session.guard("IS", source, found)
        return Const(found)

    def remember(self, found: Any, source: Source, make: Callable[[], Value]) -> Value:
        """The one symbolic value of a real object with identity: found again by another path, that is an observation too."""
        known = self.seen.get(id(found))
        if known is not None:
            first = known.source
            if first is not None and first is not source and source.root().step != "const":
                self.session.guard("SAME", source, first)
            return known
        known = make()
        self.session.journal.set_item(self.seen, id(found), known)
        return known

    def identified(self, found: Any, source: Source) -> Obj:
        """An object whose identity is guarded: a class, a module."""
        if stands_on(found, type):
            kinds.require_quiet(found)
        if source.root().step != "const" or source.base is not None:
            self.session.guard("IS", source, found)

        def make() -> Obj:
            obj = Obj(type(found), self.real(found, self.session.sources.const(found)))
            obj.body = layout_of(type(found)).look(obj, self.session)
            return obj

        known = self.seen.get(id(found))
        if known is None:
            if can_change_class(found):
                self.session.guard("TYPE", self.session.sources.const(found), type(found))
            known = make()
            self.session.journal.set_item(self.seen, id(found), known)
        return known

    def plain(self, found: Any, source: Source) -> Obj:
        """An object known by its class; its parts are looked at when asked for."""
        return self.remember(found, source, lambda: self._looked_at(found, source))

    def _looked_at(self, found: Any, source: Source) -> Obj:
        if source.base is not None or source.step != "const" or not is_static(type(found)):
            self.session.guard("TYPE", source, type(found))
        obj = Obj(type(found), self.real(found, source))
        obj.body = layout_of(type(found)).look(obj, self.session)
        return obj

    def claimed(self, found: Any, source: Source) -> Value:
        """An object of a class that the domain claims: a node, or an object like others where the domain says so."""

        def make() -> Value:
            made = self.session.domain.input(self.session, self.real(found, source))
            return self._looked_at(found, source) if made is NOT_HANDLED else made

        return self.remember(found, source, make)

    # -- identity ------------------------------------------------------------------------------------------------
    def known(self, value: Value) -> Any:
        """The real object behind a value whose identity is (now) guarded, or MISSING: for tables keyed by objects."""
        if type(value) is Const:
            return value.value
        if type(value) is Obj:
            if value.real is not None:
                self.identify(value)
                return value.real.object
            if type(value.body) is ClassBody:
                raise GraphBreak("FL004", f"{value.body.name}, made in the trace, is looked at by C code")
        return MISSING

    def known_class(self, value: Value) -> Any:
        """As `known`, and the stand-in of a class that the trace has made: for questions that its stand-in answers."""
        if type(value) is Obj and type(value.body) is ClassBody:
            return value.body.stand_in
        return self.known(value)

    def add_class(self, made: Obj) -> None:
        """The trace has made a class."""
        stand_in = made.body.stand_in
        STAND_INS[id(stand_in)] = made
        self.made_ever.append((id(stand_in), made))
        self.session.journal.set_item(self.made, id(stand_in), made)
        self.session.journal.set_item(self.constants, id(stand_in), made)

    def peek(self, value: Value) -> Any:
        """As `known` but without a guard: the caller must guard by `known` before it acts on what it saw."""
        if type(value) is Const:
            return value.value
        if type(value) is Lazy or type(value) is Obj and value.real is not None:
            return value.real.object
        return MISSING

    def identify(self, value: Obj) -> None:
        source = value.real.source
        if source.base is None and source.step == "const":
            return
        self.session.guard("IS", source, value.real.object)

    # -- class look-ups ------------------------------------------------------------------------------------------
    def type_lookup(self, cls: type, name: str) -> Value:
        """What a look-up of `name` along the classes of `cls` finds, unbound, or ABSENT."""
        if self.made and id(cls) in self.made:
            return self._lookup_on_made(cls, name)
        if self.class_writes:
            written = self._written(cls, name)
            if written is not None:
                return written
        key = (cls, name)
        found = self.type_memo.get(key)
        if found is None:
            found = self._type_lookup(cls, name)
            self.session.journal.set_item(self.type_memo, key, found)
        return found

    def _written(self, cls: type, name: str) -> Value | None:
        for base in mro_of(cls):
            written = self.class_writes.get((base, name))
            if written is not None and written is not ABSENT:
                return written
            if written is None and name in namespace_of(base):
                return self.wrap(namespace_of(base)[name], self.session.sources.const(base).child("type_attribute", name))
        return ABSENT if any((base, name) in self.class_writes for base in mro_of(cls)) else None

    def _lookup_on_made(self, cls: type, name: str) -> Value:
        order = mro_of(cls)
        for place, base in enumerate(order):
            if id(base) not in self.made and order[place:] == mro_of(base):
                return self.type_lookup(base, name)
            found = self.own_entry(base, name)
            if found is not ABSENT:
                return found
        return ABSENT

    def own_entry(self, cls: type, name: str) -> Value:
        """What the namespace of a class alone holds under a name, unbound, or ABSENT."""
        made = self.made.get(id(cls))
        if made is not None:
            return made.body.entry(name)
        written = self.class_writes.get((cls, name))
        if written is not None:
            return written
        found = self.type_lookup(cls, name)  # where the name is not the class's own, what its bases have guards that
        return found if name in namespace_of(cls) else ABSENT

    def _type_lookup(self, cls: type, name: str) -> Value:
        found = class_item(cls, name)
        static = is_static(cls)
        if found is not MISSING:
            if static:
                return self.constant(found)
            return self.wrap(found, self.session.sources.const(cls).child("type_attribute", name))
        if not static:
            self.session.guard("NO_TYPE_ATTRIBUTE", self.session.sources.const(cls), name)
        return ABSENT

    def peek_type(self, cls: type, name: str) -> Any:
        """The raw object of a look-up along the classes, or MISSING; guarded by the look-up itself."""
        self.type_lookup(cls, name)
        return class_item(cls, name)

    def order(self, cls: type) -> tuple:
        """The classes along which a class looks attributes up, `__mro__`; guarded, for whoever assigns `__bases__` changes it."""
        if cls not in self.ordered and id(cls) not in self.made and not is_static(cls):
            self.session.guard("ORDER", self.session.sources.const(cls), class_order(cls))
            self.session.journal.set_item(self.ordered, cls, True)
        return mro_of(cls)

    def is_subtype(self, cls: type, base: type) -> bool:
        """Whether a class stands on another, past what abstract classes and metaclasses say; guarded."""
        return cls is base or base in self.order(cls)

    def flags(self, cls: type, mask: int) -> int:
        """Those flags of a class, guarded: some say what it was registered with, or whether it is abstract."""
        found = flags_of(cls) & mask
        if id(cls) in self.made:
            for base in mro_of(cls)[1:]:
                if id(base) not in self.made:
                    self.flags(base, mask)
        elif not is_static(cls):
            self.session.guard("FLAGS", self.session.sources.const(cls), (mask, found))
        return found

    def read(self, value: Obj, step: str, key: Any = None) -> Value:
        """One step from a real object: the value found, or ABSENT; the caller guards absence."""
        real = value.real
        if real is None:
            raise GraphBreak("FL004", f"what C code knows of a {value.cls.__name__} that the trace has made")
        source = real.source.child(step, key)
        try:
            from frameloom.symbolic.source import STEPS

            found = STEPS[step].read(real.object, key)
        except Missing:
            return ABSENT
        return self.wrap(found, source)


def can_change_class(found: Any) -> bool:
    """Whether `__class__` of an object can be assigned: it is a module, or its class is not immutable (`object.__class__`)."""
    flags = flags_of(type(found))
    return bool(flags & HEAP_TYPE) and not flags & IMMUTABLE or stands_on(found, types.ModuleType)


def is_static(cls: type) -> bool:
    """Whether no class along the look-up can change."""
    known = _STATIC.get(cls)
    if known is None:
        mro = mro_of(cls)
        known = bool(mro) and not any(flags_of(base) & HEAP_TYPE and not flags_of(base) & IMMUTABLE for base in mro)
        if known:
            _STATIC[cls] = known
    return known


IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_STATIC: dict[type, bool] = {}
