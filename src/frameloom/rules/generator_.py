"""Generators: the methods of the protocol (PEP 342, PEP 479), and what they tell about themselves."""

from __future__ import annotations

import types
from typing import Any

from frameloom.interpreter.attributes import get_attribute, part_of, reads, writes
from frameloom.interpreter.iteration import adopt, result_of, resume
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.exceptions import Traceback
from frameloom.interpreter.registry import refuse
from frameloom.rules.define import methods
from frameloom.rules.exception_ import stop_init
from frameloom.rules.exception_ import new as new_exception
from frameloom.symbolic.layouts.generator import GeneratorBody
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, Const, Value, boolean

GENERATOR = types.GeneratorType


def _body(m: Machine, generator: Value) -> GeneratorBody:
    if not isinstance(generator.body, GeneratorBody):
        adopt(m, generator)
    return generator.body


def _is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None


def stop(m: Machine, value: Value) -> SymbolicRaise:
    """The StopIteration with which a generator gives its result."""
    args = [] if _is_none(value) else [value]
    made = new_exception(m, m.observe.constant(StopIteration), *args)
    stop_init(m, made, *args)
    return m.raising(made)


def _ended(m: Machine, generator: Value, item: Value | None, was_closed: bool) -> Value:
    if item is not None:
        return item
    raise stop(m, NONE if was_closed else result_of(generator))


# -- the protocol ----------------------------------------------------------------------------------------------------


@methods(GENERATOR, "__iter__")
def iter_(m: Machine, generator: Value, /) -> Value:
    return generator


@methods(GENERATOR, "__next__")
def next_(m: Machine, generator: Value, /) -> Value:
    return send(m, generator, NONE)


@methods(GENERATOR, "send")
def send(m: Machine, generator: Value, value: Value, /) -> Value:
    closed = _body(m, generator).state == "closed"
    return _ended(m, generator, resume(m, generator, value), closed)


@methods(GENERATOR, "throw")
def throw(m: Machine, generator: Value, kind: Value, value: Value = NONE, traceback: Value = NONE, /) -> Value:
    """An exception raised at the yield; the form with three arguments makes the exception first."""
    _body(m, generator)
    if not _is_none(traceback):
        if traceback.cls is not types.TracebackType:
            raise m.error(TypeError, "throw() third argument must be a traceback object")
        if not (isinstance(traceback.body, Traceback) and traceback.body.exception is value):
            raise GraphBreak("FL005", "an exception is thrown with a traceback of its own")
    exception = _thrown(m, kind, value)
    return _raise_inside(m, generator, SymbolicRaise(exception))


def _thrown(m: Machine, kind: Value, value: Value) -> Value:
    if issubclass(kind.cls, BaseException):
        if not _is_none(value):
            raise m.error(TypeError, "instance exception may not have a separate value")
        return kind
    cls = m.observe.known_class(kind) if issubclass(kind.cls, type) else None
    if cls is None or not issubclass(cls, BaseException):
        raise m.error(
            TypeError, f"exceptions must be classes or instances deriving from BaseException, not {type_name(kind.cls)}"
        )
    if m.observe.is_subtype(value.cls, cls):
        return value
    if _is_none(value):
        return m.invoke(kind, [], {})
    return m.invoke(kind, list(value.body.items) if value.cls is tuple else [value], {})


def _raise_inside(m: Machine, generator: Value, signal: SymbolicRaise) -> Value:
    inner = delegate(generator)
    if inner is None:
        closed = generator.body.state == "closed"
        return _ended(m, generator, resume(m, generator, NONE, signal), closed)
    return _raise_in_delegate(m, generator, inner, signal)


def delegate(generator: Value) -> Value | None:
    """The iterator that a suspended generator delegates to by `yield from`."""
    body = generator.body
    if body.state != "suspended":
        return None
    resumed = body.frame.program.instructions[body.frame.next]
    return body.frame.stack[-1] if resumed.op == "RESUME" and resumed.arg & 3 == AFTER_YIELD_FROM else None


AFTER_YIELD_FROM = 2
"""The argument of RESUME behind the yield of a `yield from`."""


