"""Strings: what those methods of `str` and `bytes` mean that take iterables, indices or format arguments."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.containment import contains as contains_
from frameloom.interpreter.formatting import convert, format_
from frameloom.interpreter.iteration import iterate
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import _call_slot, get_item
from frameloom.interpreter.registry import ITERATORS
from frameloom.rules.atoms import folded
from frameloom.rules.define import function, methods
from frameloom.rules.indexing import has_index, index_of, is_slice, repetitions, slice_of
from frameloom.rules.known import plain
from frameloom.rules.payloads import constructs
from frameloom.rules.templates import fields_of, percent
from frameloom.rules.tuple_ import items_of
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.observe import is_static
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, Const, Value


def text_of(m: Machine, value: Value) -> Any:
    """The str or bytes in a receiver; a break where it is known at run time only."""
    found = plain(m, value)
    if found is MISSING:
        raise GraphBreak("FL205", "text known at run time only")
    return found


# -- making ----------------------------------------------------------------------------------------------------------


@function(str)
def make(m: Machine, object: Value | None = None, encoding: Value | None = None, errors: Value | None = None) -> Value:
    if object is None:
        return Const("") if encoding is None and errors is None else NotImplemented
    if encoding is None and errors is None:
        return convert(m, "str", object)
    named = {"encoding": encoding, "errors": errors}
    return folded(m, str, object, **{name: value for name, value in named.items() if value is not None})


constructs(str, make)


# -- iterables -------------------------------------------------------------------------------------------------------


@methods(str, "join")
def join(m: Machine, self: Value, iterable: Value, /) -> Value:
    return _join(m, str, self, iterable)


@methods(bytes, "join")
def join_bytes(m: Machine, self: Value, iterable: Value, /) -> Value:
    return _join(m, bytes, self, iterable)


def _join(m: Machine, cls: type, self: Value, iterable: Value) -> Value:
    if not has_iter(m, iterable):
        raise m.error(TypeError, "can only join an iterable")
    parts = [m.observe.resolve(item) for item in items_of(m, iterable)]
    found = [plain(m, part) for part in parts]
    if any(value is MISSING for value in found):
        wrong = [at for at, part in enumerate(parts) if not issubclass(part.cls, cls)]
        if wrong and cls is str:
            name = type_name(parts[wrong[0]].cls)
            raise m.error(TypeError, f"sequence item {wrong[0]}: expected str instance, {name} found")
        raise GraphBreak("FL205", "text known at run time only")
    return m.fold(cls.join, text_of(m, self), found)


def has_iter(m: Machine, value: Value) -> bool:
    """Whether `iter(value)` has something to call."""
    lookup = m.observe.type_lookup
    return lookup(value.cls, "__iter__") is not ABSENT or lookup(value.cls, "__getitem__") is not ABSENT


@methods(str, "__iter__")
@methods(bytes, "__iter__")
def iterator(m: Machine, self: Value, /) -> Value:
    return iterate(m, Const(text_of(m, self)))


@methods(str, "__contains__")
@methods(bytes, "__contains__")
def contains(m: Machine, self: Value, item: Value, /) -> Value:
    found = plain(m, item)
    if found is not MISSING:
        return contains_(m, Const(text_of(m, self)), Const(found))
    if issubclass(item.cls, (str, bytes)):
        raise GraphBreak("FL205", "text known at run time only")
    if plain(m, self).__class__ is str:
        raise m.error(TypeError, f"'in <string>' requires string as left operand, not {type_name(item.cls)}")
    return m.fold(bytes.__contains__, text_of(m, self), index_of(m, item))


@methods(str, "__getitem__")
@methods(bytes, "__getitem__")
def get(m: Machine, self: Value, key: Value, /) -> Value:
    text = Const(text_of(m, self))
    if is_slice(key):
        return get_item(m, text, Const(slice_of(m, key)))
    if not has_index(m, key):
        if type(text.value) is str:
            raise m.error(TypeError, f"string indices must be integers, not '{type_name(key.cls)}'")
        raise m.error(TypeError, f"byte indices must be integers or slices, not {type_name(key.cls)}")
    return get_item(m, text, Const(index_of(m, key)))


@methods(str, "__mul__", "__rmul__")
@methods(bytes, "__mul__", "__rmul__")
def multiply(m: Machine, self: Value, times: Value, /) -> Value:
    text = text_of(m, self)
    return m.fold(type(text).__mul__, text, repetitions(m, len(text), times))


@methods(str, "__add__")
def add(m: Machine, self: Value, other: Value, /) -> Value:
    if not issubclass(other.cls, str):
        raise m.error(TypeError, f'can only concatenate str (not "{type_name(other.cls)}") to str')
    return m.fold(str.__add__, text_of(m, self), text_of(m, other))


@methods(bytes, "__add__")
def add_bytes(m: Machine, self: Value, other: Value, /) -> Value:
    if not issubclass(other.cls, (bytes, bytearray, memoryview)):
        raise m.error(TypeError, f"can't concat {type_name(other.cls)} to bytes")
    return m.fold(bytes.__add__, text_of(m, self), text_of(m, other))


# -- formatting ------------------------------------------------------------------------------------------------------


@methods(str, "format")
def format_fields(m: Machine, self: Value, /, *args: Value, **kwargs: Value) -> Value:
    return fields_of(m, text_of(m, self), list(args), lambda name: _named(m, kwargs, name))


def _named(m: Machine, kwargs: dict[str, Value], name: str) -> Value:
    if name not in kwargs:
        raise m.error(KeyError, name)
    return kwargs[name]


@methods(str, "format_map")
def format_map(m: Machine, self: Value, mapping: Value, /) -> Value:
    return fields_of(m, text_of(m, self), None, lambda name: get_item(m, mapping, Const(name)))


@methods(str, "__mod__")
def modulo(m: Machine, self: Value, values: Value, /) -> Value:
    return percent(m, text_of(m, self), values)


@methods(bytes, "__mod__")
def modulo_bytes(m: Machine, self: Value, values: Value, /) -> Value:
    return folded(m, bytes.__mod__, self, values)


@function(format)
def format_value(m: Machine, value: Value, spec: Value = Const(""), /) -> Value:
    if not issubclass(spec.cls, str):
        raise m.error(TypeError, f"format() argument 2 must be str, not {type_name(spec.cls)}")
    return format_(m, value, spec)


@function(repr)
def represent(m: Machine, value: Value, /) -> Value:
    return convert(m, "repr", value)


@function(ascii)
def represent_ascii(m: Machine, value: Value, /) -> Value:
    return convert(m, "ascii", value)


# -- bytes -----------------------------------------------------------------------------------------------------------


@function(bytes)
def make_bytes(m: Machine, source: Value | None = None, encoding: Value | None = None, errors: Value | None = None) -> Value:
    if source is None:
        return Const(b"") if encoding is None and errors is None else NotImplemented
    if encoding is not None or errors is not None:
        named = {"encoding": encoding, "errors": errors}
        return folded(m, bytes, source, **{name: value for name, value in named.items() if value is not None})
    return _bytes_of(m, source)


def _bytes_of(m: Machine, source: Value) -> Value:
    slot = m.observe.type_lookup(source.cls, "__bytes__")
    if slot is not ABSENT:
        made = _call_slot(m, slot, source, [])
        if not issubclass(made.cls, bytes):
            raise m.error(TypeError, f"__bytes__ returned non-bytes (type {type_name(made.cls)})")
        return made
    found = plain(m, source)
    if found is not MISSING:
        return m.fold(bytes, found)
    if has_index(m, source):
        return m.fold(bytes, index_of(m, source))
    if not has_iter(m, source):
        raise m.error(TypeError, f"cannot convert '{type_name(source.cls)}' object to bytes")
    if is_static(source.cls) and source.cls not in (list, tuple, set, frozenset, dict) and source.cls not in ITERATORS:
        raise GraphBreak("FL102", f"bytes of a {source.cls.__name__}")
    if not is_static(source.cls):
        source = _iterated(m, source)
    return m.fold(bytes, [index_of(m, m.observe.resolve(item)) for item in items_of(m, source)])


def _iterated(m: Machine, source: Value) -> Value:
    """An iterator over an object whose bytes are asked for."""
    try:
        return iterate(m, source)
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, TypeError):
            raise
        raise m.error(TypeError, f"cannot convert '{type_name(source.cls)}' object to bytes") from None


constructs(bytes, make_bytes)
