"""Structural pattern matching (PEP 634)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.formatting import convert
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import opcode
from frameloom.interpreter.stores import dict_get, dict_set
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.real import flags_of, type_name
from frameloom.symbolic.signals import SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, Const, Value, boolean

MAPPING_FLAG, SEQUENCE_FLAG, MATCH_SELF_FLAG = 1 << 6, 1 << 5, 1 << 22


@opcode("MATCH_MAPPING")
def match_mapping(frame: Frame, arg: Any) -> None:
    frame.stack.append(boolean(bool(frame.session.observe.flags(frame.stack[-1].cls, MAPPING_FLAG))))


@opcode("MATCH_SEQUENCE")
def match_sequence(frame: Frame, arg: Any) -> None:
    frame.stack.append(boolean(bool(frame.session.observe.flags(frame.stack[-1].cls, SEQUENCE_FLAG))))


@opcode("MATCH_KEYS")
def match_keys(frame: Frame, arg: Any) -> None:
    m = frame.session.machine
    subject, keys = frame.stack[-2], frame.stack[-1]
    frame.stack.append(_match_keys(m, subject, tuple_.items(m.session, keys.body)))


def _match_keys(m: Machine, subject: Value, keys: list[Value]) -> Value:
    """The values under all keys as a tuple, or None where one is missing."""
    found: list[Value] = []
    if not keys:
        return m.tuple(found)
    seen = m.dict()
    look_up = _reader(m, subject)
    for key in keys:
        if dict_get(m, seen, key) is not ABSENT:
            shown = m.need_constant(convert(m, "repr", key), "FL205", "text known at run time only")
            raise m.error(ValueError, f"mapping pattern checks duplicate key ({shown})")
        dict_set(m, seen, key, NONE)
        value = look_up(key)
        if value is ABSENT:
            return NONE
        found.append(value)
    return m.tuple(found)


def _reader(m: Machine, subject: Value) -> Callable[[Value], Value]:
    """How a pattern reads a mapping: by `get`, with a default of its own."""
    if subject.cls is dict:
        return lambda key: dict_get(m, subject, key)
    get, missing = get_attribute(m, subject, "get"), m.session.alloc(object)

    def read(key: Value) -> Value:
        value = m.invoke(get, [key, missing], {})
        return ABSENT if value is missing else value

    return read


@opcode("MATCH_CLASS")
def match_class(frame: Frame, count: int) -> None:
    m = frame.session.machine
    subject, cls_value, names = frame.stack[-3:]
    frame.stack[-3:] = [_match_class(m, subject, cls_value, tuple_.items(m.session, names.body), count)]


def _match_class(m: Machine, subject: Value, cls_value: Value, names: list[Value], count: int) -> Value:
    if not issubclass(cls_value.cls, type):
        raise m.error(TypeError, "called match pattern must be a class")
    from frameloom.interpreter.classes import is_instance

    if not is_instance(m, subject, cls_value):
        return NONE
    cls = m.observe.known_class(cls_value)
    found: list[Value] = []
    if count:
        positional = _positional(m, subject, cls, cls_value, count)
        if positional is None:
            found.append(subject)
        else:
            names = [*positional, *names]
    seen: set[str] = set()
    for name in names:
        if name.value in seen:
            raise m.error(TypeError, f"{type_name(cls)}() got multiple sub-patterns for attribute {name.value!r}")
        seen.add(name.value)
        try:
            found.append(get_attribute(m, subject, name.value))
        except SymbolicRaise as signal:
            if issubclass(signal.value.cls, AttributeError):
                return NONE
            raise
    return m.tuple(found)


def _positional(m: Machine, subject: Value, cls: type, cls_value: Value, count: int) -> list[Value] | None:
    """The attribute names of positional patterns, or None where the class matches the subject itself."""
    try:
        declared = get_attribute(m, cls_value, "__match_args__")
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        if flags_of(cls) & MATCH_SELF_FLAG:
            if count > 1:
                raise m.error(TypeError, f"{type_name(cls)}() accepts 1 positional sub-pattern ({count} given)") from None
            return None
        declared = m.tuple([])
    if declared.cls is not tuple:
        raise m.error(TypeError, f"{type_name(cls)}.__match_args__ must be a tuple (got {type_name(declared.cls)})")
    names = tuple_.items(m.session, declared.body)
    if count > len(names):
        raise m.error(
            TypeError,
            f"{type_name(cls)}() accepts {len(names)} positional sub-pattern{'s' * (len(names) != 1)} ({count} given)",
        )
    for name in names[:count]:
        if not (type(name) is Const and name.cls is str):
            raise m.error(TypeError, f"__match_args__ elements must be strings (got {type_name(name.cls)})")
    return names[:count]
