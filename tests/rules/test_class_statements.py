"""Class statements and `type()` with three arguments: a new class at each call."""

from __future__ import annotations

import abc
import collections.abc
import dataclasses
import enum
import functools
import typing

import pytest

from tests.rules.running import compared, whole


class Base:
    kept = 3

    def greet(self):
        return f"{type(self).__name__} {self.kept}"


class Counted:
    """Hears of its subclasses."""

    heard: list = []

    def __init_subclass__(cls, /, mark=None, **kwargs):
        super().__init_subclass__(**kwargs)
        Counted.heard.append((cls.__name__, mark))


class Slotted(Counted):
    __slots__ = ("inner",)


class Named:
    """Hears of its name."""

    def __set_name__(self, owner, name):
        self.owner, self.name = owner, name

    def __get__(self, obj, owner=None):
        return self if obj is None else (self.name, self.owner is owner)


class Meta(type):
    def __new__(mcls, name, bases, namespace, **kwargs):
        namespace["added"] = tuple(kwargs.items())
        return super().__new__(mcls, name, bases, namespace)

    def __init__(cls, name, bases, namespace, **kwargs):
        super().__init__(name, bases, namespace)
        cls.names = [key for key in namespace if not key.startswith("__")]

    def __call__(cls, *args):
        made = super().__call__(*args)
        made.called = args
        return made

    @property
    def size(cls):
        return len(cls.names)


class WithMeta(metaclass=Meta):
    pass


class Recording(dict):
    def __init__(self):
        self.log = []

    def __setitem__(self, key, value):
        self.log.append(key)
        super().__setitem__(key, value)


class Prepared(type):
    @classmethod
    def __prepare__(mcls, name, bases):
        return Recording()

    def __new__(mcls, name, bases, namespace):
        made = super().__new__(mcls, name, bases, dict(namespace))
        made.log = namespace.log
        return made


class Entries:
    def __mro_entries__(self, bases):
        return (Base, Counted)


def plain():
    class Pair:
        """Two of them."""

        kind = "pair"
        doubled = kind * 2

        def __init__(self, left, right=2):
            self.left, self.right = left, right

        def sum(self):
            return self.left + self.right

        @property
        def product(self):
            return self.left * self.right

        @staticmethod
        def make(n):
            return Pair(n, n)

        @classmethod
        def default(cls):
            return cls(1)

        def __eq__(self, other):
            return type(self) is type(other) and self.left == other.left

        def __add__(self, other):
            return Pair(self.left + other.left, self.right + other.right)

        def __len__(self):
            return 2

        def __getattr__(self, name):
            return name

    one, other = Pair(3), Pair.make(4)
    both = one + other
    told = Pair.__name__, Pair.__qualname__, Pair.__module__, Pair.__doc__, Pair.__bases__, Pair.__mro__[0] is Pair, repr(Pair)
    return one.sum(), other.product, both.left, Pair.default().right, one == Pair(3), len(one), one.odd, Pair.doubled, told


def leaves():
    """Class, instance, method and function outlive the call."""

    class Thing:
        shared = []

        def __init__(self, n):
            self.n = n

        def more(self):
            return self.n + 1

    thing = Thing(4)
    Thing.shared.append(thing)
    Thing.later = len(Thing.shared)
    return Thing, thing, thing.more, Thing.more, list(vars(Thing)), Thing.__dict__["shared"] is Thing.shared


def new_each_time():
    class Thing:
        pass

    return Thing


def derived():
    class Child(Base):
        kept = 5

        def greet(self):
            return "child of " + super().greet()

    class Grandchild(Child):
        def greet(self):
            return super(Grandchild, self).greet() + "!"

        def __init__(self):
            super().__init__()
            self.own = __class__

    made = Grandchild()
    tests = isinstance(made, Base), isinstance(made, Child), issubclass(Grandchild, Child), issubclass(Base, Child)
    return made.greet(), made.own is Grandchild, tests, Child.kept, Grandchild.kept, Grandchild.__mro__[2] is Base


