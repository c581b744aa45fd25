"""The builder: emits code that loads symbolic values, makes the fresh objects among them, and fills those.

Layouts (`symbolic/layouts/`) say how their storage is made; they call a Builder.  It keeps two tables: where a value is
held (a temporary), and where a source is held (a temporary or a slot that still has what it had at entry).
"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from frameloom.codegen import generators
from frameloom.codegen.constants import EntryEmitter
from frameloom.symbolic.layouts.attributes import fill_attributes, fill_slots
from frameloom.symbolic.layouts import held_by, held_by_attributes, layout_of
from frameloom.symbolic.layouts.class_ import ClassBody, entry_of, set_member
from frameloom.symbolic.made import STAND_INS, class_made
from frameloom.symbolic.source import ROOTS, STEPS, Source
from frameloom.symbolic.values import NULL, Const, Lazy, Marker, Node, Obj, Previous, Value


class Sequenced(Value):
    """A value that exists in generated code only: a tuple made of other values where it is loaded."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Value]) -> None:
        self.items = tuple(items)


class Builder:
    """Emits the making of values into `out`, an `EntryEmitter`.

    `runtime` names what generated code calls; `needed` lists the sources that are loaded anywhere.
    """

    def __init__(self, out: EntryEmitter, runtime: Any, needed: Sequence[Source] = ()) -> None:
        self.out = out
        self.runtime = runtime
        self.needed = needed
        self._values: dict[int, int] = {}
        self._sources: dict[Source, int] = {}
        self._shared = shared_bases(needed)
        self._kept: list[Value] = []  # so that no id in `_values` is used again
        self._unfilled: dict[int, Obj] = {}
        self._told: Sequence[tuple[Value, int | None]] = ()
        self.temporaries: list[int] = []

    # -- loading -------------------------------------------------------------------------------------------------
    def load(self, value: Value) -> None:
        """Push the object that a value stands for."""
        LOADERS[type(value)](self, value)

    def load_handled(self, exception: Value | None) -> None:
        """Push the exception that a marker on a stack belongs to.  The marker that a handler's clean-up leaves on the stack
        belongs to whatever is handled again: None here if that is what the caller handles, if anything."""
        if exception is None:
            self.call_values(sys.exception, ())
        else:
            self.load(exception)

    def load_source(self, source: Source) -> None:
        """Push the object that a source named at entry."""
        slot = self._sources.get(source)
        if slot is not None:
            self.out.load_fast(slot)
        elif source.base is None:
            ROOTS[source.step].emit(self.out, source.key)
        else:
            self.load_source(source.base)
            STEPS[source.step].emit(self.out, source.key)
            if source in self._shared:
                self.out.copy()
                self._sources[source] = self._store()

    def receive_source(self, source: Source) -> str:
        """A temporary that has what a source names from the start, since the entry fills it: its name."""
        self._sources[source], name = self.out.named_temporary()
        self.temporaries.append(self._sources[source])
        return name

    def is_held(self, value: Value) -> bool:
        """Whether a temporary has the value."""
        return id(value) in self._values

    def hold(self, value: Value) -> None:
        """Pop the object on top, which is `value`, into a temporary."""
        self._values[id(value)] = self._store()
        self._kept.append(value)

    def hold_source(self, source: Source) -> None:
        """Load what a source names into a temporary, from which it is loaded from now on."""
        if source not in self._sources:
            self.load_source(source)
            self._sources[source] = self._store()

    def hold_local(self, name: str) -> None:
        """Hold what an argument slot had at entry, since the slot is about to change."""
        for source in self.needed:
            if source.base is None and source.step == "local" and source.key == name:
                self.hold_source(source)

    def _store(self) -> int:
        slot = self.out.temporary()
        self.temporaries.append(slot)
        self.out.store_fast(slot)
        return slot

    def drop_temporaries(self) -> None:
        """Unbind every temporary."""
        for slot in self.temporaries:
            self.out.delete_fast(slot)
        self.temporaries.clear()
        self._values.clear()
        self._sources.clear()

    # -- what layouts and replays ask for --------------------------------------------------------------------------
    def constant(self, value: Any) -> Const:
        """A value for an object that the code holds."""
        return Const(value)

    def globals_value(self, mapping: dict) -> Const:
        """A value for a globals dictionary."""
        return Const(mapping)

    def tuple_of(self, values: Sequence[Value]) -> Sequenced:
        """A value for a new tuple of values."""
        return Sequenced(values)

    @contextlib.contextmanager
    def telling(self, known: Sequence[tuple[Value, int | None]]) -> Iterator[None]:
        """The calls that are emitted meanwhile store keys or look for them: they are told the hashes of these objects, which
        are not asked, and compare them by identity."""
        outer, self._told = self._told, known
        try:
            yield
        finally:
            self._told = outer

    def call_values(self, function: Callable, values: Iterable[Value]) -> None:
        """Push `function(*values)`."""
        if self._told:
            known = Sequenced([part for value, hash_ in self._told for part in (value, Const(hash_))])
            values = (known, Const(function), *values)
            function = self.runtime.call_keyed
        self.out.begin_call(function)
        count = 0
        for value in values:
            self.load(value)
            count += 1
        self.out.call(count)

    def call_constant(self, function: Callable, *values: Value) -> None:
        """Push `function(*values)`."""
        self.call_values(function, values)

    def call_constant_items(self, function: Callable, first: Any, items: Sequence[Value]) -> None:
        """Push `function(first, (*items,))`."""
        self.call_values(function, (Const(first), Sequenced(items)))

    def call_effect(self, function: Callable, *values: Value) -> None:
        """Run `function(*values)` and drop its result."""
        self.call_values(function, values)
        self.out.pop_top()

    def call_effect_items(self, function: Callable, first: Value, items: Sequence[Value]) -> None:
        """Run `function(first, (*items,))` and drop its result."""
        self.call_effect(function, first, Sequenced(items))

    def create_generator(self, obj: Obj) -> None:
        """Push a generator in the state of one of the trace."""
        generators.create(self, obj)

    def push_function(self, program: Any, slots: Sequence[Value], globals_: dict, code: types.CodeType) -> None:
        """Push a function of `code`, made from a frame's code, with that frame's globals and closure."""
        out = self.out
        out.begin_call(self.runtime.make_function)
        out.load_const(code)
        out.load_const(globals_)
        cells = [value for slot, value in zip(program.slots, slots) if slot.kind == "free"]
        for cell in cells:
            self.load(cell)
        out.build_tuple(len(cells))
        out.end_call(3)

    def set_descriptor(self, descriptor: Any, obj: Value, value: Value) -> None:
        """Write what a descriptor of a C type, or of a class that the trace has made, stands for."""
        if STAND_INS and (made := class_made(descriptor.__objclass__)) is not None:
            self.call_effect(set_member, made, Const(descriptor.__name__), obj, value)
            return
        self.call_effect(descriptor.__set__, obj, value)

    # -- fresh objects -------------------------------------------------------------------------------------------
    def make(self, fresh: Sequence[Obj]) -> None:
        """Make fresh objects, given in an order in which each comes after what its creation loads; then fill them."""
        made = [obj for obj in fresh if not self.is_held(obj)]
        for obj in made:
            self._complete(layout_of(obj.cls).whole_first(obj))
            layout_of(obj.cls).create(obj, self)
            self.hold(obj)
            self._unfilled[id(obj)] = obj
        for obj in made:
            self._fill_once(obj)

    def _complete(self, values: Iterable[Value]) -> None:
        """Fill what has been made so far among the values and all that they hold."""
        if not self._unfilled:
            return
        reached = Reached()
        reached.add(values)
        for obj in reached.fresh:
            self._fill_once(obj)

    def _fill_once(self, obj: Obj) -> None:
        if self._unfilled.pop(id(obj), None) is not None:
            self._complete(layout_of(obj.cls).whole_inside(obj))
            if STAND_INS:
                self._fill_classes_of(obj)
            self.fill(obj)

    def _fill_classes_of(self, metaclass: Obj) -> None:
        """Fill the classes of a metaclass before it: the descriptors that it is given must not answer for their names."""
        for other in list(self._unfilled.values()):
            if type(other.body) is ClassBody and class_made(other.cls) is metaclass:
                self._fill_once(other)

    def fill(self, obj: Obj) -> None:
        """Emit what a created object still lacks."""
        layout_of(obj.cls).fill(obj, self)
        if obj.attributes is not None:
            fill_attributes(self, obj, obj.cls, obj.attributes)
        if obj.slots:
            fill_slots(self, obj)


