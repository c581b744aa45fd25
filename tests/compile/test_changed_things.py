"""For every kind of read, what is read is changed by every route that Python offers, and the next call sees it.

Each world is made anew for eager Python and for the compiled function: `make` gives the function and its arguments, and the changes
of the world by name.  Two calls come before the change, so that an entry has been used; a change that eager Python does not see
would test nothing and fails.
"""
from __future__ import annotations

import abc
import builtins
import collections
import enum
import functools
import gc
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from tests.compile.calls import Compiled, outcome


class World(NamedTuple):
    function: Callable
    arguments: tuple
    changes: dict[str, Callable[[], object]]


WORLDS: dict[str, Callable[[], World]] = {}


def world(make: Callable[[], World]) -> Callable[[], World]:
    WORLDS[make.__name__] = make
    return make


def setter(owner: Any, name: str, value: Any) -> Callable[[], object]:
    return lambda: setattr(owner, name, value)


# -- the order of classes --------------------------------------------------------------------------------------------


def family() -> types.SimpleNamespace:
    """Two bases that say different things, a class between, and one below."""

    class One:
        kind = "one"

        def speak(self) -> str:
            return "One"

        def __len__(self) -> int:
            return 1

    class Two:
        kind = "two"

        def speak(self) -> str:
            return "Two"

        def __len__(self) -> int:
            return 2

    class Middle(One):
        pass

    class Low(Middle):
        def speak(self) -> str:
            return "Low " + super().speak()

    return types.SimpleNamespace(**locals())


def family_world(read: Callable) -> World:
    f = family()
    low = f.Low()

    def through_base() -> None:
        f.Middle.__bases__ = (f.Two,)

    def itself() -> None:
        f.Low.__bases__ = (f.Two,)

    def instance() -> None:
        class Other(f.Two):
            def speak(self) -> str:
                return "Other " + super().speak()

        low.__class__ = Other

    return World(read, (low, f), {"bases of a base": through_base, "bases": itself, "class of the instance": instance})


def family_row(read: Callable) -> Callable:
    WORLDS[read.__name__] = lambda: family_world(read)
    return read


@family_row
def calls_super(low: Any, f: Any) -> str:
    return low.speak()


@family_row
def super_with_arguments(low: Any, f: Any) -> str:
    return super(f.Low, low).speak() if isinstance(low, f.Low) else "no"


@family_row
def reads_an_attribute(low: Any, f: Any) -> str:
    return low.kind


@family_row
def reads_an_attribute_of_the_class(low: Any, f: Any) -> str:
    return type(low).kind


@family_row
def asks_isinstance(low: Any, f: Any) -> tuple:
    return isinstance(low, f.One), isinstance(low, f.Two), isinstance(low, (f.Two, int))


@family_row
def asks_issubclass(low: Any, f: Any) -> tuple:
    return issubclass(type(low), f.One), issubclass(type(low), f.Two)


@family_row
def asks_the_check_of_type(low: Any, f: Any) -> tuple:
    return type.__instancecheck__(f.One, low), type.__subclasscheck__(f.Two, type(low))


@family_row
def reads_the_order(low: Any, f: Any) -> tuple:
    return [cls.__name__ for cls in type(low).__mro__], len(type(low).__mro__)


@family_row
def reads_the_bases(low: Any, f: Any) -> list:
    return [base.__name__ for cls in type(low).__mro__ for base in cls.__bases__]


@family_row
def asks_the_length(low: Any, f: Any) -> tuple:
    return len(low), bool(low)


@family_row
def matches_a_class(low: Any, f: Any) -> str:
    One, Two = f.One, f.Two  # noqa: N806
    match low:
        case f.One(kind=k):
            return "one " + k
        case f.Two(kind=k):
            return "two " + k
    return "none"


def error_family() -> types.SimpleNamespace:
    class Other(Exception):
        pass

    class Found(Exception):
        pass

    class First(Found):
        pass

    class Raised(First):
        pass

    return types.SimpleNamespace(**locals())


def errors_world(read: Callable) -> World:
    f = error_family()

    def itself() -> None:
        f.Raised.__bases__ = (f.Other,)

    def through_base() -> None:
        f.First.__bases__ = (f.Other,)

    return World(read, (f,), {"bases": itself, "bases of a base": through_base})


