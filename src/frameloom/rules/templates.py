"""Format strings: `str.format` (PEP 3101) and `%`, where a value formats itself by code of the program."""

from __future__ import annotations

import re
import string
from typing import Any, Callable

from _string import formatter_field_name_split

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.formatting import concatenate, convert, format_
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import get_item, index
from frameloom.rules.known import plain, whole
from frameloom.rules.number_ import make_float, make_int
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Node, Value

CONVERSIONS = {"s": "str", "r": "repr", "a": "ascii"}

# -- str.format ------------------------------------------------------------------------------------------------------


class Fields:
    """The state of one `str.format`: positional values (None for format_map), named values, and how fields are numbered."""

    __slots__ = ("m", "args", "named", "numbered", "manual")

    def __init__(self, m: Machine, args: list[Value] | None, named: Callable[[str], Value]) -> None:
        self.m = m
        self.args = args
        self.named = named
        self.numbered = 0
        self.manual: bool | None = None

    def expand(self, text: str, depth: int) -> Value:
        """The text with its replacement fields replaced."""
        m = self.m
        if depth == 0:
            raise m.error(ValueError, "Max string recursion exceeded")
        parts: list[Value] = []
        parsed = string.Formatter().parse(text)
        while True:
            try:
                literal, field, spec, conversion = next(parsed)
            except StopIteration:
                return concatenate(m, parts)
            except ValueError as error:
                raise m.error(ValueError, *error.args) from None
            parts.append(Const(literal))
            if field is not None:
                parts.append(self.replacement(field, spec or "", conversion, depth))

    def replacement(self, field: str, spec: str, conversion: str | None, depth: int) -> Value:
        m = self.m
        value = self.look_up(field)
        if conversion:
            if conversion not in CONVERSIONS:
                raise GraphBreak("FL205", f"conversion {conversion!r} of a format string")
            value = convert(m, CONVERSIONS[conversion], value)
        return format_(m, value, self.expand(spec, depth - 1) if "{" in spec or "}" in spec else Const(spec))

    def look_up(self, field: str) -> Value:
        m = self.m
        try:
            first, rest = formatter_field_name_split(field)
            steps = list(rest)
        except ValueError as error:
            raise m.error(ValueError, *error.args) from None
        value = self.first_of(first)
        for is_attribute, name in steps:
            value = get_attribute(m, value, name) if is_attribute else get_item(m, value, Const(name))
        return value

    def first_of(self, first: int | str) -> Value:
        if first == "" or type(first) is int:
            return self.positional(first)
        return self.named(first)

    def positional(self, first: int | str) -> Value:
        m = self.m
        manual = first != ""
        if self.manual is not None and self.manual is not manual:
            names = ("manual field specification", "automatic field numbering")
            before, now = names if manual is False else (names[1], names[0])
            raise m.error(ValueError, f"cannot switch from {before} to {now}")
        self.manual = manual
        at = first
        if not manual:
            at, self.numbered = self.numbered, self.numbered + 1
        if self.args is None:
            raise m.error(ValueError, "Format string contains positional fields")
        if at >= len(self.args):
            raise m.error(IndexError, f"Replacement index {at} out of range for positional args tuple")
        return self.args[at]


def fields_of(m: Machine, text: str, args: list[Value] | None, named: Callable[[str], Value]) -> Value:
    """`text.format(*args)`, names looked up by `named`."""
    return Fields(m, args, named).expand(text, 2)


# -- % ---------------------------------------------------------------------------------------------------------------

DIRECTIVE = re.compile(r"%(?:\((?P<key>(?:[^()]|\([^()]*\))*)\))?(?P<flags>[-+ #0]*)(?P<width>\*|\d*)"
                       r"(?:\.(?P<precision>\*|\d*))?[hlL]?(?P<kind>.)", re.DOTALL)


NUMBERS = {
    **dict.fromkeys("diu", (make_int, ("__int__", "__index__"))),
    **dict.fromkeys("xXoc", (index, ("__index__",))),
    **dict.fromkeys("eEfFgG", (make_float, ("__float__", "__index__"))),
}
"""kind of directive -> how it takes a number, and the methods it asks for"""


class Percent:
    """The state of one `text % values`."""

    __slots__ = ("m", "mapping", "args", "at")

    def __init__(self, m: Machine, values: Value) -> None:
        self.m = m
        self.args = tuple_.items(m.session, values.body) if issubclass(values.cls, tuple) else [values]
        self.at = 0
        self.mapping = values if not issubclass(values.cls, (tuple, str)) and is_mapping(m, values) else None

    def following(self) -> Value:
        if self.at >= len(self.args):
            raise self.m.error(TypeError, "not enough arguments for format string")
        self.at += 1
        return self.args[self.at - 1]

    def directive(self, found: re.Match) -> Value:
        m = self.m
        key, kind = found["key"], found["kind"]
        if kind == "%":
            return Const("%")
        value = None
        if key is not None:
            if self.mapping is None:
                raise m.error(TypeError, "format requires a mapping")
            value = get_item(m, self.mapping, Const(key))
            self.args, self.at = [value], 1
        layout = f"%{found['flags']}{self.number(found['width'])}"
        if found["precision"] is not None:
            layout += f".{self.number(found['precision'])}"
        return self.formatted(layout, kind, self.following() if value is None else value)

    def number(self, given: str) -> str:
        if given != "*":
            return given
        return str(self.m.need_constant(self.following(), "FL207", "width known at run time only"))

    def formatted(self, layout: str, kind: str, value: Value) -> Value:
        m = self.m
        if kind in CONVERSIONS:
            made = convert(m, CONVERSIONS[kind], value)
            text = plain(m, made)
            if text is MISSING:
                raise GraphBreak("FL205", "text known at run time only")
            return m.fold(str.__mod__, f"{layout}s", (text,))
        found = plain(m, value)
        if found is MISSING:
            found = self.number_of(kind, value)
        return m.fold(str.__mod__, layout + kind, (found,))

    def number_of(self, kind: str, value: Value) -> Any:
        """The number of an object that has a method for it; one that has none is stood for by an object of the same class name,
        so that the message is CPython's."""
        m = self.m
        if type(value) is Node:
            raise GraphBreak("FL205", f"%{kind} of a {value.cls.__name__}")
        make, slots = NUMBERS.get(kind, (index, ()))
        if all(m.observe.type_lookup(value.cls, name) is ABSENT for name in slots):
            return type(type_name(value.cls), (), {})()
        return m.need_constant(make(m, value), "FL207", "number known at run time only")


def is_mapping(m: Machine, value: Value) -> bool:
    """Whether `%` takes a value for a mapping: it has subscripts, and is no tuple or string."""
    return m.observe.type_lookup(value.cls, "__getitem__") is not ABSENT


def percent(m: Machine, text: str, values: Value) -> Value:
    """`text % values`."""
    known = whole(m, values)
    if known is not MISSING:
        return m.fold(str.__mod__, text, known)
    state = Percent(m, values)
    parts: list[Value] = []
    end = 0
    while (start := text.find("%", end)) >= 0:
        parts.append(Const(text[end:start]))
        found = DIRECTIVE.match(text, start)
        if found is None:
            raise m.error(ValueError, "incomplete format")
        parts.append(state.directive(found))
        end = found.end()
    parts.append(Const(text[end:]))
    if state.at < len(state.args) and state.mapping is None:
        raise m.error(TypeError, "not all arguments converted during string formatting")
    return concatenate(m, parts)
