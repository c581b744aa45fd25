"""Exceptions: construction and what they tell about themselves."""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any

from frameloom.interpreter import calls
from frameloom.interpreter.attributes import (
    attributes_of,
    get_attribute,
    instance_dictionary,
    part_of,
    reads,
    set_attribute,
    writes,
)
from frameloom.interpreter.formatting import convert
from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.exceptions import Traceback, stand_in
from frameloom.interpreter.registry import RULES, refuse
from frameloom.rules.define import function, methods
from frameloom.symbolic.layouts import dict_, exception as parts, list_, tuple_
from frameloom.symbolic.layouts.exception import ExceptionBody
from frameloom.symbolic.observe import namespace_of
from frameloom.symbolic.real import flags_of, stands_on, type_name
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, TRUE, Const, Obj, Value

BASE = BaseException.__dict__
FROM_C = tuple(
    found
    for found in vars(builtins).values()
    if stands_on(found, type) and issubclass(found, BaseException) and not flags_of(found) & (1 << 9)
)
REFUSED_CLASSES = (OSError, SyntaxError, UnicodeEncodeError, UnicodeDecodeError, UnicodeTranslateError)
"""Their constructors compute parts from arguments, or choose another class."""


def _is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None


def _is_refused(cls: type) -> bool:
    return issubclass(cls, REFUSED_CLASSES)


# -- making ----------------------------------------------------------------------------------------------------------


def new(m: Machine, cls: Value, /, *args: Value, **kwargs: Value) -> Value:
    """`__new__` of a C exception class: keeps the positional arguments; keywords are for `__init__`."""
    known = m.observe.known_class(cls)
    if _is_refused(known):
        raise GraphBreak("FL101", f"{known.__name__} is made")
    return calls.fresh_instance(m, known, ExceptionBody(m.tuple(list(args))))


def init(m: Machine, exception: Value, /, *args: Value, **kwargs: Value) -> Value:
    """`BaseException.__init__`."""
    if kwargs:
        raise m.error(TypeError, f"{type_name(exception.cls)}() takes no keyword arguments")
    _set_args(m, exception, list(args))
    return NONE


def _set_args(m: Machine, exception: Value, args: list[Value]) -> None:
    parts.set_part(m.session, exception, "args", m.tuple(args))


def _set_member(m: Machine, exception: Value, cls: type, name: str, value: Value) -> None:
    descriptor = cls.__dict__[name]
    part_of(m, exception, descriptor)
    m.journal.set_item(exception.slots, descriptor, value)
    m.session.operation("slot.set", exception, descriptor, value)


def stop_init(m: Machine, exception: Value, /, *args: Value, **kwargs: Value) -> Value:
    """`StopIteration.__init__`."""
    init(m, exception, *args, **kwargs)
    _set_member(m, exception, StopIteration, "value", args[0] if args else NONE)
    return NONE


def exit_init(m: Machine, exception: Value, /, *args: Value, **kwargs: Value) -> Value:
    """`SystemExit.__init__`."""
    init(m, exception, *args, **kwargs)
    code = NONE if not args else args[0] if len(args) == 1 else parts.part(m.session, exception, "args")
    _set_member(m, exception, SystemExit, "code", code)
    return NONE


def _is_unset(m: Machine, exception: Value, descriptor: Any) -> bool:
    found = part_of(m, exception, descriptor)
    return found is ABSENT or _is_none(found)


def _detailed(cls: type, names: tuple[str, ...]) -> Any:
    """`__init__` of a class that takes details by keyword."""

    def detailed(m: Machine, exception: Value, /, *args: Value, **kwargs: Value) -> Value:
        for name in kwargs:
            if name not in names:
                raise m.error(TypeError, f"{cls.__name__}() got an unexpected keyword argument '{name}'")
        _set_args(m, exception, list(args))
        for name in names:
            value = kwargs.get(name, NONE)
            if not _is_none(value) or not _is_unset(m, exception, cls.__dict__[name]):
                _set_member(m, exception, cls, name, value)
        if cls is ImportError:
            _set_member(m, exception, cls, "msg", args[0] if len(args) == 1 else NONE)
        return NONE

    return detailed


INITS: dict[type, Any] = {
    StopIteration: stop_init,
    SystemExit: exit_init,
    AttributeError: _detailed(AttributeError, ("name", "obj")),
    NameError: _detailed(NameError, ("name",)),
    ImportError: _detailed(ImportError, tuple(n for n in ("name", "path", "name_from") if n in ImportError.__dict__)),
}


def _member(cls: type, name: str) -> None:
    """A detail that is None until somebody sets it."""
    descriptor = cls.__dict__[name]

    @reads(descriptor)
    def read(m: Machine, exception: Value) -> Value:
        found = part_of(m, exception, descriptor)
        return NONE if found is ABSENT else found


DETAILS = {AttributeError: ("name", "obj"), NameError: ("name",), ImportError: ("name", "path", "msg", "name_from")}
for _cls, _names in DETAILS.items():
    for _name in _names:
        if _name in _cls.__dict__:
            _member(_cls, _name)
_member(StopIteration, "value")
_member(SystemExit, "code")


def _init_of(cls: type) -> Any:
    return next((INITS[base] for base in cls.__mro__ if base in INITS), init)


for _cls in FROM_C:
    if _is_refused(_cls):
        continue
    if "__init__" in namespace_of(_cls):
        RULES[namespace_of(_cls)["__init__"]] = _init_of(_cls)
    if "__new__" in namespace_of(_cls):
        RULES[namespace_of(_cls)["__new__"]] = new


# -- parts -----------------------------------------------------------------------------------------------------------