def errors_row(read: Callable) -> Callable:
    WORLDS[read.__name__] = lambda: errors_world(read)
    return read


@errors_row
def catches(f: Any) -> str:
    try:
        raise f.Raised("x")
    except f.Found:
        return "lookup"
    except f.Other:
        return "value"


@errors_row
def catches_one_that_exists(f: Any) -> str:
    error = f.Raised()
    try:
        try:
            raise error
        except (f.Found, KeyError):
            return "lookup"
    except f.Other:
        return "value"


@errors_row
def raises_out(f: Any) -> str:
    try:
        return "no", raises_lookup(f)
    except f.Other:
        return "value"


def raises_lookup(f: Any) -> str:
    try:
        raise f.Raised
    except f.Found:
        return "lookup"


@errors_row
def catches_of_a_group(f: Any) -> str:
    try:
        raise ExceptionGroup("g", [f.Raised("x")])
    except* f.Found:
        return_value = "lookup"
    except* f.Other:
        return_value = "value"
    return return_value


@errors_row
def throws_into(f: Any) -> list:
    def generator() -> Iterator:
        try:
            yield 1
        except f.Found:
            yield "lookup"
        except f.Other:
            yield "value"

    made = generator()
    next(made)
    return [made.throw(f.Raised("x"))]


# -- abstract base classes -------------------------------------------------------------------------------------------


def abstract_world(read: Callable) -> World:
    class Shape(abc.ABC):  # noqa: B024
        pass

    class Round(abc.ABC):  # noqa: B024
        pass

    class Thing:
        pass

    class Below(Thing):
        pass

    class Sized(Thing):
        def __len__(self) -> int:
            return 3

    def below() -> None:
        Shape.register(Round)
        Round.register(Thing)

    def after_forgetting(change: Callable) -> Callable:
        """Abstract classes remember their answers until somebody is registered."""

        def act() -> None:
            change()
            Round.register(Sized)

        return act

    return World(
        read,
        (Below(), Shape),
        {
            "register": lambda: Shape.register(Thing),
            "register below": below,
            "length": after_forgetting(lambda: setattr(Thing, "__len__", lambda self: 1)),
            "bases": after_forgetting(lambda: setattr(Below, "__bases__", (Sized,))),
        },
    )


@world
def abstract_isinstance() -> World:
    def read(thing: Any, shape: Any) -> tuple:
        return isinstance(thing, shape), isinstance(thing, collections.abc.Sized)

    return abstract_world(read)


@world
def abstract_issubclass() -> World:
    def read(thing: Any, shape: Any) -> tuple:
        return issubclass(type(thing), shape), issubclass(type(thing), collections.abc.Sized)

    return abstract_world(read)


@world
def subclass_hook() -> World:
    class Shape(abc.ABC):  # noqa: B024
        pass

    class Thing:
        sides = 3

    def has_sides(cls: type, other: type) -> bool:
        return hasattr(other, "sides")

    def hook() -> None:
        Shape.__subclasshook__ = classmethod(has_sides)
        Shape.register(int)  # what has been remembered is forgotten

    def read(thing: Any, shape: Any) -> tuple:
        return isinstance(thing, shape), issubclass(type(thing), shape)

    return World(read, (Thing(), Shape), {"hook": hook})


@world
def instance_hook() -> World:
    class Meta(type):
        pass

    class Shape(metaclass=Meta):
        pass

    class Thing:
        pass

    return World(
        lambda thing, shape: (isinstance(thing, shape), issubclass(type(thing), shape)),
        (Thing(), Shape),
        {
            "instances": setter(Meta, "__instancecheck__", lambda cls, obj: True),
            "subclasses": setter(Meta, "__subclasscheck__", lambda cls, sub: True),
        },
    )


class Six(int):
    """A number that can be called."""

    def __new__(cls) -> Six:
        return super().__new__(cls, 6)

    def __call__(self) -> int:
        return 6


# -- what a class tells ----------------------------------------------------------------------------------------------


