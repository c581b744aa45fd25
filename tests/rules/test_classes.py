"""Classes, `super`, descriptors and slots."""

from __future__ import annotations

import abc
import collections.abc
import types
import typing

import pytest

from tests.rules.running import breaks, compared, whole


class Base:
    """Doc of Base."""

    label: str = "base"

    def __init__(self, n):
        self.n = n

    def name(self):
        return f"Base {self.n}"

    @classmethod
    def make(cls, n=1):
        return cls(n)

    @staticmethod
    def add(a, b):
        return a + b

    @property
    def value(self):
        return self.n


class Left(Base):
    def __init__(self, n):
        super().__init__(n + 1)
        self.left = True

    def name(self):
        return "Left " + super().name()

    @property
    def value(self):
        return super().value * 10

    @classmethod
    def make(cls, n=5):
        return super().make(n)


class Right(Base):
    def __init__(self, n):
        super(Right, self).__init__(n * 2)

    def name(self):
        return "Right " + super(Right, self).name()


class Both(Left, Right):
    def name(self):
        def inner():
            return super(Both, self).name()

        return "Both " + inner()

    def names(self):
        return [super(Both, self).name() for _ in range(2)]

    def captured(self):
        self = self  # a cell, since the inner function reads it
        made = super().name()
        return made, (lambda: self.n)()


def inheritance():
    both = Both(1)
    return both, both.name(), both.names(), both.captured(), both.value, Both.make(), Both.make(2).n, both.add(1, 2)


def about_classes():
    return (
        Both.__mro__,
        Both.__bases__,
        Both.__base__,
        Both.__name__,
        Both.__qualname__,
        Both.__module__,
        Base.__doc__,
        Left.__doc__,
        Base.__annotations__,
        Both.label,
        type(Both),
        Both.__flags__ & 1,
        repr(Both),
    )


def namespaces():
    space = Left.__dict__
    try:
        space["nope"]
    except KeyError as error:
        missing = error.args
    return space["name"] is Left.name, "label" in space, "label" in Base.__dict__, space.get("nope", 3), missing


def super_object():
    made = super(Left, Both(1))
    return made.__thisclass__, made.__self_class__, made.name(), made.__self__.n, made.__class__


def outside():
    try:
        return super()
    except RuntimeError as error:
        return error.args


class Watched(Base):
    log: list = []

    def __setattr__(self, name, value):
        super().__setattr__(name + "_", value)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        object.__delattr__(self, name)
        super().__delattr__(name + "_")

    def __getattribute__(self, name):
        if name == "secret":
            return "told"
        return super().__getattribute__(name)


def own_access():
    made = Watched(1)
    made.x = 2
    del made.n
    return made, made.secret, made.x_


class Converted:
    """A data descriptor."""

    def __set_name__(self, owner, name):
        self.key = "_" + name

    def __get__(self, obj, owner=None):
        return self if obj is None else getattr(obj, self.key, "unset")

    def __set__(self, obj, value):
        setattr(obj, self.key, value * 2)

    def __delete__(self, obj):
        delattr(obj, self.key)


class Lazy:
    """A descriptor without `__set__`."""

    def __get__(self, obj, owner=None):
        obj.__dict__["lazy"] = "made"
        return "computed"


class Holder:
    field = Converted()
    lazy = Lazy()

    @property
    def temperature(self):
        return self._t

    @temperature.setter
    def temperature(self, value):
        self._t = value + 1

    @temperature.deleter
    def temperature(self):
        del self._t


def descriptors():
    holder = Holder()
    found = [holder.field, holder.lazy, holder.lazy]
    holder.field = 4
    found.append(holder.field)
    holder.__dict__["field"] = "hidden"
    found.append(holder.field)
    del holder.field
    holder.temperature = 1
    found.append(holder.temperature)
    del holder.temperature
    try:
        holder.temperature
    except AttributeError:
        found.append("deleted")
    return found, holder, Holder.field is Holder.__dict__["field"], Holder.temperature.fset is not None


def without_setter():
    try:
        Base(1).value = 3
    except AttributeError as error:
        return type(error)


def new_property():
    made = property(lambda self: self.n, doc="text")
    other = made.setter(lambda self, value: None)
    return made.fget(Base(4)), made.__get__(Base(5)), other.fget is made.fget, made.__doc__, made.fset, made


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


class MoreSlots(Slotted):
    __slots__ = ("c", "__dict__")


def slots(given):
    made = MoreSlots()
    made.c = given.a
    made.d = 4
    given.b = 5
    del given.a
    try:
        given.a
    except AttributeError:
        made.a = "gone"
    try:
        given.nope = 1
    except AttributeError:
        made.b = hasattr(given, "a")
    return made, Slotted.a.__get__(made)


class OnlySlots:
    __slots__ = ("a",)


def no_dictionary():
    made = OnlySlots()
    made.a = 1
    found = [hasattr(made, "__dict__")]
    for action in (lambda: setattr(made, "z", 1), lambda: made.z, lambda: vars(made), lambda: delattr(made, "z")):
        try:
            action()
        except (AttributeError, TypeError) as error:
            found.append(type(error))
    return found, made


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.stamped = cls.count
        return made

    @property
    def count(cls):
        return 7

    def __getattr__(cls, name):
        return f"{cls.__name__}.{name}"

    def __instancecheck__(cls, obj):
        return obj == 1 or super().__instancecheck__(obj)


