"""Classes that a trace makes.

Such a class is a new object at each call.  While tracing, a *stand-in* takes its place wherever a class of Python is asked for
what follows from bases, slots and the names in its namespace: resolution order, layout, flags.  What the names hold is known
to the trace alone; the stand-in has placeholders there, runs none of the program's code, and is never reached by the program.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from frameloom.symbolic.instance_dict import class_item, forget_subclass
from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.layouts.base import Layout, register, replay
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.real import namespace_of
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Obj, Value


def placeholder(*arguments: Any, **named: Any) -> Any:
    """Stands in a namespace for what the program put there."""
    raise AssertionError("a placeholder is called")


class ClassBody:
    """A class made by the trace.

    stand_in: see above.  bases: a tuple Obj.  first: the names that the class was made with, in order, each with what the stand-in
    has for it.  namespace: a DictBody of what is there now, but for what C code puts there by itself.  order: all its names.
    moved: names that were deleted at some time.  after: functions to call on the new class before its names are set.
    """

    __slots__ = ("stand_in", "bases", "first", "namespace", "order", "moved", "after")

    def __init__(self, stand_in: type, bases: Obj, first: dict[str, Any], namespace: DictBody) -> None:
        self.stand_in = stand_in
        self.bases = bases
        self.first = first
        self.namespace = namespace
        self.order = tuple(namespace_of(stand_in))
        self.moved: frozenset = frozenset()
        self.after: tuple = ()

    @property
    def name(self) -> str:
        """Its name."""
        return type.__dict__["__name__"].__get__(self.stand_in)

    def entry(self, name: str) -> Value:
        """What the class's own namespace holds under a name, or ABSENT."""
        found = self.namespace.known.get(name)
        if found is not None:
            return found[1]
        if name in self.first:
            return ABSENT
        made = namespace_of(self.stand_in).get(name, ABSENT)
        if made is placeholder:
            raise GraphBreak("FL004", f"{name} of {self.name}, which the trace has made")
        return made if made is ABSENT else Const(made)


# -- making ----------------------------------------------------------------------------------------------------------


class _Bare:
    __slots__ = ()

    def __init_subclass__(cls, **named: Any) -> None:
        pass


class _WithDictionary:
    __slots__ = ("__dict__",)

    def __init_subclass__(cls, **named: Any) -> None:
        pass


class _WithReferences:
    __slots__ = ("__weakref__",)

    def __init_subclass__(cls, **named: Any) -> None:
        pass


class _WithBoth:
    def __init_subclass__(cls, **named: Any) -> None:
        pass


QUIET = (_Bare, _WithDictionary, _WithReferences, _WithBoth)
"""One of them has the layout of any bases: put before them, it answers in the place of their `__init_subclass__`."""

BASES = type.__dict__["__bases__"]


def make_class(metaclass: type, name: str, bases: tuple, names: Sequence[str], values: Sequence[Any], after: Sequence[Any] = ()) -> type:
    """A new class as `type.__new__` makes it, without telling its bases; called by compiled code too.

    Raises the TypeError or ValueError of `type.__new__`, and a GraphBreak for bases whose layout is like none in `QUIET`.
    """
    made = _made(metaclass, name, bases, dict(zip(names, values)))
    for function in after:
        function(made)
    return made


def _made(metaclass: type, name: str, bases: tuple, namespace: dict) -> type:
    if all(class_item(base, "__init_subclass__") is _STANDARD for base in bases):
        return type.__new__(metaclass, name, bases, namespace)
    for quiet in QUIET:
        try:
            made = type.__new__(metaclass, name, (quiet, *bases), dict(namespace))
            BASES.__set__(made, bases)
        except TypeError:
            continue
        return made
    raise GraphBreak("FL004", f"the bases of {name} have an odd layout")


_STANDARD = object.__dict__["__init_subclass__"]


def make_stand_in(metaclass: type, name: str, bases: tuple, first: dict[str, Any]) -> type:
    """The stand-in of a class: nobody sees it among the subclasses of its bases."""
    made = make_class(metaclass, name, bases, list(first), list(first.values()))
    for base in bases or (object,):
        forget_subclass(base, made)
    return made


KNOWN_TO_ALL = (types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType)


def shown(value: Value) -> Any:
    """What a stand-in has for a value: constants of C code themselves, since classes are told apart by them."""
    if type(value) is Const and (type(value.value) in ATOMS or type(value.value) in KNOWN_TO_ALL):
        return value.value
    return placeholder


def show(session: Any, body: ClassBody, name: str, value: Any) -> None:
    """Change what the stand-in of a class has under a name; ABSENT takes the name away."""
    session.journal.record(_show, body.stand_in, name, namespace_of(body.stand_in).get(name, ABSENT))
    _show(body.stand_in, name, value)
    if value is ABSENT:
        session.journal.set_field(body, "order", tuple(other for other in body.order if other != name))
    elif name not in body.order:
        session.journal.set_field(body, "order", (*body.order, name))


def _show(stand_in: type, name: str, value: Any) -> None:
    if value is not ABSENT:
        type.__setattr__(stand_in, name, value)
    elif name in namespace_of(stand_in):
        type.__delattr__(stand_in, name)


class OrderBody(TupleBody):
    """The resolution order of a class that the trace has made, which C code has computed: the very tuple of the class."""

    __slots__ = ("owner",)

    def __init__(self, items: list[Value], owner: Obj) -> None:
        super().__init__(items)
        self.owner = owner

    def create(self, build: Any) -> None:
        """Push it."""
        build.call_values(MRO.__get__, (self.owner,))


# -- in output code --------------------------------------------------------------------------------------------------


def entry_of(cls: type, name: str) -> Any:
    """What C code has put into a class's namespace; called by compiled code."""
    return namespace_of(cls)[name]


def set_member(cls: type, name: str, obj: Any, value: Any) -> None:
    """Write a slot of a class made anew; called by compiled code."""
    namespace_of(cls)[name].__set__(obj, value)


MRO = type.__dict__["__mro__"]


@replay("class.made")
def _replay_made(build: Any, made: Obj) -> None:
    """A class is made even where nobody keeps it: its bases know it until the collector comes."""


@register(type)
class ClassLayout(Layout):
    """Classes.  A real one is known by identity and has no body."""

    def children(self, obj: Obj) -> list:
        return [value for _, value in obj.body.namespace.known.values() if value is not ABSENT]

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.bases]

    def create(self, obj: Obj, build: Any) -> None:
        body = obj.body
        parts = [build.tuple_of([Const(part) for part in values]) for values in (body.first, body.first.values())]
        after = [build.tuple_of([Const(function) for function in body.after])] if body.after else []
        build.call_values(make_class, (Const(obj.cls), Const(body.name), body.bases, *parts, *after))

    def fill(self, obj: Obj, build: Any) -> None:
        body = obj.body
        for name in body.first:
            if name in body.moved:
                build.call_effect(type.__delattr__, obj, Const(name))
        for name, (_, value) in body.namespace.known.items():
            if value is not ABSENT and not (name in body.first and name not in body.moved and _is_there(body.first[name], value)):
                build.call_effect(type.__setattr__, obj, Const(name), value)


def _is_there(first: Any, value: Value) -> bool:
    return type(value) is Const and value.value is first and first is not placeholder