@world
def parts_of_a_class() -> World:
    class Told:
        "text"

        field: int = 3

    def read(cls: Any, thing: Any) -> tuple:
        return cls.__name__, cls.__qualname__, cls.__module__, thing.__doc__, cls.__doc__, sorted(cls.__annotations__), "field" in cls.__dict__

    def of_type() -> None:
        type.__dict__["__name__"].__set__(Told, "Renamed")

    return World(
        read,
        (Told, Told()),
        {
            "name": setter(Told, "__name__", "Other"),
            "name by descriptor": of_type,
            "qualname": setter(Told, "__qualname__", "Other"),
            "module": setter(Told, "__module__", "elsewhere"),
            "doc": setter(Told, "__doc__", "other"),
            "annotations": setter(Told, "__annotations__", {"b": 1}),
            "annotations in place": lambda: Told.__annotations__.update(c=1),
            "delete": lambda: delattr(Told, "field"),
        },
    )


@world
def texts_of_a_class() -> World:
    class Told:
        pass

    def read(thing: Any) -> tuple:
        return str(type(thing)), f"{type(thing)!r}"

    return World(read, (Told(),), {"name": setter(Told, "__qualname__", "Other"), "module": setter(Told, "__module__", "elsewhere")})


@world
def attributes_of_a_class() -> World:
    class Meta(type):
        pass

    class Base:
        pass

    class Cls(Base, metaclass=Meta):
        value = 1

        def method(self) -> int:
            return 1

        @property
        def prop(self) -> int:
            return 1

        @classmethod
        def of_class(cls) -> int:
            return 1

        @staticmethod
        def static() -> int:
            return 1

    thing = Cls()

    class Data:
        def __get__(self, obj: Any, cls: Any) -> int:
            return 9

        def __set__(self, obj: Any, value: Any) -> None:
            pass

    def read(thing: Any) -> tuple:
        cls = type(thing)
        return thing.value, thing.method(), thing.prop, thing.of_class(), thing.static(), cls.value, cls.of_class(), hasattr(thing, "late"), hasattr(cls, "late"), thing == 3

    return World(
        read,
        (thing,),
        {
            "value": setter(Cls, "value", 2),
            "of the instance": setter(thing, "value", 2),
            "in the dictionary": lambda: thing.__dict__.update(value=2),
            "another dictionary": setter(thing, "__dict__", {"value": 7}),
            "method": setter(Cls, "method", lambda self: 2),
            "shadowed method": setter(thing, "method", lambda: 3),
            "code of the method": setter(Cls.method, "__code__", (lambda self: 4).__code__),
            "property": setter(Cls, "prop", property(lambda self: 2)),
            "class method": setter(Cls, "of_class", classmethod(lambda cls: 2)),
            "static method": setter(Cls, "static", staticmethod(lambda: 2)),
            "added to base": setter(Base, "late", 1),
            "added to class": setter(Cls, "late", 1),
            "added to metaclass": setter(Meta, "late", 1),
            "data descriptor of metaclass": setter(Meta, "value", Data()),
            "data descriptor": setter(Cls, "value", Data()),
            "getattr": setter(Base, "__getattr__", lambda self, name: 5),
            "getattribute": setter(Base, "__getattribute__", lambda self, name: Six()),
            "getattr of metaclass": setter(Meta, "__getattr__", lambda cls, name: 5),
            "getattribute of metaclass": setter(Meta, "__getattribute__", lambda cls, name: Six()),
            "equality": setter(Base, "__eq__", lambda self, other: True),
        },
    )


@world
def descriptors_change() -> World:
    class Desc:
        def __get__(self, obj: Any, cls: type) -> int:
            return 1

    class Cls:
        field = Desc()

    thing = Cls()
    thing.__dict__["field"] = "own"

    return World(
        lambda thing: (thing.field, Cls.field),
        (thing,),
        {
            "get": setter(Desc, "__get__", lambda self, obj, cls: 2),
            "set": lambda: setattr(Desc, "__set__", lambda *args: None),
            "delete": lambda: setattr(Desc, "__delete__", lambda *args: None),
        },
    )


