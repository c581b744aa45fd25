"""Arrays of numbers with the troublesome habits of tensors.

They have identity, views that share storage, in-place operations, Python attributes, hooks, a mode that changes what
operations do, an operation that fails by shape, one that fails by value, one that is random, and a class hook
(`__toy_function__`) by which a subclass takes operations over.
"""

from __future__ import annotations

import random
from typing import Any, Callable


class Mode:
    """A global switch: while on, results are marked as tracked."""

    tracking = True


def set_tracking(value: bool) -> None:
    """Turn the mode on or off."""
    Mode.tracking = bool(value)


def is_tracking() -> bool:
    """Whether the mode is on."""
    return Mode.tracking


class Op:
    """An operation on arrays; opaque to the core, as a C function of torch is."""

    def __init__(self, name: str, run: Callable, inplace: bool = False) -> None:
        self.name = name
        self.run = run
        self.inplace = inplace

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for arg in args:
            if isinstance(arg, Array) and type(arg) is not Array:
                taken = type(arg).__toy_function__(self, args, kwargs)
                if taken is not NotImplemented:
                    return taken
        return self.run(*args, **kwargs)

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return self if obj is None else Bound(self, obj)

    def __repr__(self) -> str:
        return f"toy.{self.name}"


class Bound:
    """An operation bound to its first argument."""

    def __init__(self, op: Op, obj: Any) -> None:
        self.op = op
        self.obj = obj

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(self.obj, *args, **kwargs)


class Array:
    """A window (`start`, `size`) on a shared list of numbers."""

    def __init__(self, storage: list, start: int = 0, size: int | None = None) -> None:
        self.storage = storage
        self.start = start
        self.size = len(storage) if size is None else size
        self.tracked = False
        self.hooks: list = []

    def numbers(self) -> list:
        """The numbers in the window."""
        return self.storage[self.start : self.start + self.size]

    @classmethod
    def __toy_function__(cls, op: Op, args: tuple, kwargs: dict) -> Any:
        return NotImplemented

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.numbers()})"


def array(*numbers: float) -> Array:
    """A new array."""
    return Array(list(numbers))


class ShapeError(ValueError):
    """Sizes that do not fit."""


def _other(a: Array, b: Any) -> list:
    if isinstance(b, Array):
        if b.size != a.size and b.size != 1:
            raise ShapeError(f"sizes {a.size} and {b.size} do not fit")
        return b.numbers() * (a.size if b.size == 1 and a.size != 1 else 1)
    return [b] * a.size


def _new(numbers: list) -> Array:
    made = Array(numbers)
    made.tracked = Mode.tracking
    return made


def _elementwise(function: Callable) -> Callable:
    def run(a: Any, b: Any) -> Array:
        if not isinstance(a, Array):
            return _new([function(a, y) for y in b.numbers()])
        return _new([function(x, y) for x, y in zip(a.numbers(), _other(a, b))])

    return run


def _inplace(function: Callable) -> Callable:
    def run(a: Array, b: Any) -> Array:
        for i, (x, y) in enumerate(zip(a.numbers(), _other(a, b))):
            a.storage[a.start + i] = function(x, y)
        return a

    return run


def _view(a: Array, start: int, stop: int) -> Array:
    start, stop, _ = slice(start, stop).indices(a.size)
    made = Array(a.storage, a.start + start, max(0, stop - start))
    made.tracked = a.tracked
    return made


def _index(a: Array, i: Any) -> Array:
    if isinstance(i, slice):
        return _view(a, i.start or 0, a.size if i.stop is None else i.stop)
    if not -a.size <= i < a.size:
        raise IndexError("index out of range")
    return _view(a, i % a.size, i % a.size + 1)


def _store(a: Array, i: Any, value: Any) -> None:
    _inplace(lambda x, y: y)(_index(a, i), value)


def _checked_root(a: Array) -> Array:
    if any(x < 0 for x in a.numbers()):
        raise ArithmeticError("root of a negative number")
    return _new([x**0.5 for x in a.numbers()])


GENERATOR = random.Random()
"""What operations of arrays draw from; as a tensor library's, it is not that of the module `random`."""


def _noise(a: Array) -> Array:
    return _new([x + GENERATOR.random() for x in a.numbers()])


def _as_is(a: Array) -> Array:
    return a


def _hook(a: Array, function: Callable) -> None:
    a.hooks.append(function)


OPS: dict[str, Op] = {
    "add": Op("add", _elementwise(lambda x, y: x + y)),
    "sub": Op("sub", _elementwise(lambda x, y: x - y)),
    "mul": Op("mul", _elementwise(lambda x, y: x * y)),
    "less": Op("less", _elementwise(lambda x, y: float(x < y))),
    "neg": Op("neg", lambda a: _new([-x for x in a.numbers()])),
    "total": Op("total", lambda a: _new([sum(a.numbers())])),
    "join": Op("join", lambda a, b: _new(a.numbers() + b.numbers())),
    "add_": Op("add_", _inplace(lambda x, y: x + y), inplace=True),
    "mul_": Op("mul_", _inplace(lambda x, y: x * y), inplace=True),
    "index": Op("index", _index),
    "store": Op("store", _store, inplace=True),
    "root": Op("root", _checked_root),
    "noise": Op("noise", _noise),
    "as_is": Op("as_is", _as_is),
    "value": Op("value", lambda a: a.numbers()[0]),
    "hook": Op("hook", _hook, inplace=True),
}

for _name, _op in OPS.items():
    setattr(Array, _name, _op)

_SPECIAL = {
    "__add__": "add",
    "__sub__": "sub",
    "__mul__": "mul",
    "__lt__": "less",
    "__neg__": "neg",
    "__iadd__": "add_",
    "__imul__": "mul_",
    "__getitem__": "index",
    "__setitem__": "store",
}
for _slot, _name in _SPECIAL.items():
    setattr(Array, _slot, (lambda op: lambda self, *args: op(self, *args))(OPS[_name]))
Array.__radd__ = lambda self, other: OPS["add"](other, self)
Array.__rmul__ = lambda self, other: OPS["mul"](other, self)
Array.__rsub__ = lambda self, other: OPS["sub"](other, self)
Array.__bool__ = lambda self: bool(self.numbers()[0])
Array.__len__ = lambda self: self.size