def _part(name: str, field: str) -> None:
    @reads(BASE[name])
    def read(m: Machine, exception: Value) -> Value:
        return parts.part(m.session, exception, field)


for _name, _field in (("__cause__", "cause"), ("__context__", "context"), ("__suppress_context__", "suppress"), ("args", "args")):
    _part(_name, _field)


def _link(name: str, field: str) -> None:
    @writes(BASE[name])
    def write(m: Machine, exception: Value, value: Value) -> None:
        if value is ABSENT:
            raise m.error(TypeError, f"{name} may not be deleted")
        if not _is_none(value) and not issubclass(value.cls, BaseException):
            kind = "cause" if field == "cause" else "context"
            raise m.error(TypeError, f"exception {kind} must be None or derive from BaseException")
        parts.set_part(m.session, exception, field, value)
        if field == "cause":
            parts.set_part(m.session, exception, "suppress", TRUE)


_link("__cause__", "cause")
_link("__context__", "context")


@writes(BASE["__suppress_context__"])
def write_suppress(m: Machine, exception: Value, value: Value) -> None:
    if value.cls is not bool:
        raise m.error(TypeError, "attribute value type must be bool")
    parts.set_part(m.session, exception, "suppress", value)


@writes(BASE["args"])
def write_args(m: Machine, exception: Value, value: Value) -> None:
    if value is ABSENT:
        raise m.error(TypeError, "args may not be deleted")
    _set_args(m, exception, unpack(m, value))


# -- tracebacks ------------------------------------------------------------------------------------------------------


reads(BASE["__traceback__"])(stand_in)


@writes(BASE["__traceback__"])
def write_traceback(m: Machine, exception: Value, value: Value) -> None:
    if value is ABSENT:
        raise m.error(TypeError, "__traceback__ may not be deleted")
    if not _is_none(value) and value.cls is not types.TracebackType:
        raise m.error(TypeError, "__traceback__ must be a traceback or None")
    own = type(value) is Obj and isinstance(value.body, Traceback) and value.body.exception is exception
    if exception.real is not None or not own and not _is_none(value):
        raise GraphBreak("FL005", "the traceback of an exception is replaced")
    if not own:
        m.journal.set_field(exception.body, "traceback", None)
    m.remember(("__traceback__", exception), value)


@methods(BaseException, "with_traceback")
def with_traceback(m: Machine, exception: Value, traceback: Value, /) -> Value:
    write_traceback(m, exception, traceback)
    return exception


def _no_traceback(m: Machine, traceback: Value) -> Value:
    raise GraphBreak("FL005", "the traceback of an exception is looked into")


for _found in types.TracebackType.__dict__.values():
    if type(_found) in (types.MemberDescriptorType, types.GetSetDescriptorType):
        reads(_found)(_no_traceback)


@function(sys.exc_info)
def exc_info(m: Machine) -> Value:
    handled = m.session.handling()
    if handled is None:
        return m.tuple([NONE, NONE, NONE])
    return m.tuple([m.observe.constant(handled.cls), handled, stand_in(m, handled)])


@function(sys.exception)
def current_exception(m: Machine) -> Value:
    return m.session.handling() or NONE


# -- text and notes --------------------------------------------------------------------------------------------------


@methods(BaseException, "__str__")
def str_(m: Machine, exception: Value, /) -> Value:
    args = parts.part(m.session, exception, "args")
    items = tuple_.items(m.session, args.body)
    if not items:
        return Const("")
    return convert(m, "str", items[0] if len(items) == 1 else args)


@methods(KeyError, "__str__")
def key_str(m: Machine, exception: Value, /) -> Value:
    items = tuple_.items(m.session, parts.part(m.session, exception, "args").body)
    return convert(m, "repr", items[0]) if len(items) == 1 else str_(m, exception)


@methods(ImportError, "__str__")
def import_str(m: Machine, exception: Value, /) -> Value:
    text = part_of(m, exception, ImportError.__dict__["msg"])
    return text if text is not ABSENT and text.cls is str else str_(m, exception)


for _cls in (AttributeError, NameError):
    if "__str__" in _cls.__dict__:
        methods(_cls, "__str__")(str_)


@methods(BaseException, "__repr__")
def repr_(m: Machine, exception: Value, /) -> Value:
    args = parts.part(m.session, exception, "args")
    items = tuple_.items(m.session, args.body)
    text = convert(m, "repr", items[0] if len(items) == 1 else args)
    plain = m.need_constant(text, "FL205", "text known at run time only")
    name = exception.cls.__name__
    return Const(f"{name}({plain})" if len(items) == 1 else f"{name}{plain}")


@methods(BaseException, "add_note")
def add_note(m: Machine, exception: Value, note: Value, /) -> Value:
    if not issubclass(note.cls, str):
        raise m.error(TypeError, f"note must be a str, not '{type_name(note.cls)}'")
    try:
        notes = get_attribute(m, exception, "__notes__")
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        notes = m.list([])
        set_attribute(m, exception, "__notes__", notes)
    if not issubclass(notes.cls, list):
        raise m.error(TypeError, "Cannot add note: __notes__ is not a list")
    list_.append(m.session, notes.body, note)
    m.session.operation("list.append", notes, note)
    return NONE


@methods(BaseException, "__reduce__")
def reduce(m: Machine, exception: Value, /) -> Value:
    items = [m.observe.constant(exception.cls), parts.part(m.session, exception, "args")]
    body = attributes_of(m, exception)
    dict_.materialise(m.session, body)
    if any(value is not ABSENT for _, value in body.known.values()):
        items.append(instance_dictionary(m, exception))
    return m.tuple(items)


refuse("FL101", "the state of an exception is set", BASE["__setstate__"])
