"""Reading an instance's own attributes: what is found, in which order, and that nothing comes into being."""
from __future__ import annotations

import abc
import functools
import sys
import types

import pytest

from frameloom import native
from frameloom.native import class_lookup, instance_dict_get, instance_dict_names

NOTHING = object()


class Plain:
    def __init__(self) -> None:
        self.first = 1
        self.second = "two"


class Slotted:
    __slots__ = ("a",)


class Guarded(Plain):
    def __getattribute__(self, name: str) -> object:
        raise AssertionError("user code ran")


class Loud(str):
    def __eq__(self, other: object) -> bool:
        raise AssertionError("user code ran")

    def __hash__(self) -> int:
        return str.__hash__(self)


def materialised() -> Plain:
    made = Plain()
    assert made.__dict__ == {"first": 1, "second": "two"}
    return made


def reordered() -> Plain:
    made = Plain.__new__(Plain)
    made.second = "two"
    made.first = 1
    return made


def emptied() -> Plain:
    made = Plain()
    del made.first
    return made


@pytest.mark.parametrize("make, names", [
    (Plain, ("first", "second")),
    (Guarded, ("first", "second")),
    (materialised, ("first", "second")),
    (reordered, ("second", "first")),
    (emptied, ("second",)),
    (lambda: Plain.__new__(Plain), ()),
])
def test_names_and_values(make, names) -> None:
    made = make()
    assert instance_dict_names(made) == names
    values = {"first": 1, "second": "two"}
    for name in ("first", "second", "third"):
        assert instance_dict_get(made, name, NOTHING) == (values[name] if name in names else NOTHING)


def test_a_class_with_base_in_c() -> None:
    class Words(list):
        pass

    words = Words("ab")
    assert instance_dict_names(words) == ()
    words.title = "t"
    assert instance_dict_names(words) == ("title",)
    assert instance_dict_get(words, "title", NOTHING) == "t"
    error = ValueError()
    assert instance_dict_get(error, "x", NOTHING) is NOTHING
    error.x = 3
    assert instance_dict_get(error, "x", NOTHING) == 3


def test_objects_without_dictionary_and_classes() -> None:
    slotted = Slotted()
    slotted.a = 1
    for thing in (slotted, Plain, 3, None, "text", [], int):
        assert instance_dict_names(thing) is None
        assert instance_dict_get(thing, "a", NOTHING) is NOTHING
        assert instance_dict_get(thing, "__init__", NOTHING) is NOTHING


def test_modules_and_functions() -> None:
    module = types.ModuleType("m")
    module.x = NOTHING
    assert instance_dict_get(module, "x", None) is NOTHING
    assert instance_dict_names(module)[-1] == "x"

    def function() -> None:
        pass

    function.mark = 1
    assert instance_dict_get(function, "mark", None) == 1


def test_names_that_were_made_at_run_time() -> None:
    name = "".join(["fi", "rst"])
    assert instance_dict_get(Plain(), name, NOTHING) == 1


def test_keys_with_methods_of_their_own_are_not_asked() -> None:
    made = materialised()
    made.__dict__[Loud("other")] = 5
    made.__dict__[(1, 2)] = 6
    for name in ("other", "first"):
        with pytest.raises(LookupError):  # eager's look-up may ask them, and what comes of it is not told
            instance_dict_get(made, name, NOTHING)
    assert instance_dict_names(made)[-1] == (1, 2)


def test_a_class_look_up_asks_no_keys() -> None:
    class Below(Plain):
        own = 3

    odd = type("Odd", (Below,), {Loud("first"): 5})
    assert class_lookup(Below, "own", NOTHING) == 3
    assert class_lookup(Below, "__init__", NOTHING) is Plain.__init__
    assert class_lookup(Below, "nowhere", NOTHING) is NOTHING
    with pytest.raises(LookupError):
        class_lookup(odd, "first", NOTHING)


def test_reading_makes_no_dictionary() -> None:
    """An object whose dictionary was asked for is bigger afterwards, or its attributes live elsewhere."""
    read, untouched = Plain(), Plain()
    for _ in range(50):
        instance_dict_get(read, "first", NOTHING)
        instance_dict_names(read)
    import gc

    assert [type(r) for r in gc.get_referents(read)] == [type(r) for r in gc.get_referents(untouched)]


def test_more_attributes_than_fit_into_the_object() -> None:
    made = Plain.__new__(Plain)
    names = tuple(f"name_{i}" for i in range(200))
    for name in names:
        setattr(made, name, name.upper())
    assert instance_dict_names(made) == names
    assert all(instance_dict_get(made, name, NOTHING) == name.upper() for name in names)


def test_references_are_given_and_kept() -> None:
    value = object()
    made = Plain()
    made.first = value
    before = sys.getrefcount(value)
    for _ in range(100):
        instance_dict_get(made, "first", NOTHING)
        instance_dict_get(made, "nothing", value)
    assert sys.getrefcount(value) == before


def test_wrong_calls() -> None:
    with pytest.raises(TypeError):
        instance_dict_get(Plain(), "x")
    with pytest.raises(TypeError):
        instance_dict_get(Plain(), 3, None)


# ---- what generated code makes instances with ----


class Slots:
    __slots__ = ("a",)


class ReadOnly:
    value = property(lambda self: 1)


class Refuses:
    def __new__(cls):
        raise AssertionError("object.__new__ asks nobody")

    def __setattr__(self, name, value):
        raise AssertionError("object.__setattr__ asks nobody")


def outcome_of(call, *arguments):
    try:
        return type(call(*arguments))
    except Exception as error:
        return type(error)


class Abstract(abc.ABC):
    @abc.abstractmethod
    def method(self): ...


@pytest.mark.parametrize("cls", [object, Slots, ReadOnly, Refuses, Abstract, int, list, dict, type, type("L", (list,), {}),
                                 type("E", (ValueError,), {}), type("P", (functools.partial,), {}), 5, None])
def test_new_objects(cls):
    made = outcome_of(object.__new__, cls)
    assert outcome_of(native.object_new, cls) is made
    assert (made is cls) == (cls in (object, Slots, ReadOnly, Refuses))


@pytest.mark.parametrize("make", [Slots, ReadOnly, lambda: object.__new__(Refuses), object, list, lambda: lambda: 0,
                                  lambda: types.ModuleType("m"), lambda: type("L", (list,), {})()])
@pytest.mark.parametrize("name", ["a", "value", "__class__", "__dict__", "__doc__"])
def test_attributes_that_are_set(make, name):
    one, other, value = make(), make(), {"b": 1}
    expected = outcome_of(object.__setattr__, one, name, value)
    assert outcome_of(native.object_setattr, other, name, value) is expected
    for thing in (one, other):
        assert expected is not type(None) or object.__getattribute__(thing, name) == value
    with pytest.raises(TypeError):
        native.object_setattr(Slots, "b", 1)
    with pytest.raises(TypeError):
        native.object_setattr(one, 5, 1)