def shared_bases(sources: Iterable[Source]) -> set[Source]:
    """The sources from which more than one step of some needed path goes on: read once, they serve all of them."""
    seen: set[Source] = set()
    shared: set[Source] = set()
    for source in sources:
        while source.base is not None and source not in seen:
            seen.add(source)
            if source.base in seen and source.base.base is not None:
                shared.add(source.base)
            source = source.base
        if source.base is not None:
            shared.add(source)
    return shared


# -- how each kind of value is loaded -------------------------------------------------------------------------------


def _load_const(build: Builder, value: Const) -> None:
    if value.source is not None:
        build.load_source(value.source)
    elif not STAND_INS or not _load_of_made(build, value.value):
        build.out.load_const(value.value)


def _load_of_made(build: Builder, found: Any) -> bool:
    """Load a class that the trace has made, known by its stand-in, or a descriptor of such a class."""
    made = class_made(found)
    if made is not None:
        build.load(made)
        return True
    owner = class_made(getattr(found, "__objclass__", None)) if type(found) in DESCRIPTORS else None
    if owner is not None:
        build.call_values(entry_of, (owner, Const(found.__name__)))
    return owner is not None


DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)


def _load_held(build: Builder, value: Any) -> None:
    slot = build._values.get(id(value))
    if slot is not None:
        build.out.load_fast(slot)
        return
    if value.real is None:
        raise AssertionError(f"{value!r} is loaded before it is made")
    build.load_source(value.real.source)