def several_bases():
    class Left:
        def who(self):
            return ["left"]

    class A(Left):
        def who(self):
            return ["a", *super().who()]

    class B(Left):
        def who(self):
            return ["b", *super().who()]

    class C(A, B, Base):
        def who(self):
            return ["c", *super().who()]

    return C().who(), C().greet(), [cls.__name__ for cls in C.__mro__]


def builtin_bases():
    class Texts(list):
        def joined(self):
            return ",".join(self)

    class Table(dict):
        def __missing__(self, key):
            return key * 2

    class Number(int):
        def __add__(self, other):
            return Number(int(self) + other + 1)

    class Point(tuple):
        __slots__ = ()

        def __new__(cls, x, y):
            return super().__new__(cls, (x, y))

    class Fault(ValueError):
        pass

    texts = Texts(["a", "b"])
    texts.append("c")
    try:
        raise Fault("f")
    except ValueError as error:
        caught = type(error) is Fault, error.args
    return texts.joined(), texts, Table(a=1)["zz"], Number(3) + 4, Point(1, 2), Point(1, 2)[1], caught


def slots():
    class Small:
        __slots__ = ("a", "_b", "__c")
        limit = 9

        def __init__(self, a):
            self.a = a
            self.__c = a + 1

        def c(self):
            return self.__c

    small = Small(1)
    try:
        small.z = 1
    except AttributeError as error:
        said = str(error)
    try:
        small._b
    except AttributeError as error:
        missing = str(error)
    return small.a, small.c(), said, missing, small, Small.__slots__, Small.a


def wrong():
    said = []
    for bases, namespace in (((int, str), {}), ((bool,), {}), ((), {"__slots__": ("a",), "a": 1}), ((object, Base), {})):
        try:
            type("Wrong", bases, namespace)
        except (TypeError, ValueError) as error:
            said.append((type(error), str(error)))
    return said


def by_call():
    space = {"n": 3, "f": lambda self: self.n}
    made = type("Made", (Base,), space)
    space["n"] = 4
    return made, made().f(), made.__module__, made.__qualname__, made().greet()


def hears_of_subclasses():
    Counted.heard.clear()

    class One(Counted):
        pass

    class Two(One, mark=2):
        __slots__ = ("x",)

    class Three(Slotted, Base, mark=3):
        pass

    made = Two()
    made.x = 4
    three = Three()
    three.inner = three.outer = 1
    return list(Counted.heard), made.x, made, three, Three.__bases__, [cls.__name__ for cls in Three.__mro__]


def hears_of_names():
    class Owner:
        field = Named()
        other = Named()

    return Owner.field.name, Owner.other.owner is Owner, Owner().field, Owner


def metaclasses():
    class Of(metaclass=Meta):
        one = 1

        def two(self):
            return 2

    class Below(Of, extra=3):
        pass

    class Beside(WithMeta):
        x = 0

    made = Below(*())
    return Of.names, Of.size, Below.added, made.called, type(Below) is Meta, made.two(), Beside.size, Beside, Of


def own_metaclass():
    class Mine(type):
        def __getattr__(cls, name):
            return name.upper()

        def double(cls):
            return cls.n * 2

    class Of(metaclass=Mine):
        n = 4

    return Of.double(), Of.odd, Of, type(Of) is Mine, isinstance(Of, Mine)


def prepared():
    class Of(metaclass=Prepared):
        a = 1
        b = a + 1
        a = b

    return Of.log[2:], Of.a, Of


def entries_of_bases():
    class Of(Entries()):
        pass

    return Of.__bases__, Of.__orig_bases__[0].__class__, Of().greet()


def by_function():
    def make(name, bases, namespace, **kwargs):
        return name, bases, sorted(key for key in namespace if not key.startswith("__")), kwargs

    class Odd(Base, metaclass=make, word=1):
        x = 1

    return Odd