def _raise_in_delegate(m: Machine, generator: Value, inner: Value, signal: SymbolicRaise) -> Value:
    """`throw` while delegating (PEP 380): the exception goes to the inner iterator first."""
    frame = generator.body.frame
    body = generator.body
    m.journal.set_field(body, "state", "running")
    try:
        return _give_to(m, inner, signal)
    except SymbolicRaise as raised:
        m.journal.set_field(body, "state", "suspended")
        if not issubclass(raised.value.cls, StopIteration):
            return _ended(m, generator, resume(m, generator, NONE, raised), False)
        m.journal.record(frame.restore, frame.snapshot())
        back = frame.program.instructions[frame.next + 1]  # the jump to the SEND that asks the inner iterator
        frame.next = frame.program.instructions[back.arg].arg
        frame.stack.pop()
        return _ended(m, generator, resume(m, generator, get_attribute(m, raised.value, "value")), False)
    finally:
        if body.state == "running":
            m.journal.set_field(body, "state", "suspended")


def _give_to(m: Machine, inner: Value, signal: SymbolicRaise) -> Value:
    if m.observe.is_subtype(signal.value.cls, GeneratorExit):
        close_ = _method(m, inner, "close")
        if close_ is not None:
            m.invoke(close_, [], {})
        raise signal
    throw_ = _method(m, inner, "throw")
    if throw_ is None:
        raise signal
    return m.invoke(throw_, [signal.value], {})


def _method(m: Machine, obj: Value, name: str) -> Value | None:
    try:
        return get_attribute(m, obj, name)
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        return None


@methods(GENERATOR, "close")
def close(m: Machine, generator: Value, /) -> Value:
    body = _body(m, generator)
    if body.state == "closed":
        return NONE
    if body.state == "created":
        m.journal.set_field(body, "state", "closed")
        return NONE
    leaving = m.session.alloc(GeneratorExit, new_exception(m, m.observe.constant(GeneratorExit)).body)
    try:
        _raise_inside(m, generator, SymbolicRaise(leaving))
    except SymbolicRaise as signal:
        return _closed(m, signal)
    raise m.error(RuntimeError, "generator ignored GeneratorExit")


def _closed(m: Machine, signal: SymbolicRaise) -> Value:
    if m.observe.is_subtype(signal.value.cls, GeneratorExit):
        return NONE
    if issubclass(signal.value.cls, StopIteration):
        return get_attribute(m, signal.value, "value") if CLOSE_GIVES_RESULT else NONE
    raise signal


def _close_gives_result() -> bool:
    """Whether `close()` hands on what the generator returns (3.13)."""

    def returning() -> Any:
        try:
            yield
        except GeneratorExit:
            return True

    made = returning()
    next(made)
    return made.close() is True


CLOSE_GIVES_RESULT = _close_gives_result()


# -- attributes ------------------------------------------------------------------------------------------------------

PARTS = GENERATOR.__dict__


@reads(PARTS["gi_running"])
def running(m: Machine, generator: Value) -> Value:
    return boolean(_body(m, generator).state == "running")


@reads(PARTS["gi_suspended"])
def suspended(m: Machine, generator: Value) -> Value:
    return boolean(_body(m, generator).state == "suspended")


@reads(PARTS["gi_yieldfrom"])
def yieldfrom(m: Machine, generator: Value) -> Value:
    _body(m, generator)
    return delegate(generator) or NONE


@reads(PARTS["gi_code"])
def code(m: Machine, generator: Value) -> Value:
    return Const(_body(m, generator).frame.program.code)


@reads(PARTS["gi_frame"])
def frame(m: Machine, generator: Value) -> Value:
    if _body(m, generator).state == "closed":
        return NONE
    raise GraphBreak("FL108", "the frame of a generator")


def _name(name: str) -> None:
    descriptor = PARTS[name]

    @reads(descriptor)
    def read(m: Machine, generator: Value) -> Value:
        _body(m, generator)
        found = part_of(m, generator, descriptor)
        return get_attribute(m, generator.body.function, name) if found is ABSENT else found

    @writes(descriptor)
    def write(m: Machine, generator: Value, value: Value) -> None:
        if value is ABSENT or not issubclass(value.cls, str):
            raise m.error(TypeError, f"{name} must be set to a string object")
        read(m, generator)
        m.journal.set_item(generator.slots, descriptor, value)


_name("__name__")
_name("__qualname__")

refuse("FL102", "a generator is finalised by hand", PARTS["__del__"])
