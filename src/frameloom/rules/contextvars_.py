"""Context variables (PEP 567): their values are guarded at entry, and set and reset at run time in program order."""

from __future__ import annotations

import contextvars
from typing import Any

from frameloom.interpreter.attributes import reads
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse
from frameloom.rules.define import function, methods
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.layouts.effect import AFTER_GRAPH
from frameloom.symbolic.reading import Reading
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, Node, Obj, Value

VARIABLE, TOKEN = contextvars.ContextVar, contextvars.Token


def _value(variable: contextvars.ContextVar) -> Any:
    found = variable.get(MISSING)
    if found is MISSING:
        raise AttributeError("no value in this context")
    return found


def _default(variable: contextvars.ContextVar) -> Any:
    try:
        return contextvars.Context().run(variable.get)
    except LookupError:
        raise AttributeError("no default") from None


def has_no_value(variable: contextvars.ContextVar, _: None) -> bool:
    """Whether the running context holds no value for a variable."""
    return variable.get(MISSING) is MISSING


def has_no_default(variable: contextvars.ContextVar, _: None) -> bool:
    """Whether a variable was made without default."""
    try:
        _default(variable)
    except AttributeError:
        return True
    return False


VALUE = Reading(_value, "<value in the context>")
DEFAULT = Reading(_default, "<default>")


def _current(m: Machine, variable: Obj) -> Value:
    """The value in the context, or ABSENT."""
    key = (VARIABLE, variable)
    known = m.memory.get(key)
    if known is None:
        known = m.observe.read(variable, "descriptor", VALUE)
        if known is ABSENT:
            m.session.guard("CALL", variable.real.source, (has_no_value, None, "{} has no value"))
        m.remember(key, known)
    return known


@methods(VARIABLE, "get")
def get(m: Machine, variable: Value, default: Value = ABSENT, /) -> Value:
    found = _current(m, _real(variable))
    if found is not ABSENT:
        return found
    if default is ABSENT:
        default = m.observe.read(variable, "descriptor", DEFAULT)
    if default is ABSENT:
        m.session.guard("CALL", variable.real.source, (has_no_default, None, "{} has no default"))
        raise m.error_of(LookupError, variable)
    return default


def _real(variable: Value) -> Obj:
    if type(variable) is not Obj or variable.real is None:
        raise GraphBreak("FL101", "a context variable made in the trace")
    return variable


@methods(VARIABLE, "set")
def set_(m: Machine, variable: Value, value: Value, /) -> Value:
    old = _current(m, _real(variable))
    token = _run(m, variable, set_variable, [variable, value], TOKEN)
    m.remember((TOKEN, token), (variable, old))
    m.remember((VARIABLE, variable), value)
    return token


def _run(m: Machine, variable: Obj, function_: Any, args: list[Value], cls: type) -> Node:
    """A change of the context: at run time, after the one before it."""
    before = m.memory.get((VARIABLE, variable, "last"), NONE)
    node = m.session.record(function_, (*args, before), {}, cls, None, tape="host")
    m.remember((VARIABLE, variable, "last"), node)
    m.session.operation("changed", variable)
    return node


def set_variable(variable: contextvars.ContextVar, value: Any, before: Any) -> contextvars.Token:
    """Set; called by compiled code, after what gave `before`."""
    return variable.set(value)


def reset_variable(variable: contextvars.ContextVar, token: contextvars.Token, before: Any) -> None:
    """Reset; called by compiled code, after what gave `before`."""
    variable.reset(token)


AFTER_GRAPH.update((set_variable, reset_variable))


@methods(VARIABLE, "reset")
def reset(m: Machine, variable: Value, token: Value, /) -> Value:
    made = m.memory.get((TOKEN, token))
    if made is None:
        raise GraphBreak("FL506", "a context variable is reset by a token made before")
    if made[0] is not variable:
        raise GraphBreak("FL506", "a context variable is reset by a token that does not fit")
    if (TOKEN, token, "used") in m.memory:
        raise GraphBreak("FL506", "a token is used again")
    _run(m, variable, reset_variable, [variable, token], type(None))
    m.remember((TOKEN, token, "used"), True)
    m.remember((VARIABLE, variable), made[1])
    return NONE


def _of_token(m: Machine, token: Value) -> tuple:
    made = m.memory.get((TOKEN, token))
    if made is None:
        raise GraphBreak("FL103", "attribute of a token that was made before")
    return made


reads(TOKEN.__dict__["var"])(lambda m, token: _of_token(m, token)[0])


@reads(TOKEN.__dict__["old_value"])
def old_value(m: Machine, token: Value) -> Value:
    old = _of_token(m, token)[1]
    return m.observe.constant(TOKEN.MISSING) if old is ABSENT else old


@reads(VARIABLE.__dict__["name"])
def name(m: Machine, variable: Value) -> Value:
    return m.observe.read(variable, "descriptor", VARIABLE.__dict__["name"])


@function(VARIABLE)
def make(m: Machine, name: Value, /, **kwargs: Value) -> Value:
    raise GraphBreak("FL101", "a context variable is made")


refuse("FL101", "a context is copied", contextvars.copy_context)
refuse("FL112", "a function runs in another context", contextvars.Context.__dict__["run"])