def decorated():
    def mark(cls):
        cls.mark = cls.__name__
        cls.again = lambda self: self.mark * 2
        return cls

    @mark
    class Of:
        __hash__ = None
        dropped = 1

        def __repr__(self):
            return f"<{self.mark}>"

    del Of.dropped
    Of.dropped = 2
    Of.__repr__ = lambda self: "changed"
    return repr(Of()), Of.mark, Of().again(), Of, [name for name in ("mark", "dropped", "nothing") if hasattr(Of, name)]


def names_of_bodies(n):
    x = "outer"

    class Of:
        seen = x, n
        x = "inner"
        then = x
        for i in range(3):
            pass
        items = [k + 1 for k in range(i)]
        del i

        class Inner:
            y = n

            def f(self):
                return x, n

    try:

        class Bad:
            a = 1
            del a
            b = a
    except NameError as error:
        said = str(error), error.name
    return Of.seen, Of.then, Of.items, hasattr(Of, "i"), Of.Inner.y, Of.Inner().f(), Of.Inner.__qualname__, said


def annotated():
    class Of:
        a: int = 1
        b: "str"
        c: list[int] = []

    class Bare:
        pass

    return Of.__annotations__, Of.a, Of, Bare.__annotations__, "__annotations__" in Bare.__dict__


def abstract():
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self):
            pass

        def twice(self):
            return self.area() * 2

    class Square(Shape):
        def __init__(self, n):
            self.n = n

        def area(self):
            return self.n**2

    return Square(3).twice(), Shape.__abstractmethods__, Square.__abstractmethods__, isinstance(Square(1), Shape), Square


def abstract_instance():
    class Shape(abc.ABC):
        @property
        @abc.abstractmethod
        def area(self):
            pass

    try:
        Shape()
    except TypeError as error:
        said = str(error)
    return said, isinstance(3, Shape), Shape.register(int), isinstance(3, Shape), Shape


def with_dataclass():
    @dataclasses.dataclass
    class Point:
        x: int
        y: int = 2
        rest: list = dataclasses.field(default_factory=list)

    @dataclasses.dataclass(frozen=True, order=True)
    class Fixed(Point):
        z: int = 0

    made = Point(1)
    made.rest.append(3)
    return made, repr(made), Point(1) == Point(1), dataclasses.astuple(made), Point.__match_args__


def with_frozen():
    @dataclasses.dataclass(frozen=True, order=True, slots=True)
    class Fixed:
        z: int = 0

    try:
        Fixed().z = 3
    except dataclasses.FrozenInstanceError as error:
        said = str(error)
    return Fixed(1) < Fixed(2), said, hash(Fixed(1)) == hash(Fixed(1)), Fixed


def with_enum():
    class Color(enum.Enum):
        RED = 1
        BLUE = "b"
        CRIMSON = 1

        def lower(self):
            return self.name.lower()

    class Bits(enum.IntFlag):
        A = enum.auto()
        B = enum.auto()

    return Color.RED, Color("b").lower(), list(Color), Color.CRIMSON is Color.RED, Bits.A | Bits.B, Color["BLUE"].value


def with_namedtuple():
    Pair = collections.namedtuple("Pair", "a b", defaults=[5])

    class Typed(typing.NamedTuple):
        x: int
        y: int = 3

        def sum(self):
            return self.x + self.y

    return Pair(1), Pair(1)._replace(b=2).b, Typed(1).sum(), Typed(2), Typed._fields


def with_library():
    class Of(typing.Generic[typing.TypeVar("T")]):
        @functools.cached_property
        def slow(self):
            return 5

        @functools.singledispatchmethod
        def kind(self, value):
            return "any"

        @kind.register
        def _(self, value: int):
            return "int"

        @functools.total_ordering
        class Ordered:
            def __init__(self, n):
                self.n = n

            def __eq__(self, other):
                return self.n == other.n

            def __lt__(self, other):
                return self.n < other.n

    made = Of()
    return made.slow, made.slow, made.kind(1), made.kind("s"), Of.Ordered(1) >= Of.Ordered(1), Of[int].__args__


