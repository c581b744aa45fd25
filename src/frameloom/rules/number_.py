"""Numbers: the constructors and built-in functions that ask an object for a number."""

from __future__ import annotations

import sys
from typing import Any, Callable

from frameloom.interpreter.attributes import reads
from frameloom.interpreter.expressions import computes
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import (
    _call_slot,
    _is_not_implemented,
    binary,
    host,
    index,
    is_graph,
    is_host,
    require_int,
    truth,
    unary,
)
from frameloom.interpreter.promoted import within
from frameloom.rules.atoms import folded
from frameloom.rules.define import function
from frameloom.rules.indexing import has_index, index_of
from frameloom.rules.known import plain
from frameloom.rules.payloads import constructs
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.layouts.payload import PayloadBody
from frameloom.symbolic.real import is_subtype, type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, Const, Node, Obj, Value


def of_domain(m: Machine, name: str, value: Value, kind: str) -> Value:
    """What the domain makes of a conversion of one of its nodes, or a break."""
    found = m.domain.operator(m.session, name, [value])
    if found is NOT_HANDLED:
        raise GraphBreak(kind, f"{name}() of a {value.cls.__name__}")
    return found


def known(m: Machine, value: Value) -> Any:
    """The value of a number on the host tape, guarded, or a break."""
    return m.need_constant(value, "FL207", "number known at run time only")


def is_payload(value: Value) -> bool:
    return type(value) is Obj and isinstance(value.body, PayloadBody)


# -- int, float, complex, bool ---------------------------------------------------------------------------------------


@function(int)
def make_int(m: Machine, value: Value | None = None, /, base: Value | None = None) -> Value:
    if value is None:
        return Const(0) if base is None else NotImplemented
    if base is None:
        return to_number(m, int, value, ("__int__", "__index__", "__trunc__"))
    if plain(m, value) is MISSING:
        return folded(m, int, value, base)
    found = plain(m, value)
    if isinstance(found, (str, bytes)):
        require_few_digits(found)
    return m.fold(int, found, index_of(m, base))


@function(float)
def make_float(m: Machine, value: Value | None = None, /) -> Value:
    return Const(0.0) if value is None else to_number(m, float, value, ("__float__", "__index__"))


@function(complex)
def make_complex(m: Machine, real: Value | None = None, imag: Value | None = None) -> Value:
    if real is None and imag is None:
        return Const(0j)
    if imag is None and type(real) is not Const:
        return to_number(m, complex, real, ("__complex__", "__float__", "__index__"))
    parts = [Const(0) if part is None else part for part in (real, imag)]
    return folded(m, complex, *parts[: 1 if imag is None else 2])


@function(bool)
def make_bool(m: Machine, value: Value = Const(False), /) -> Value:
    return truth(m, value)


def require_few_digits(text: str | bytes) -> None:
    """Break at a number so long that the limit on digits, which any code may change, perhaps forbids to read it."""
    if len(text) > sys.int_info.str_digits_check_threshold:
        raise GraphBreak("FL111", "the limit on the digits of numbers in text is asked")


def to_number(m: Machine, cls: type, value: Value, slots: tuple[str, ...]) -> Value:
    """`cls(value)` by the first of the special methods that its class has; text is read by the host."""
    if type(value) is Const:
        if cls is int and value.cls in (str, bytes):
            require_few_digits(value.value)
        return m.fold(cls, value.value)
    if is_graph(value):
        return of_domain(m, cls.__name__, value, "FL202")
    if is_host(value):
        if value.cls is cls:
            return value
        return host(m, cls, [value]) if cls is not complex and within(m, value) else m.fold(cls, known(m, value))
    for name in slots:
        slot = m.observe.type_lookup(value.cls, name)
        if slot is not ABSENT:
            return _converted(m, cls, name, value.cls, _call_slot(m, slot, value, []))
    if is_payload(value):
        return m.fold(cls, value.body.value.value)
    raise m.error(TypeError, _refusal(cls, value))


def _converted(m: Machine, cls: type, name: str, receiver: type, made: Value) -> Value:
    """The result of a special method as an exact instance of `cls`."""
    if name == "__index__":
        require_int(m, made)
    wanted = GIVES.get(name)
    if wanted is not None and not is_subtype(made.cls, wanted):
        owner = f"{receiver.__name__}." if wanted is float else ""
        raise m.error(TypeError, f"{owner}{name} returned non-{wanted.__name__} (type {type_name(made.cls)})")
    if made.cls is not (wanted or int):
        raise GraphBreak("FL102", f"{name} gives a {made.cls.__name__}")
    if made.cls is cls:
        return made
    return m.fold(cls, m.need_constant(made, "FL207", "number known at run time only"))


GIVES = {"__int__": int, "__index__": int, "__float__": float, "__complex__": complex}
"""method -> the class of what it must give; what `__trunc__` gives is converted in turn where it is no int"""


def _refusal(cls: type, value: Value) -> str:
    name = type_name(value.cls)
    if cls is int:
        return f"int() argument must be a string, a bytes-like object or a real number, not '{name}'"
    if cls is float:
        return f"float() argument must be a string or a real number, not '{name}'"
    return f"complex() first argument must be a string or a number, not '{name}'"


