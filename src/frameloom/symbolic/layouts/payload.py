"""Instances of subclasses of int, float, complex, str and bytes: an exact payload beside attributes."""

from __future__ import annotations

from typing import Any

from frameloom.symbolic.layouts.base import Layout, register, storage_base
from frameloom.symbolic.literals import literal
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Obj


class PayloadBody:
    """`value`: the plain atom."""

    __slots__ = ("value",)

    def __init__(self, value: Const) -> None:
        self.value = value


class RunTimeBody(PayloadBody):
    """An int that only running code knows, because it tells about one object (`id`) or one thread: `function(*operands)`.

    It may be compared with its like, be a key, and leave the trace; whoever asks for the number breaks.
    """

    __slots__ = ("function", "operands")

    def __init__(self, function: Any, operands: tuple = ()) -> None:
        self.function = function
        self.operands = operands

    @property
    def value(self) -> Const:
        raise GraphBreak("FL501", f"{self.function.__name__}() used as a number")


PAYLOADS = (int, float, complex, str, bytes)


def payload_holds(found: Any, plain: Any) -> bool:
    """Whether an instance of a payload subclass holds just this plain value."""
    from frameloom.symbolic.guards import same_constant

    return same_constant(plain_of(found), plain)


def plain_of(found: Any) -> Any:
    """The plain atom inside an instance of a payload subclass, read past the subclass's methods."""
    base = storage_base(type(found))
    return _PLAIN[base](found)


_PLAIN = {
    int: lambda v: int.__index__(v) + 0,
    float: float.__float__,
    complex: lambda v: complex(complex.__getattribute__(v, "real"), complex.__getattribute__(v, "imag")),
    str: str.__str__,
    bytes: lambda v: bytes.__getitem__(v, slice(None)),
}


@register(*PAYLOADS)
class PayloadLayout(Layout):
    """Subclasses of the atoms' classes."""

    def look(self, obj: Obj, session: Any) -> PayloadBody:
        real = obj.real
        plain = plain_of(real.object)
        session.guard("CALL", real.source, (payload_holds, plain, f"{{}} holds {literal(plain)}"))
        return PayloadBody(Const(plain))

    def children(self, obj: Obj) -> list:
        return self.needs_first(obj)

    def needs_first(self, obj: Obj) -> list:
        return list(obj.body.operands) if type(obj.body) is RunTimeBody else []

    def create(self, obj: Obj, build: Any) -> None:
        if type(obj.body) is RunTimeBody:
            build.call_values(obj.body.function, obj.body.operands)
            return
        base = storage_base(obj.cls)
        build.call_constant(base.__new__, build.constant(obj.cls), build.constant(obj.body.value.value))