class Registry:
    pass


def subclasses():
    """Nobody sees a class that was made at capture."""

    class Of(Registry):
        mark = 1

    found = Registry.__subclasses__()
    return found[-1] is Of, all(cls.mark == 1 for cls in found)


def raises():
    said = []
    try:

        class Bad:
            x = 1 // 0
    except ZeroDivisionError as error:
        said.append(str(error))
    try:

        class Kept(Counted, wrong=1):
            pass
    except TypeError as error:
        said.append(str(error))
    try:

        class Conflict(Base, WithMeta, metaclass=abc.ABCMeta):
            pass
    except TypeError as error:
        said.append(str(error))
    return said


def data_descriptors():
    """An instance has the name of a data descriptor in its own dictionary."""

    class Field:
        def __init__(self, name):
            self.name = name

        def __set__(self, obj, value):
            obj.__dict__[self.name] = value

    class Owner:
        field = Field("field")

        def __init__(self):
            self.field = 3

    owner = Owner()
    return owner.field, owner, Owner, list(vars(owner))


def reflected():
    class C(int):
        def __floordiv__(self, other):
            return "C floordiv"

        def __rfloordiv__(self, other):
            return "C rfloordiv"

    class D(C):
        def __floordiv__(self, other):
            return "D floordiv"

        def __rfloordiv__(self, other):
            return "D rfloordiv"

    class E(C):
        pass

    return C() // 1, 1 // C(), D() // C(), C() // D(), E() // 1, C() // E(), E() // C()


def copied():
    class Of:
        __slots__ = ("a",)

    class Told:
        __slotnames__ = ["odd"]

        def __getattr__(self, name):
            if name == "odd":
                return 4
            raise AttributeError(name)

    made = Of()
    made.a = [1]
    return made.__reduce_ex__(2)[2], Told().__reduce_ex__(2)[2]


def not_callable():
    method = classmethod(1).__get__(0)
    try:
        method(2)
    except TypeError as error:
        return str(error)


def descriptors_on_metaclasses():
    """A metaclass is given a data descriptor after one of its classes has the name."""

    class Field:
        def __set__(self, obj, value):
            raise AssertionError("nothing is set")

    class Of(type):
        pass

    class Above(metaclass=Of):
        pass

    Above.name = 42
    Of.name = Field()
    Of.other = property(lambda cls: 7)
    return Above.name, Above.other, Above, Of


def patterns():
    class Listed(abc.ABC):
        __abc_tpflags__ = collections.abc.Sequence.__flags__ & 1 << 5

    try:

        class Both(abc.ABC):
            __abc_tpflags__ = 1 << 5 | 1 << 6

    except TypeError as error:
        found = error.args
    return found, hasattr(Listed, "__abc_tpflags__"), bool(Listed.__flags__ & 1 << 5)


WHOLE = (
    plain, leaves, new_each_time, derived, several_bases, builtin_bases, slots, wrong, by_call, hears_of_subclasses, hears_of_names,
    metaclasses, own_metaclass, descriptors_on_metaclasses, prepared, entries_of_bases, by_function, decorated, abstract, data_descriptors, reflected,
)  # fmt: skip
EQUAL = (annotated, copied, patterns, not_callable, abstract_instance, with_dataclass, with_frozen, with_enum, with_namedtuple, with_library, subclasses, raises)


@pytest.mark.parametrize("function", WHOLE, ids=lambda function: function.__name__)
def test_classes_are_captured(function):
    whole(function)


@pytest.mark.parametrize("function", EQUAL, ids=lambda function: function.__name__)
def test_classes_end_equal(function):
    compared(function, (), 2, tuple)


def test_names_of_bodies():
    whole(names_of_bodies, lambda: 7)