@world
def special_methods() -> World:
    class Base:
        pass

    class Cls(Base):
        def __init__(self) -> None:
            self.n = 1

        def __call__(self) -> int:
            return 1

        def __iter__(self) -> Iterator:
            return iter((1, 2))

        def __enter__(self) -> int:
            return 1

        def __exit__(self, *args: object) -> None:
            pass

        def __hash__(self) -> int:
            return 1

    def read(cls: Any) -> tuple:
        thing = cls()
        with thing as entered:
            pass
        return thing(), list(thing), entered, hash(thing), thing + 1 if hasattr(thing, "__add__") else 0, thing.n, bool(thing), str(thing)[:2], format(thing)[:2]

    def number(value: int) -> Callable:
        return lambda self, *args: value

    return World(
        read,
        (Cls,),
        {
            "call": setter(Cls, "__call__", number(2)),
            "iter": setter(Cls, "__iter__", lambda self: iter((3,))),
            "enter": setter(Cls, "__enter__", number(2)),
            "hash": setter(Cls, "__hash__", number(2)),
            "add": setter(Base, "__add__", number(2)),
            "init": setter(Cls, "__init__", lambda self: setattr(self, "n", 7)),
            "new": setter(Base, "__new__", lambda cls: []),
            "bool": setter(Base, "__bool__", lambda self: False),
            "len": setter(Base, "__len__", lambda self: 0),
            "str": setter(Base, "__str__", lambda self: "zz"),
            "repr": setter(Base, "__repr__", lambda self: "yy"),
            "format": setter(Base, "__format__", lambda self, spec: "xx"),
            "setattr": setter(Base, "__setattr__", lambda self, name, value: object.__setattr__(self, name, 5)),
        },
    )


@world
def class_of_a_class() -> World:
    class Base(type):
        @property
        def size(cls) -> int:
            return 1

        def __contains__(cls, item: object) -> bool:
            return False

    class Meta(Base):
        pass

    class Other(type):
        @property
        def size(cls) -> int:
            return 2

        def __contains__(cls, item: object) -> bool:
            return True

    class Cls(metaclass=Meta):
        pass

    return World(
        lambda cls, obj: (cls.size, 1 in cls, type(cls).__name__, type(type(obj)).__name__),
        (Cls, Cls()),
        {"class": setter(Cls, "__class__", Other), "bases of the class": setter(Meta, "__bases__", (Other,)), "property": setter(Meta, "size", 3)},
    )


@world
def registered_patterns() -> World:
    class Thing:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, n: object) -> object:
            return n

        def keys(self) -> list:
            return ["a"]

        def get(self, key: object, default: object) -> object:
            return key

    def read(thing: Any) -> tuple:
        match thing:
            case [a, b]:
                return "sequence", a, b
            case {"a": a}:
                return "mapping", a
            case _:
                return ("neither",)

    return World(
        read,
        (Thing(),),
        {
            "sequence": lambda: collections.abc.Sequence.register(Thing),
            "mutable sequence": lambda: collections.abc.MutableSequence.register(Thing),
            "mapping": lambda: collections.abc.Mapping.register(Thing),
        },
    )


@world
def abstract_class_made() -> World:
    class Shape(metaclass=abc.ABCMeta):
        def area(self) -> int:
            return 1

    def declare() -> None:
        Shape.area = abc.abstractmethod(lambda self: 1)
        abc.update_abstractmethods(Shape)

    return World(lambda cls: cls().area(), (Shape,), {"abstract": setter(Shape, "__abstractmethods__", frozenset({"area"})), "update": declare})


@world
def keys_that_change() -> World:
    class Key:
        def __init__(self, n: int) -> None:
            self.n = n

        def __hash__(self) -> int:
            return self.n

        def __eq__(self, other: Any) -> bool:
            return self.n == other.n

    one, two, other = Key(1), Key(1), Key(2)
    table = {one: "one", other: "other"}

    def nothing_equal() -> None:
        Key.__eq__ = lambda self, other: False

    return World(
        lambda table, key: (table.get(key), key in table, key in {key: 1}, [*table.values()]),
        (table, two),
        {
            "number": setter(two, "n", 2),
            "hash": setter(Key, "__hash__", lambda self: 7),
            "equality": nothing_equal,
            "of the stored": setter(one, "n", 7),
        },
    )