def _load_marker(build: Builder, value: Marker) -> None:
    if value is not NULL:
        raise AssertionError(f"{value!r} is no object")
    build.out.push_null()


def _load_sequence(build: Builder, value: Sequenced) -> None:
    for item in value.items:
        build.load(item)
    build.out.build_tuple(len(value.items))


LOADERS: dict[type, Callable[[Builder, Any], None]] = {
    Const: _load_const,
    Node: _load_held,
    Obj: _load_held,
    Lazy: _load_held,
    Marker: _load_marker,
    Sequenced: _load_sequence,
}


# -- reachability ----------------------------------------------------------------------------------------------------


class NeedsItself(Exception):
    """The creation of an object needs the object itself; `objects` are those on the way round."""

    def __init__(self, objects: list[Obj]) -> None:
        super().__init__(repr(objects))
        self.objects = objects


class Reached:
    """What a set of root values reaches: fresh objects in an order for making them, nodes, and sources.

    A fresh object that nothing reaches is not made; a real one is loaded from its source and not looked into.
    """

    def __init__(self) -> None:
        self.fresh: list[Obj] = []
        self.nodes: list[Node] = []
        self.sources: dict[Source, None] = {}
        self._seen: dict[int, Any] = {}
        self._creating: set[int] = set()

    def add(self, roots: Iterable[Any]) -> None:
        """Walk from more roots.  Raises NeedsItself."""
        pending = [root for root in roots]
        while pending:
            value = pending.pop()
            if type(value) in (Sequenced, list, tuple):
                pending.extend(value.items if type(value) is Sequenced else value)
            elif type(value) is Previous:
                pending.append(value.value)
            elif type(value) is Const and value.source is not None:
                self.sources.setdefault(value.source)
            elif STAND_INS and type(value) is Const:
                pending.extend(_class_behind(value.value))
            elif isinstance(value, Value) and not isinstance(value, (Const, Marker)) and id(value) not in self._seen:
                self._visit(value, pending)

    def _visit(self, value: Any, pending: list) -> None:
        if type(value) is Obj and value.real is None:
            self._order(value, pending)
            return
        self._seen[id(value)] = value
        real = value.real
        if real is not None:
            self.sources.setdefault(real.source)
        if type(value) is Node:
            self.nodes.append(value)
            if value.tape == "host":
                pending.extend(value.args)
                pending.extend(value.kwargs.values())
            if real is None and value.attributes is not None:
                pending.extend(held_by_attributes(value.attributes))

    def _order(self, first: Obj, pending: list) -> None:
        """Put `first` into the order, after the fresh objects that its creation loads (depth first, without recursion)."""
        path = [(first, iter(needed_by(first)))]
        self._begin(first)
        while path:
            obj, needed = path[-1]
            following = next((v for v in needed if self._is_unmade(v)), None)
            if following is None:
                path.pop()
                self._creating.discard(id(obj))
                self.fresh.append(obj)
                pending.extend(held_by(obj))
            else:
                self._begin(following)
                path.append((following, iter(needed_by(following))))

    def _begin(self, obj: Obj) -> None:
        self._seen[id(obj)] = obj
        self._creating.add(id(obj))

    def _is_unmade(self, value: Any) -> bool:
        if type(value) is not Obj or value.real is not None:
            return False
        if id(value) in self._creating:
            raise NeedsItself([found for key, found in self._seen.items() if key in self._creating])
        return id(value) not in self._seen


def needed_by(obj: Obj) -> list[Value]:
    """The values that must exist before a fresh object can be created."""
    layout = layout_of(obj.cls)
    needed = layout.needs_first(obj)
    if STAND_INS:
        needed = [*_class_behind(obj.cls), *needed]
        needed += [made for value in needed if type(value) is Const for made in _class_behind(value.value)]
    whole = layout.whole_first(obj)
    if whole:
        reached = Reached()
        reached.add(whole)
        needed = [*reached.fresh, *needed]
    return needed


def _class_behind(found: Any) -> list[Obj]:
    """The class that a constant is the stand-in of, or a descriptor of that."""
    owner = getattr(found, "__objclass__", None) if type(found) in DESCRIPTORS else found
    made = class_made(owner)
    return [] if made is None else [made]
