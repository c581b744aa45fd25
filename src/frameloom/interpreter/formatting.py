"""str, repr, ascii and format of symbolic values."""

from __future__ import annotations

from frameloom.interpreter.frame import Link
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import _call_slot, is_graph, is_host
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.layouts.payload import PayloadBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Obj, Value

CONVERSIONS = {"str": (str, "__str__"), "repr": (repr, "__repr__"), "ascii": (ascii, "__repr__")}


def convert(m: Machine, conversion: str, value: Value, link: Link | None = None) -> Value:
    """`str(value)`, `repr(value)` or `ascii(value)`."""
    function, slot_name = CONVERSIONS[conversion]
    if type(value) is Const and value.cls in ATOMS:
        require_short(value.value)
        return m.fold(function, value.value)
    if is_graph(value) or is_host(value):
        found = m.domain.operator(m.session, conversion, [value]) if is_graph(value) else NOT_HANDLED
        if found is not NOT_HANDLED:
            return found
        known = m.need_constant(value, "FL205", f"{conversion}() of a {value.cls.__name__}")
        require_short(known)
        return Const(function(known))
    slot = m.observe.type_lookup(value.cls, slot_name)
    if type(slot) is Const and slot.value is object.__str__:
        if slot_name == "__repr__":
            raise GraphBreak("FL006", f"the __repr__ of {value.cls.__qualname__} asks for itself")
        return convert(m, "repr", value, link)
    text = _call_slot(m, slot, value, [], link and conversion != "ascii" and link.of(slot_name.strip("_")) or None)
    if not issubclass(text.cls, str):
        raise m.error(TypeError, f"{slot_name} returned non-string (type {type_name(text.cls)})")
    return m.fold(ascii_text, text.value) if conversion == "ascii" and type(text) is Const else text


FEWEST_BITS = 2126
"""So long a number may have more digits than the lowest limit that a program can set (sys.int_info.str_digits_check_threshold)."""


def require_short(number: object) -> None:
    """Break at a number whose text the limit on digits, which any code may change, perhaps forbids."""
    if isinstance(number, int) and number.bit_length() > FEWEST_BITS:
        raise GraphBreak("FL111", "the limit on the digits of numbers in text is asked")


def ascii_text(text: str) -> str:
    """A representation with everything outside ASCII escaped."""
    return text.encode("ascii", "backslashreplace").decode("ascii")


def format_(m: Machine, value: Value, spec: Value, link: Link | None = None) -> Value:
    """`format(value, spec)`."""
    if type(value) is Const and type(spec) is Const and value.cls in ATOMS:
        require_short(value.value)
        return m.fold(format, value.value, spec.value)
    if is_graph(value) or is_host(value):
        return format_(m, Const(m.need_constant(value, "FL205", f"format() of a {value.cls.__name__}")), spec)
    slot = m.observe.type_lookup(value.cls, "__format__")
    if slot is ABSENT:
        raise m.error(TypeError, f"unsupported format string passed to {type_name(value.cls)}.__format__")
    if type(slot) is Const and slot.value is object.__format__:
        if type(spec) is Const and spec.value != "":
            raise m.error(TypeError, f"unsupported format string passed to {type_name(value.cls)}.__format__")
        return convert(m, "str", value, link)
    if type(slot) is Const and slot.value in FORMATS_OF_ATOMS and type(spec) is Const and spec.value == "":
        return convert(m, "str", value, link)  # of an instance of a subclass, which may have a __str__ of its own
    text = _call_slot(m, slot, value, [spec], link and link.of("format"))
    if not issubclass(text.cls, str):
        raise m.error(TypeError, f"__format__ must return a str, not {type_name(text.cls)}")
    return text


FORMATS_OF_ATOMS = (int.__format__, float.__format__, complex.__format__, str.__format__)


def concatenate(m: Machine, parts: list[Value]) -> Value:
    """The concatenation of strings."""
    found = [part.body.value if type(part) is Obj and isinstance(part.body, PayloadBody) else part for part in parts]
    if all(type(part) is Const for part in found):
        return Const("".join(part.value for part in found))
    raise GraphBreak("FL205", "text made of a value known at run time only")


def text_of(m: Machine, value: Value) -> str:
    """The plain text of `str(value)`, or a break where it is not known."""
    made = convert(m, "str", value)
    if type(made) is Obj:
        return made.body.value.value
    return m.need_constant(made, "FL205", "text known at run time only")