class Stamped(metaclass=Meta):
    def __new__(cls, n):
        made = super().__new__(cls)
        made.first = n
        return made

    def __init__(self, n):
        self.n = n


def metaclasses():
    made = Stamped(3)
    return made, Stamped.count, Stamped.anything, isinstance(1, Stamped), isinstance(2, Stamped), isinstance(made, Stamped)


class Abstract(abc.ABC):
    @abc.abstractmethod
    def go(self):
        return 1


class Concrete(Abstract):
    def go(self):
        return super().go() + 1


@Abstract.register
class Registered:
    pass


def abstract():
    return (
        Concrete().go(),
        isinstance(Concrete(), Abstract),
        isinstance(Registered(), Abstract),
        isinstance(3, Abstract),
        issubclass(Registered, Abstract),
        isinstance([], collections.abc.Sequence),
        isinstance({}, collections.abc.Mapping),
        isinstance(len, typing.Callable),
        Abstract.__abstractmethods__,
    )


def aliases():
    alias = list[int]
    return (
        alias.__origin__,
        alias.__args__,
        alias == list[int],
        typing.get_origin(dict[str, int]),
        typing.get_args(tuple[int, ...]),
        typing.cast(int, "x"),
        (int | None).__args__,
        alias.append is list.append,
        alias((1, 2)),
    )


def class_attribute():
    Base.label = "changed"
    found = Both.label, Base.label
    del Base.label
    return found, hasattr(Both, "label")


def restored():
    present = "label" in Base.__dict__
    Base.label = "base"
    return present


class Truthy:
    def __bool__(self):
        return False

    def __call__(self, x, *, y=1):
        return x + y

    def __len__(self):
        return 3

    def __eq__(self, other):
        return other == "me"

    def __ne__(self, other):
        return NotImplemented

    def __format__(self, spec):
        return f"<{spec}>"


def special_methods():
    made = Truthy()
    return bool(made), made(1), made(1, y=4), len(made), made == "me", made != "me", f"{made:abc}", made == 3


def plain_comparison():
    a, b = Base(1), Base(1)
    try:
        a < b
    except TypeError as error:
        order = type(error)
    return a == b, a == a, a != b, order, object() == object(), object.__eq__(a, 3), object.__ne__(a, a)


@pytest.mark.parametrize(
    "function",
    [
        inheritance,
        about_classes,
        namespaces,
        super_object,
        outside,
        own_access,
        descriptors,
        without_setter,
        no_dictionary,
        new_property,
        metaclasses,
        abstract,
        aliases,
        special_methods,
        plain_comparison,
    ],
)
def test_classes(function):
    whole(function)


def test_slots():
    whole(slots, Slotted)


def test_class_attributes():
    whole(class_attribute, state=restored)


def simple_namespace():
    made = types.SimpleNamespace(a=1, b=[2])
    made.c = made.a
    del made.a
    return made, made == types.SimpleNamespace(b=[2], c=1), made != 3, vars(made)


def test_simple_namespace():
    whole(simple_namespace)


def text_with_an_address():
    return len(repr(Base(1))) > 3


def test_text_with_an_address_breaks():
    breaks("FL501", text_with_an_address)


class Callable:
    def __call__(self, *args):
        return len(args)


def class_methods_of_what_is_no_function():
    class Chained:
        @classmethod
        @classmethod
        def twice(cls):
            return cls

        @classmethod
        @property
        def read(cls):
            return cls

        called = classmethod(Callable())
        largest = classmethod(max)

    found = []
    for name in ("twice", "read", "called", "largest"):
        for holder in (Chained, Chained()):
            bound = getattr(holder, name)
            found.append((type(bound), bound is Chained))
            try:
                result = bound() if name != "read" else None
            except TypeError as error:
                result = type(error)
            found.append(result is Chained or result)
    return found


def test_class_methods_bind_what_they_wrap_as_this_python_does():
    compared(class_methods_of_what_is_no_function, (), 2, tuple)


class Closed:
    __slots__ = ("inside",)
    shared = 1


def closed():
    said = []
    for name in ("inside", "outside", "shared"):
        for use in (lambda: getattr(Closed(), name), lambda: setattr(Closed(), name, 1), lambda: delattr(Closed(), name)):
            try:
                use()
            except AttributeError as error:
                said.append(str(error))
    return said


def test_attributes_of_an_object_without_a_dictionary():
    whole(closed)


class Endless:
    __repr__ = object.__str__


def endless_text():
    try:
        return f"{Endless()!r}"
    except RecursionError:
        return "no end"


def test_text_that_asks_for_itself():
    breaks("FL006", endless_text)


def copies_of_properties():
    """A copy has its text from its own getter, where the first had it from its own."""

    def one(self):
        """one"""

    def two(self):
        """two"""

    own, given, bare = property(one), property(one, doc="given"), property(lambda self: None)
    told = [own.setter(two).__doc__, given.setter(two).__doc__, own.__doc__]
    one.__doc__ = "changed"
    told += [own.__doc__, own.deleter(two).__doc__, property(one).__doc__]
    return told, [made.getter(two).__doc__ for made in (own, own.setter(two), given, given.setter(two), bare, property(one))]


def test_copies_of_properties():
    compared(copies_of_properties, (), 2, tuple)
