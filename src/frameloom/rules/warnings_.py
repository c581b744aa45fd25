"""warnings.warn: an ordered effect, told from where the program calls it."""

from __future__ import annotations

import re
import sys
import warnings
from typing import Any

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse
from frameloom.rules.callers import caller
from frameloom.rules.define import function
from frameloom.rules.print_ import writes_in_c
from frameloom.symbolic.real import stands_on, type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Value

WRITERS = {"showwarning": warnings.showwarning, "_showwarnmsg_impl": warnings._showwarnmsg_impl, "_showwarnmsg": warnings._showwarnmsg}
"""The functions that show a warning, as the library defines them."""


@function(warnings.warn)
def warn(
    m: Machine,
    message: Value,
    category: Value = NONE,
    stacklevel: Value = Const(1),
    source: Value = NONE,
    **kwargs: Value,
) -> Value:
    if kwargs or not _is_none(source):
        raise GraphBreak("FL105", "warnings.warn with details")
    level = m.need_constant(stacklevel, "FL207", "stack level known at run time only")
    kind = _category(m, message, category)
    place = caller(m, max(level, 1), _is_import if level > 1 else _is_nothing)
    if type(message) is not Const or message.cls is not str:
        raise GraphBreak("FL105", f"a warning made of a {message.cls.__qualname__}")
    _require_library(m)
    module = place.globals.get("__name__") or "<string>"
    payload = (message.value, kind, module, place.line)
    if is_error(warnings, payload):
        raise GraphBreak("FL105", "a warning that is an error")
    check = (is_no_error, payload, f"{{}}: no filter makes {kind.__name__} an error")
    m.session.guard("CALL", m.session.sources.const(warnings), check)
    details = [Const(part) for part in (place.filename, place.line, module, place.globals)]
    m.session.effect("call", Const(warn_from), [message, m.observe.constant(kind), *details], ())
    return NONE


def _is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None


def _is_import(filename: str) -> bool:
    return "importlib" in filename and "_bootstrap" in filename


def _is_nothing(filename: str) -> bool:
    return False


def _category(m: Machine, message: Value, category: Value) -> type:
    """The class of the warning, whose making and text must be C code's affair."""
    kind: Any = UserWarning if _is_none(category) else m.observe.known(category)
    if not stands_on(kind, type) or not m.observe.is_subtype(kind, Warning):
        name = type_name(kind) if stands_on(kind, type) else type_name(category.cls)
        raise m.error(TypeError, f"category must be a Warning subclass, not '{name}'")
    for name in ("__init__", "__new__", "__str__"):
        found = m.observe.peek_type(kind, name)
        if hasattr(found, "__code__") or isinstance(found, staticmethod):
            raise GraphBreak("FL105", f"{kind.__qualname__} is made by code of its own")
    return kind


def _require_library(m: Machine) -> None:
    """The functions that show warnings are the library's own, and so is the stream that they write to."""
    module = m.observe.constant(warnings)
    for name, standard in WRITERS.items():
        if m.observe.known(get_attribute(m, module, name)) is not standard:
            raise GraphBreak("FL105", f"warnings.{name} of the program's own")
    stream = get_attribute(m, m.observe.constant(sys), "stderr")
    if not writes_in_c(stream.cls, m.observe.peek_type):
        raise GraphBreak("FL105", f"a warning written to a {stream.cls.__qualname__}")


def is_error(module: Any, payload: tuple) -> bool:
    """Whether the filters make an error of a warning."""
    text, category, name, line = payload
    for action, message, kind, where, at in module.filters:
        matches = (message is None or _matches(message, text)) and issubclass(category, kind)
        if matches and (where is None or _matches(where, name)) and at in (0, line):
            return action == "error"
    return module.defaultaction == "error"


def _matches(pattern: Any, text: str) -> bool:
    return re.match(pattern, text) is not None if isinstance(pattern, str) else pattern.match(text) is not None


def is_no_error(module: Any, payload: tuple) -> bool:
    """Whether the filters still let a warning pass without making it an error."""
    return not is_error(module, payload)


def warn_from(message: Any, category: type, filename: str, line: int, module: str, space: dict) -> None:
    """Warn as if from a place of the program; called by compiled code."""
    registry = space.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, filename, line, module, registry)


refuse("FL105", "a warning with a place of its own", warnings.warn_explicit)
if hasattr(warnings, "_filters_mutated"):
    refuse("FL508", "the filters of warnings are changed", warnings._filters_mutated)
