"""The three kinds of symbolic value: `Const`, `Node` and `Obj`.

A trace runs bytecode on these instead of on real objects.  What a value *knows* lives in its parts (see `layouts/`);
what it *is* never changes during a trace.
"""

from __future__ import annotations

from typing import Any


class Value:
    """Base of everything the interpreter may put on its stack."""

    __slots__ = ()


class Const(Value):
    """A value known exactly: an immutable atom, or an immutable object known by identity (a built-in function, a dtype).

    `source`: where a program's own atom was found, if equal ones may be other objects; what leaves the trace is read from there.
    """

    __slots__ = ("value", "source")

    def __init__(self, value: Any, source: Any = None) -> None:
        self.value = value
        self.source = source

    @property
    def cls(self) -> type:
        return type(self.value)

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


class Marker(Value):
    """A stack entry that is no object: CPython's NULL, an unbound slot."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<{self.text}>"


class Previous(Value):
    """The marker below a handled exception: the exception that was being handled before (or None)."""

    __slots__ = ("value",)

    def __init__(self, value: Value | None) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"<previous {self.value!r}>"


class Lazy(Value):
    """A real object that the trace can reach and has not looked at.  It never stays on the stack: `observe.resolve` turns it
    into a proper value, which is what leaves the guard."""

    __slots__ = ("real",)

    def __init__(self, real: "Real") -> None:
        self.real = real

    @property
    def source(self):
        return self.real.source

    def __repr__(self) -> str:
        return f"<not looked at {self.real.source}>"


NULL = Marker("NULL")
UNBOUND = Marker("unbound")
ABSENT = Marker("absent")
NONE = Const(None)
TRUE = Const(True)
FALSE = Const(False)
NOT_IMPLEMENTED = Const(NotImplemented)


def boolean(value: bool) -> Const:
    """The constant for a truth value."""
    return TRUE if value else FALSE


class Real:
    """A real object and the path by which the compiled code finds it again.

    Only the observing rooms may touch `object` (law 2: to look is to guard).
    """

    __slots__ = ("object", "source")

    def __init__(self, object: Any, source: Any) -> None:
        self.object = object
        self.source = source

    def __repr__(self) -> str:
        return f"Real({self.source})"


class Node(Value):
    """The result of an operation that runs later.

    `tape` is "graph" (an operation of the domain) or "host" (a Python operation that the entry executes in bytecode).
    An input has the target `INPUT` and a `real`.  `fact` is the domain's immutable knowledge about the result; an in-place
    operation gives the same node a new fact (journalled by the session).
    """

    __slots__ = ("tape", "target", "args", "kwargs", "cls", "fact", "where", "real", "attributes", "number")

    def __init__(self, tape, target, args, kwargs, cls, fact, where, real=None) -> None:
        self.tape = tape
        self.target = target
        self.args = args
        self.kwargs = kwargs
        self.cls = cls
        self.fact = fact
        self.where = where
        self.real = real
        self.attributes = None
        self.number = -1

    @property
    def source(self):
        return self.real.source if self.real is not None else None

    def __repr__(self) -> str:
        return f"%{self.number}:{self.cls.__name__}"


class Input:
    """The target of input nodes."""

    def __repr__(self) -> str:
        return "input"


INPUT = Input()


class Obj(Value):
    """An object on the symbolic heap: one that exists (`real`) or one the trace made (`real is None`, fresh).

    `cls` is its real class.  `attributes` is the part behind `__dict__` (a `layouts.attributes.Attributes` or None until
    needed), `slots` the part behind member descriptors, `body` the storage of its C base (a list's items, a cell's contents).
    """

    __slots__ = ("cls", "real", "attributes", "slots", "body", "where", "__weakref__")

    def __init__(self, cls: type, real: Real | None = None, body: Any = None, where: Any = None) -> None:
        self.cls = cls
        self.real = real
        self.attributes = None
        self.slots = None
        self.body = body
        self.where = where

    @property
    def source(self):
        return self.real.source if self.real is not None else None

    def __repr__(self) -> str:
        kind = self.real.source if self.real is not None else f"fresh {id(self) & 0xFFFF:04x}"
        return f"Obj({self.cls.__name__}, {kind})"
