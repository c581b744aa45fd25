"""Built-in functions about objects."""

from __future__ import annotations

import functools
import types

import pytest

from tests.rules.running import breaks, whole


class Box:
    """A box."""

    kind = "plain"
    __slots__ = ("__dict__", "held")

    def __init__(self, n=3):
        self.n = n

    @property
    def double(self):
        return self.n * 2

    @property
    def broken(self):
        raise AttributeError("from inside")

    @property
    def failing(self):
        raise ValueError("other")

    def __getattr__(self, name):
        if name.startswith("made_"):
            return name[5:]
        raise AttributeError(f"no {name}")


class Text(str):
    pass


def reading(box):
    found = [getattr(box, name, "default") for name in ("n", "double", "kind", "nope", "held", "made_x", "broken")]
    return found, [hasattr(box, name) for name in ("n", "held", "made_y", "broken", "nope")], getattr(box, Text("n"))


def raising_from_property(box):
    try:
        return getattr(box, "failing", 1)
    except ValueError as error:
        return error.args


def writing(box):
    setattr(box, "a", 1)
    box.held = 2
    setattr(box, "held", 3)
    box.b = box.a + 1
    delattr(box, "a")
    try:
        del box.a
    except AttributeError:
        box.c = "gone"
    return box.held, box.b


def own_dictionary(box):
    space = vars(box)
    space["w"] = 1
    box.v = 2
    space["w"] = 3
    box.v = 4
    del space["n"]
    return space is box.__dict__, box.w, hasattr(box, "n"), list(space), "v" in box.__dict__


def own_dictionary_as_a_whole(box):
    box.x = 1
    box.__dict__.update({"x": 2, "y": 3})
    box.x = 5
    box.__dict__.pop("y")
    box.y = 6
    box.__dict__.clear()
    box.x = 7
    return box


def fresh_dictionary():
    box = Box()
    space = box.__dict__
    space["n"] = 9
    box.m = 8
    return space, box.n


def fresh_dictionary_with_its_object():
    box = Box()
    return box.__dict__, box


def classes(box):
    return (
        isinstance(box, Box),
        isinstance(box, (int, (str, Box))),
        isinstance(3, int | str),
        isinstance(True, int),
        issubclass(bool, int),
        issubclass(Box, (int, str)),
        type(box) is Box,
        type(box).__name__,
        box.__class__,
        type(type(box)),
    )


def wrong_classes():
    found = []
    for question in (lambda: isinstance(3, 4), lambda: issubclass(3, int), lambda: isinstance(3, list[int])):
        try:
            question()
        except TypeError as error:
            found.append(type(error))
    return found


def callables(box):
    return callable(box), callable(len), callable(Box), callable(lambda: 1), callable(3), callable(box.__init__)


def identities(box, other):
    seen = {id(box): "box", id(other): "other"}
    again = {id(box), id(other), id(box)}
    return seen[id(box)], seen.get(id(3)), id(box) == id(box), id(box) == id(other), len(again), id(None) in again


def identity_of_a_list():
    items = []
    return {id(items): items}[id(items)] is items


def address():
    return id(Box) % 16 == 0


def hashes(box):
    return hash("a") == hash("a"), hash((1, 2)) == hash((1, 2)), hash(box) == hash(box), {hash(box): 1}[hash(box)]


GLOBAL = 1


def own_globals():
    globals()["GLOBAL"] = globals()["GLOBAL"] + 1
    return GLOBAL, globals()["Box"] is Box, "nope" in globals()


def text():
    return eval("1 + 1")


def wrong_names(box):
    found = []
    for action in (lambda: getattr(box, 3), lambda: setattr(box, 3, 4), lambda: hasattr(box, None), lambda: vars(3)):
        try:
            action()
        except TypeError as error:
            found.append(type(error))
    return found


@pytest.mark.parametrize(
    "function",
    [reading, raising_from_property, writing, own_dictionary, own_dictionary_as_a_whole, classes, callables, hashes, wrong_names],
)
def test_of_an_object(function):
    whole(function, Box)


@pytest.mark.parametrize(
    "function", [fresh_dictionary, fresh_dictionary_with_its_object, wrong_classes, identity_of_a_list]
)
def test_of_nothing(function):
    whole(function)


def test_identities():
    whole(identities, Box, Box)


def test_identities_are_guarded():
    box = Box()
    compiler = whole(identities, Box, Box)
    compiled = compiler.of(identities)
    assert compiled(box, box)[3:5] == (True, 1)


def test_globals():
    whole(own_globals, calls=1, state=lambda: globals().update(GLOBAL=1))


def test_number_of_an_identity_breaks():
    breaks("FL501", address)


def test_refused():
    breaks("FL107", text)


def making_parts(box):
    method = types.MethodType(Box.__init__, box)
    method(5)
    bound = Box.double.fget.__get__(box, Box)
    static = staticmethod(len)
    return box.n, bound(), method.__self__ is box, method.__func__ is Box.__init__, static([1]), static.__func__ is len


def test_making_parts():
    whole(making_parts, Box)


def by_partial(box):
    return functools.partial(getattr, box)("n")


def test_attributes_by_partial():
    whole(by_partial, Box)