@world
def parts_of_an_enum() -> World:
    class Colour(enum.Enum):
        RED = 1
        BLUE = 2

    def read(cls: Any) -> tuple:
        return hash(cls.RED) == 12345, cls.RED == cls.BLUE, cls.RED.value, cls.RED.name, cls.RED is cls.BLUE, cls(1) is cls.RED, [member.name for member in cls]

    return World(
        read,
        (Colour,),
        {
            "value": lambda: setattr(Colour.RED, "_value_", 5),
            "name": lambda: setattr(Colour.RED, "_name_", "PINK"),
            "members": lambda: Colour._member_names_.reverse(),
            "hash": lambda: setattr(Colour, "__hash__", lambda self: 12345),
            "equality": lambda: setattr(Colour, "__eq__", lambda self, other: True),
            "map": lambda: Colour._value2member_map_.update({1: Colour.BLUE}),
        },
    )


# -- functions -------------------------------------------------------------------------------------------------------


def made_function() -> tuple[types.FunctionType, types.FunctionType]:
    held = [1]
    cell = 1

    def inner(a: int = 1, *, b: int = 2) -> tuple:
        "text"
        return a, b, cell, held[0]

    def put(value: int) -> None:
        nonlocal cell
        cell = value

    return inner, put


@world
def calls_a_function() -> World:
    inner, put = made_function()

    def other(a: int = 5, *, b: int = 6) -> tuple:
        return a, b, "other"

    def empty_code() -> None:
        del inner.__closure__[0].cell_contents

    return World(
        lambda fn: fn(),
        (inner,),
        {
            "defaults": setter(inner, "__defaults__", (9,)),
            "no defaults": setter(inner, "__defaults__", None),
            "kwdefaults": setter(inner, "__kwdefaults__", {"b": 9}),
            "kwdefaults in place": lambda: inner.__kwdefaults__.update(b=8),
            "kwdefaults gone": lambda: inner.__kwdefaults__.clear(),
            "code": lambda: setattr(inner, "__code__", closing_over_two()),
            "cell by a function": lambda: put(7),
            "cell": lambda: setattr(inner.__closure__[0], "cell_contents", 7),
            "list in a cell": lambda: inner.__closure__[1].cell_contents.__setitem__(0, 5),
            "empty cell": empty_code,
        },
    )


def closing_over_two() -> types.CodeType:
    cell, held = 1, 2

    def inner(a: int = 1, *, b: int = 2) -> tuple:
        return b, a, held, cell

    return inner.__code__


@world
def reads_a_function() -> World:
    inner, _ = made_function()

    @functools.wraps(inner)
    def wrapper() -> None:
        pass

    def read(fn: Any, wrapper: Any) -> tuple:
        return (
            fn.__name__, fn.__qualname__, fn.__doc__, fn.__module__, fn.__defaults__, fn.__kwdefaults__["b"], fn.__code__.co_name,
            len(fn.__closure__), wrapper.__wrapped__ is fn, wrapper.__name__, sorted(fn.__annotations__), getattr(fn, "late", 0),
        )  # fmt: skip

    return World(
        read,
        (inner, wrapper),
        {
            "name": setter(inner, "__name__", "x"),
            "qualname": setter(inner, "__qualname__", "x"),
            "doc": setter(inner, "__doc__", "x"),
            "module": setter(inner, "__module__", "x"),
            "defaults": setter(inner, "__defaults__", (3,)),
            "kwdefaults": setter(inner, "__kwdefaults__", {"b": 9}),
            "kwdefaults in place": lambda: inner.__kwdefaults__.update(b=8),
            "code": lambda: setattr(inner, "__code__", inner.__code__.replace(co_name="x")),
            "wrapped": setter(wrapper, "__wrapped__", wrapper),
            "wrapped in the dictionary": lambda: wrapper.__dict__.update(__wrapped__=3),
            "annotations": setter(inner, "__annotations__", {"x": 1}),
            "annotations in place": lambda: inner.__annotations__.pop("a"),
            "attribute": setter(inner, "late", 1),
            "dictionary": setter(inner, "__dict__", {"late": 2}),
        },
    )


