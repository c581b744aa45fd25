"""The layout protocol and the table of layouts by C base class."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from frameloom.symbolic.instance_dict import WITHOUT_TUPLES
from frameloom.symbolic.real import flags_of
from frameloom.symbolic.values import ABSENT, UNBOUND, Obj, Value


class Layout:
    """What one kind of storage knows: how a real object's storage is looked at, how a fresh one is built in output code,
    and how logged operations are replayed.

    `build` is a `codegen.build.Builder`: `build.load(value)` pushes a value, `build.out` is the emitter,
    `build.later(function)` runs after all objects exist (for cycles).
    """

    creates: frozenset = frozenset()
    """Member descriptors that `create` fills already."""

    def look(self, obj: Any, session: Any) -> Any:
        """The body of a real object: knows nothing yet but where to look."""
        return None

    def children(self, obj: Any) -> list:
        """The values that the storage of a fresh object holds."""
        return []

    def create(self, obj: Any, build: Any) -> None:
        """Emit code that pushes a new object of `obj.cls`, with as much of its storage as cannot be filled later."""
        build.call_constant(WITHOUT_TUPLES[object.__new__], build.constant(obj.cls))

    def fill(self, obj: Any, build: Any) -> None:
        """Emit code that fills the rest of the storage of the created object."""

    def needs_first(self, obj: Any) -> list:
        """The values that `create` loads: they must exist before the object does."""
        return []

    def is_bound(self, obj: Any) -> bool:
        """Whether a fresh object cannot be made anew in output code, as it is now."""
        return False

    def whole_first(self, obj: Any) -> list:
        """Those of the values that `create` loads which it looks into: they must be filled too, and all that they hold."""
        return []

    def whole_inside(self, obj: Any) -> list:
        """The values that `fill` looks into."""
        return []


def hashed_by_parts(value: Any) -> bool:
    """Whether hashing an object looks at what it holds, as any `__hash__` of a user's class may."""
    if type(value) is not Obj or value.real is not None:
        return False
    return issubclass(value.cls, (tuple, frozenset)) or value.cls.__hash__ is not object.__hash__


LAYOUTS: dict[type, Layout] = {}


def register(*classes: type):
    """Class decorator: the layout serves these C base classes."""

    def add(layout: type) -> type:
        instance = layout()
        for cls in classes:
            LAYOUTS[cls] = instance
        return layout

    return add


@register(object)
class ObjectLayout(Layout):
    """No storage besides attributes and slots."""


def layout_of(cls: type) -> Layout:
    """The layout of instances of `cls`, found along its C bases."""
    found = _FOUND.get(cls)
    if found is None:
        at = cls
        while at not in LAYOUTS:
            at = type.__dict__["__base__"].__get__(at)
        found = LAYOUTS[at]
        if not flags_of(cls) & (1 << 9):
            _FOUND[cls] = found
    return found


def storage_base(cls: type) -> type:
    """The C class whose storage instances of `cls` have."""
    at = cls
    while at not in LAYOUTS:
        at = type.__dict__["__base__"].__get__(at)
    return at


_FOUND: dict[type, Layout] = {}


class Replay(NamedTuple):
    """How operations of one kind are done again in output code.

    emit(build, target, *arguments).  location(*arguments) tells, where a write of this kind hides an earlier one, which part
    of the target it writes; None where every operation counts.
    """

    emit: Callable
    location: Callable | None


REPLAYS: dict[str, Replay] = {}
"""kind of operation -> its replay"""


def replay(*kinds: str, location: Callable | None = None) -> Callable:
    """Decorator: the function replays these kinds of operations: emit(build, target, *arguments)."""

    def add(emit: Callable) -> Callable:
        for kind in kinds:
            REPLAYS[kind] = Replay(emit, location)
        return emit

    return add


@replay("told")
def _replay_told(build: Any, target: Obj, told: tuple, kind: str, *arguments: Any) -> None:
    """An operation on keys with a `__hash__` in Python, which is not asked again: see `keys.answers`."""
    with build.telling(told):
        REPLAYS[kind].emit(build, target, *arguments)


def held_by(obj: Obj) -> list[Value]:
    """The values that the parts of a fresh object hold."""
    layout = layout_of(obj.cls)
    held = [*layout.needs_first(obj), *layout.children(obj)]
    if obj.attributes is not None:
        held += held_by_attributes(obj.attributes)
    if obj.slots:
        held += [value for value in obj.slots.values() if value is not ABSENT and value is not UNBOUND]
    return held


def held_by_attributes(body: Any) -> list[Value]:
    """The values that the part behind `__dict__` of a fresh object holds."""
    return [part for entry in body.known.values() if entry[1] is not ABSENT for part in entry]