computes({int: "int", float: "float"})

for _cls, _make in ((int, make_int), (float, make_float), (complex, make_complex)):
    constructs(_cls, _make)


# -- parts -----------------------------------------------------------------------------------------------------------


def _part(descriptor: Any) -> None:
    @reads(descriptor)
    def read(m: Machine, obj: Value) -> Value:
        if is_host(obj) and obj.cls is int and descriptor.__name__ in ("real", "numerator"):
            return obj
        found = plain(m, obj)
        if found is MISSING:
            raise GraphBreak("FL207", f"{descriptor.__name__} of a number known at run time only")
        return m.fold(descriptor.__get__, found)


for _cls, _names in ((int, ("real", "imag", "numerator", "denominator")), (float, ("real", "imag")), (complex, ("real", "imag"))):
    for _name in _names:
        _part(_cls.__dict__[_name])


# -- functions of numbers --------------------------------------------------------------------------------------------


@function(abs)
def absolute(m: Machine, value: Value, /) -> Value:
    return unary(m, "abs", value)


@function(round)
def rounded(m: Machine, number: Value, ndigits: Value | None = None) -> Value:
    if is_host(number) and number.cls is int and ndigits is None:
        return number
    digits = [] if ndigits is None else [ndigits]
    if is_host(number):
        if number.cls is float and within(m, number, MOST_ROUNDED) and all(_rounds_finely(part) for part in digits):
            return host(m, round, [number, *digits])
        number = m.settle(number)
    if type(number) is Const and all(type(part) is Const for part in digits):
        return m.fold(round, number.value, *(part.value for part in digits))
    if is_graph(number):
        found = m.domain.operator(m.session, "round", [number, *digits])
        if found is not NOT_HANDLED:
            return found
    if is_host(number):
        raise GraphBreak("FL207", "round of a number known at run time only")
    slot = m.observe.type_lookup(number.cls, "__round__")
    if slot is ABSENT:
        raise m.error(TypeError, f"type {type_name(number.cls)} doesn't define __round__ method")
    if digits and type(digits[0]) is Const and digits[0].value is None:
        digits = []
    return _call_slot(m, slot, number, digits)


MOST_ROUNDED = 1e300
"""Floats up to here are rounded without ado."""


def _rounds_finely(digits: Value) -> bool:
    """Whether to round to so many digits gives a float for every one that is not huge."""
    return type(digits) is Const and type(digits.value) is int and 0 <= digits.value <= 20


computes({round: "round"})


@function(divmod)
def divided(m: Machine, a: Value, b: Value, /) -> Value:
    if type(a) is Const and type(b) is Const:
        return m.fold(divmod, a.value, b.value)
    if (type(a) is Node or type(b) is Node) and all(value.cls in (int, float, bool) for value in (a, b)):
        return m.tuple([binary(m, "//", a, b), binary(m, "%", a, b)])
    tries = [(a, "__divmod__", b), (b, "__rdivmod__", a)]
    if b.cls is not a.cls and m.observe.is_subtype(b.cls, a.cls):
        tries.reverse()
    for receiver, name, other in tries:
        slot = m.observe.type_lookup(receiver.cls, name)
        if slot is not ABSENT and (receiver is a or b.cls is not a.cls):
            made = _call_slot(m, slot, receiver, [other])
            if not _is_not_implemented(made):
                return made
    raise m.error(TypeError, f"unsupported operand type(s) for divmod(): '{type_name(a.cls)}' and '{type_name(b.cls)}'")


@function(pow)
def power(m: Machine, base: Value, exp: Value, mod: Value = NONE) -> Value:
    if type(mod) is Const and mod.value is None:
        return binary(m, "**", base, exp)
    known = [plain(m, value) for value in (base, exp, mod)]
    if any(value is MISSING for value in known) or any(is_payload(value) for value in (base, exp, mod)):
        raise GraphBreak("FL101", "pow() with three arguments that are no plain numbers")
    return m.fold(pow, *known)


def _of_index(target: Callable) -> None:
    """bin, hex, oct: they take whatever has an `__index__`."""

    @function(target)
    def text(m: Machine, number: Value, /) -> Value:
        if not has_index(m, number):
            return m.fold(target, number.value) if type(number) is Const else _no_index(m, number)
        return m.fold(target, index_of(m, number))


def _no_index(m: Machine, value: Value) -> Value:
    return index(m, value)


for _target in (bin, hex, oct):
    _of_index(_target)


@function(chr)
def character(m: Machine, number: Value, /) -> Value:
    return m.fold(chr, index_of(m, number))


@function(ord)
def code_point(m: Machine, text: Value, /) -> Value:
    found = plain(m, text)
    if found is MISSING:
        if is_graph(text) or is_host(text) or issubclass(text.cls, (str, bytes, bytearray)):
            raise GraphBreak("FL205", "text known at run time only")
        raise m.error(TypeError, f"ord() expected string of length 1, but {type_name(text.cls)} found")
    return m.fold(ord, found)