@world
def bound_methods() -> World:
    class Cls:
        value = 1

        def method(self) -> int:
            return self.value

    thing = Cls()
    bound = thing.method

    return World(
        lambda bound: (bound(), bound.__self__.value, bound.__name__),
        (bound,),
        {
            "class": setter(Cls, "value", 2),
            "instance": setter(thing, "value", 2),
            "code": setter(Cls.method, "__code__", (lambda self: 4).__code__),
            "name": setter(Cls.method, "__name__", "other"),
        },
    )


@world
def partials() -> World:
    class Holder:
        n = 1

    partial = functools.partial(lambda a, b, c=3: (a, b.n, c), 1, Holder, c=5)

    return World(
        lambda p: (p(), p.args[0], p.keywords["c"], getattr(p, "late", 0)),
        (partial,),
        {
            "state": lambda: partial.__setstate__((partial.func, (2, Holder), {"c": 6}, {})),
            "keywords": lambda: partial.keywords.update(c=7),
            "attribute": setter(partial, "late", 1),
            "class": setter(Holder, "n", 4),
        },
    )


@world
def cached_functions() -> World:
    calls = [0]

    @functools.lru_cache
    def cached(n: int) -> int:
        return calls[0] + n

    return World(
        lambda cached: (cached(1), cached.__wrapped__(1)),
        (cached,),
        {"wrapped value": lambda: calls.__setitem__(0, 7), "cleared": lambda: (calls.__setitem__(0, 5), cached.cache_clear())},
    )


# -- modules, globals, builtins --------------------------------------------------------------------------------------


def module_named(name: str, text: str) -> types.ModuleType:
    module = types.ModuleType(name)
    exec(text, module.__dict__)  # noqa: S102
    return module


@world
def globals_of_a_module() -> World:
    module = module_named("there", "value = 1\ndef read(): return value, len([1]), helper()\ndef helper(): return 1\n")
    own = {"__builtins__": {"len": lambda _: 77}}
    namespace = module.__dict__
    return World(
        lambda read: read(),
        (module.read,),
        {
            "attribute": setter(module, "value", 2),
            "dictionary": lambda: namespace.update(value=3),
            "exec": lambda: exec("value = 4", namespace),  # noqa: S102
            "global statement": lambda: exec("def f():\n global value\n value = 5\nf()", namespace),  # noqa: S102
            "shadowed builtin": setter(module, "len", lambda _: 66),
            "deleted": lambda: namespace.pop("value"),
            "function": setter(module, "helper", lambda: 2),
            "code": lambda: setattr(module.helper, "__code__", (lambda: 3).__code__),
            "other": lambda: setattr(module, "read", own) or namespace.update(value=own["__builtins__"]["len"](1)),
        },
    )


@world
def attributes_of_a_module() -> World:
    module = module_named("there", "value = 1\n")

    class Lazy(types.ModuleType):
        @property
        def value(self) -> int:
            return 8

        def __getattr__(self, name: str) -> int:
            return 9

    def read(module: Any) -> tuple:
        return module.value, getattr(module, "late", 0), module.__name__, module.__doc__

    return World(
        read,
        (module,),
        {
            "attribute": setter(module, "value", 2),
            "dictionary": lambda: module.__dict__.update(value=3),
            "late": setter(module, "late", 3),
            "getattr": setter(module, "__getattr__", lambda name: 6),
            "class": setter(module, "__class__", Lazy),
            "name": setter(module, "__name__", "x"),
            "doc": setter(module, "__doc__", "x"),
        },
    )


