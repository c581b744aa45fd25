"""Displays, unpacking, f-strings."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.frame import Frame, Link
from frameloom.interpreter.formatting import convert
from frameloom.interpreter.function_names import callee_text
from frameloom.interpreter.iteration import QUICK, is_iterable, iterate, next_item, unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import is_graph
from frameloom.interpreter.registry import opcode
from frameloom.interpreter.stores import dict_set, dict_update, set_add
from frameloom.symbolic.layouts import exception, list_, tuple_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import SymbolicRaise
from frameloom.symbolic.values import Const, Obj, Value


def _top(frame: Frame, count: int) -> list:
    stack = frame.stack
    return stack[len(stack) - count :]


@opcode("BUILD_TUPLE")
def build_tuple(frame: Frame, count: int) -> None:
    made = frame.session.machine.tuple(_top(frame, count))
    frame.stack[len(frame.stack) - count :] = [made]


@opcode("BUILD_LIST")
def build_list(frame: Frame, count: int) -> None:
    made = frame.session.machine.list(_top(frame, count))
    frame.stack[len(frame.stack) - count :] = [made]


@opcode("BUILD_SET")
def build_set(frame: Frame, count: int) -> None:
    m = frame.session.machine
    made = m.set()
    for item in _top(frame, count):
        set_add(m, made, item)
    frame.stack[len(frame.stack) - count :] = [made]


@opcode("BUILD_MAP")
def build_map(frame: Frame, count: int) -> None:
    m = frame.session.machine
    made = m.session.alloc(dict, DictBody(True))
    flat = _top(frame, 2 * count)
    for key, value in zip(flat[::2], flat[1::2]):
        dict_set(m, made, key, value)
    frame.stack[len(frame.stack) - 2 * count :] = [made]


@opcode("BUILD_CONST_KEY_MAP")
def build_const_key_map(frame: Frame, count: int) -> None:
    m = frame.session.machine
    made = m.session.alloc(dict, DictBody(True))
    keys = tuple_.items(m.session, frame.stack[-1].body)
    for key, value in zip(keys, _top(frame, count + 1)):
        dict_set(m, made, key, value)
    frame.stack[len(frame.stack) - count - 1 :] = [made]


@opcode("BUILD_STRING")
def build_string(frame: Frame, count: int) -> None:
    from frameloom.interpreter.formatting import concatenate

    made = concatenate(frame.session.machine, _top(frame, count))
    frame.stack[len(frame.stack) - count :] = [made]


@opcode("BUILD_SLICE")
def build_slice(frame: Frame, count: int) -> None:
    made = frame.session.machine.slice(*_top(frame, count))
    frame.stack[len(frame.stack) - count :] = [made]


@opcode("LIST_APPEND")
def list_append(frame: Frame, n: int) -> None:
    target = frame.stack[-n - 1]
    list_.append(frame.session, target.body, frame.stack[-1])
    frame.session.operation("list.append", target, frame.stack[-1])
    frame.stack.pop()


@opcode("SET_ADD")
def set_add_op(frame: Frame, n: int) -> None:
    set_add(frame.session.machine, frame.stack[-n - 1], frame.stack[-1])
    frame.stack.pop()


@opcode("MAP_ADD")
def map_add(frame: Frame, n: int) -> None:
    dict_set(frame.session.machine, frame.stack[-n - 2], frame.stack[-2], frame.stack[-1])
    del frame.stack[-2:]


@opcode("LIST_EXTEND")
def list_extend(frame: Frame, n: int) -> None:
    m = frame.session.machine
    target, added = frame.stack[-n - 1], frame.stack[-1]
    if not is_iterable(m, added):
        raise m.error(TypeError, f"Value after * must be an iterable, not {type_name(added.cls)}")
    m.invoke(EXTEND, [target, added], {})
    frame.stack.pop()


EXTEND = Const(list.__dict__["extend"])


@opcode("SET_UPDATE")
def set_update(frame: Frame, n: int) -> None:
    m = frame.session.machine
    for item in unpack(m, frame.stack[-1]):
        set_add(m, frame.stack[-n - 1], item)
    frame.stack.pop()


@opcode("DICT_UPDATE")
def dict_update_op(frame: Frame, n: int) -> None:
    m = frame.session.machine
    mapping = frame.stack[-1]
    try:
        dict_update(m, frame.stack[-n - 1], mapping, mapping_only=True)
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        raise m.error(TypeError, f"'{type_name(mapping.cls)}' object is not a mapping") from None
    frame.stack.pop()


@opcode("DICT_MERGE")
def dict_merge(frame: Frame, n: int) -> None:
    m = frame.session.machine
    stack = frame.stack
    try:
        dict_update(m, stack[-n - 1], stack[-1], unique=True)
    except SymbolicRaise as signal:
        refused = _refused_keywords(m, signal.value, stack[-1])
        if refused is None:
            raise
        raise m.error(TypeError, f"{callee_text(m, stack[-n - 4], stack[-n - 3])} {refused}") from None
    stack.pop()


def _refused_keywords(m: Machine, raised: Obj, mapping: Value) -> str | None:
    """What the call says of its keywords instead of an exception, whoever raised that."""
    if issubclass(raised.cls, AttributeError):
        return f"argument after ** must be a mapping, not {type_name(mapping.cls)}"
    args = tuple_.items(m.session, exception.part(m.session, raised, "args").body) if issubclass(raised.cls, KeyError) else []
    if len(args) != 1:
        return None
    key = m.need_constant(convert(m, "str", args[0]), "FL205", "the name of a keyword")
    return f"got multiple values for keyword argument '{key}'"


@opcode("UNPACK_SEQUENCE")
def unpack_sequence(frame: Frame, count: int) -> None:
    m = frame.session.machine
    value = frame.stack[-1]
    _require_unpackable(m, value)
    if type(value) is Obj and value.cls is tuple and len(value.body.items) == count:
        items = _unseen_if_stored(frame, value.body, count)
    else:
        items = _limited(m, value, count)
    frame.stack[-1:] = reversed(items)


def _unseen_if_stored(frame: Frame, body: TupleBody, count: int) -> list:
    """The items of a tuple; one that goes straight into a local is not looked at before that is read."""
    session = frame.session
    following = frame.program.instructions[frame.next : frame.next + count]
    stored = next((place for place, instruction in enumerate(following) if instruction.op != "STORE_FAST"), count)
    return [body.items[place] if place < stored else tuple_.item(session, body, place) for place in range(count)]


def _require_unpackable(m: Machine, value: Value) -> None:
    if not is_graph(value) and value.cls not in QUICK and not is_iterable(m, value):
        raise m.error(TypeError, f"cannot unpack non-iterable {type_name(value.cls)} object")


def _limited(m: Any, value: Any, count: int) -> list:
    """Just `count` items; one more is asked for, as CPython asks, and no more."""
    if value.cls in QUICK:
        items = unpack(m, value)
        if len(items) == count:
            return items
    else:
        iterator = iterate(m, value)
        items = []
        while len(items) <= count:
            item = next_item(m, iterator)
            if item is None:
                break
            items.append(item)
        if len(items) == count:
            return items
    if len(items) < count:
        raise m.error(ValueError, f"not enough values to unpack (expected {count}, got {len(items)})")
    raise m.error(ValueError, f"too many values to unpack (expected {count})")


@opcode("UNPACK_EX")
def unpack_ex(frame: Frame, arg: tuple[int, int]) -> None:
    before, after = arg
    m = frame.session.machine
    _require_unpackable(m, frame.stack[-1])
    items = unpack(m, frame.stack[-1])
    if len(items) < before + after:
        raise m.error(
            ValueError, f"not enough values to unpack (expected at least {before + after}, got {len(items)})"
        )
    end = len(items) - after
    parts = [*items[:before], m.list(items[before:end]), *items[end:]]
    frame.stack[-1:] = reversed(parts)


@opcode("FORMAT_VALUE")
def format_value(frame: Frame, arg: tuple) -> None:
    from frameloom.interpreter.formatting import convert, format_

    conversion, with_spec = arg
    m = frame.session.machine
    stack = frame.stack
    value = stack[-2] if with_spec else stack[-1]
    spec = stack[-1] if with_spec else Const("")
    link = Link("format", len(stack) - 1 - with_spec)
    if conversion is not None:
        is_last = type(spec) is Const and spec.value == ""  # a plain text has itself for its format
        value = convert(m, conversion, value, link if is_last else None)
    made = format_(m, value, spec, link)
    stack[-2 if with_spec else -1 :] = [made]


@opcode("CONVERT_VALUE")
def convert_value(frame: Frame, conversion: str) -> None:
    from frameloom.interpreter.formatting import convert

    stack = frame.stack
    stack[-1] = convert(frame.session.machine, conversion, stack[-1], Link("format", len(stack) - 1))