@contextmanager
def restored(mapping: dict, *names: str) -> Iterator[None]:
    missing = object()
    before = {name: mapping.get(name, missing) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is missing:
                mapping.pop(name, None)
            else:
                mapping[name] = value


@world
def builtin_functions() -> World:
    def read(items: list) -> tuple:
        try:
            return len(items), abs(-3), divmod(7, 2), late_builtin  # noqa: F821
        except NameError:
            return len(items), abs(-3), divmod(7, 2)

    return World(
        read,
        ([1, 2],),
        {
            "attribute": setter(builtins, "abs", lambda _: 9),
            "dictionary": lambda: vars(builtins).update(divmod=lambda *_: "yes"),
            "late": setter(builtins, "late_builtin", 5),
        },
    )


@world
def imported_modules() -> World:
    def read() -> tuple:
        import changed_thing  # noqa: PLC0415
        from changed_thing import value as taken  # noqa: PLC0415

        return changed_thing.value, taken, sys.modules["changed_thing"].value

    sys.modules["changed_thing"] = module_named("changed_thing", "value = 1\n")

    def import_hook() -> None:
        fake, forward = module_named("changed_thing", "value = 7\n"), builtins.__import__
        builtins.__import__ = lambda name, *args: fake if name == "changed_thing" else forward(name, *args)

    return World(
        read,
        (),
        {
            "replaced": lambda: sys.modules.update(changed_thing=module_named("changed_thing", "value = 2\n")),
            "attribute": lambda: setattr(sys.modules["changed_thing"], "value", 3),
            "gone": lambda: sys.modules.pop("changed_thing"),
            "none": lambda: sys.modules.update(changed_thing=None),
            "hook": import_hook,
        },
    )


@world
def state_of_sys() -> World:
    def read() -> tuple:
        return len(sys.path), sys.path[0], len(sys.argv), sys.getrecursionlimit(), sys.flags is not None

    return World(
        read,
        (),
        {
            "path": lambda: sys.path.insert(0, "elsewhere"),
            "another path": setter(sys, "path", ["other"]),
            "arguments": lambda: sys.argv.append("x"),
            "limit": lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 7),
        },
    )


# -- containers ------------------------------------------------------------------------------------------------------


@world
def lists() -> World:
    class Sub(list):
        pass

    made = [1, Sub([2, 3]), (4,)]
    return World(
        lambda x: (x[0], len(x), x[1][0], list(x[1]), 5 in x, x[-1][0]),
        (made,),
        {
            "item": lambda: made.__setitem__(0, 9),
            "append": lambda: made.append((8,)),
            "slice": lambda: made.__setitem__(slice(0, 1), [7, 7]),
            "sort": lambda: made[1].sort(reverse=True),
            "reverse": lambda: made[1].reverse(),
            "base method": lambda: list.__setitem__(made[1], 0, 5),
            "method of class": lambda: setattr(Sub, "__getitem__", lambda self, n: 44),
            "iteration of class": lambda: setattr(Sub, "__iter__", lambda self: iter((1,))),
            "clear": lambda: made[1].clear(),
            "imul": lambda: made.__imul__(2),
        },
    )


@world
def dictionaries() -> World:
    class Sub(dict):
        pass

    made = {"a": 1, "b": Sub(x=1), "c": collections.defaultdict(int)}
    return World(
        lambda d: (d["a"], len(d), list(d), d.get("late"), d["b"].get("x"), list(d["b"].items()), d["c"]["zero"], "q" in d),
        (made,),
        {
            "item": lambda: made.__setitem__("a", 2),
            "late": lambda: made.setdefault("late", 2),
            "update": lambda: made.update(q=1),
            "deleted": lambda: made.pop("a"),
            "order": lambda: made.__setitem__("a", made.pop("a")),
            "inner": lambda: dict.__setitem__(made["b"], "x", 4),
            "union": lambda: made["b"].__ior__({"y": 1}),
            "missing": lambda: setattr(made["c"], "default_factory", lambda: 5) or made["c"].clear(),
            "get of class": lambda: setattr(Sub, "get", lambda self, key: 9),
            "popitem": lambda: made.popitem(),
            "clear": lambda: made.clear(),
        },
    )


@world
def sets() -> World:
    made = {1, 2, 3}
    return World(
        lambda s: (1 in s, 5 in s, len(s), sorted(s)),
        (made,),
        {
            "add": lambda: made.add(5),
            "discard": lambda: made.discard(1),
            "update": lambda: made.update((7, 8)),
            "difference": lambda: made.__isub__({1}),
            "clear": lambda: made.clear(),
        },
    )


@world
def deques() -> World:
    made = collections.deque([1, 2, 3], 5)
    return World(
        lambda q: (q[0], len(q), list(q), q.maxlen),
        (made,),
        {"rotate": lambda: made.rotate(1), "append": lambda: made.appendleft(0), "item": lambda: made.__setitem__(1, 9)},
    )


@world
def slots() -> World:
    class Slotted:
        __slots__ = ("a", "b")

    thing = Slotted()
    thing.a = 1
    return World(
        lambda t: (getattr(t, "a", 0), hasattr(t, "b")),
        (thing,),
        {
            "value": setter(thing, "a", 2),
            "by descriptor": lambda: Slotted.a.__set__(thing, 3),
            "deleted": lambda: delattr(thing, "a"),
            "filled": setter(thing, "b", 1),
            "descriptor replaced": setter(Slotted, "a", 5),
        },
    )


@world
def aliases() -> World:
    class Holder:
        pass

    one, two, shared = Holder(), Holder(), [1]
    one.x = two.x = shared
    two.y = [1]

    def read(one: Any, two: Any) -> tuple:
        one.x.append(2)
        made = len(two.x), one.x is two.x, two.x is two.y, len(two.y)
        one.x.pop()
        return made

    return World(
        read,
        (one, two),
        {"parted": lambda: setattr(one, "x", [1]), "joined": lambda: setattr(two, "y", shared), "in the dictionary": lambda: two.__dict__.update(x=[1])},
    )


@world
def identity_of_the_dead() -> World:
    """An object dies and another takes its place in memory."""

    class Holder:
        pass

    class Item:
        def __init__(self, n: int) -> None:
            self.n = n

        def method(self) -> int:
            return self.n

    holder = Holder()
    holder.item = Item(1)
    holder.fn = lambda: 1

    def replace() -> None:
        del holder.item, holder.fn
        gc.collect()
        holder.item, holder.fn = Item(2), lambda: 2

    return World(lambda h: (h.item.n, h.item.method(), h.fn()), (holder,), {"replaced": replace})


# -- exceptions and handled state ------------------------------------------------------------------------------------


@world
def parts_of_an_exception() -> World:
    error = ValueError("x", 1)
    error.__cause__ = KeyError()
    error.add_note("n")
    return World(
        lambda e: (e.args, len(e.__notes__), type(e.__cause__).__name__, e.__context__ is None, e.__suppress_context__, str(e)),
        (error,),
        {
            "args": setter(error, "args", ("y",)),
            "note": lambda: error.add_note("m"),
            "cause": setter(error, "__cause__", OSError()),
            "context": setter(error, "__context__", OSError()),
            "suppress": setter(error, "__suppress_context__", False),
        },
    )


CHANGES = [(name, change) for name, make in WORLDS.items() for change in make().changes]


@contextmanager
def process_restored() -> Iterator[None]:
    path, inner, argv, limit = sys.path, [*sys.path], [*sys.argv], sys.getrecursionlimit()
    with restored(vars(builtins), "abs", "divmod", "late_builtin", "__import__"), restored(sys.modules, "changed_thing"):
        try:
            yield
        finally:
            sys.path, sys.argv[:] = path, argv
            sys.path[:] = inner
            sys.setrecursionlimit(limit)


def calls(made: World, call: Callable, change: str) -> tuple[Any, Any]:
    with process_restored():
        before = [outcome(call, *made.arguments) for _ in range(3)]
        made.changes[change]()
        after = [outcome(call, *made.arguments) for _ in range(2)]
    return before, after


@pytest.mark.parametrize(("name", "change"), CHANGES, ids=[f"{name}-{change}" for name, change in CHANGES])
def test_the_next_call_sees_the_change(name: str, change: str) -> None:
    eager = WORLDS[name]()
    before, after = calls(eager, eager.function, change)
    assert before[-1] != after[0], "this change tests nothing"
    made = WORLDS[name]()
    assert calls(made, Compiled(made.function), change) == (before, after)


def within(function: Callable, arguments: tuple, change: Callable) -> tuple:
    before = outcome(function, *arguments)
    change()
    return before, outcome(function, *arguments)


@pytest.mark.parametrize(("name", "change"), CHANGES, ids=[f"{name}-{change}" for name, change in CHANGES])
def test_the_same_call_sees_the_change(name: str, change: str) -> None:
    def run(made: World, call: Callable) -> Any:
        with process_restored():
            return call(made.function, made.arguments, made.changes[change])

    expected = run(WORLDS[name](), within)
    assert expected[0] != expected[1]
    assert run(WORLDS[name](), Compiled(within)) == expected
