"""Python functions: code, globals, defaults and closure, each observed alone."""

from __future__ import annotations

import types
from typing import Any

from frameloom.symbolic.layouts.base import Layout, register, replay
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.values import NONE, Const, Obj, Value


class FunctionBody:
    """Parts of a function; those of a real one are None until looked at.

    code: a code object; globals: the real globals dictionary; defaults, kwdefaults: Values; closure: list of cell Objs.
    """

    __slots__ = ("code", "globals", "defaults", "kwdefaults", "closure", "qualname", "annotations")

    def __init__(self, code=None, globals=None, defaults=None, kwdefaults=None, closure=None, qualname=None, annotations=None):
        self.code = code
        self.globals = globals
        self.defaults = defaults
        self.kwdefaults = kwdefaults
        self.closure = closure
        self.qualname = qualname
        self.annotations = annotations


def code_of(session: Any, function: Obj) -> types.CodeType:
    """The code object, guarded."""
    body = function.body
    if body.code is None:
        found = session.observe.read(function, "code").value
        session.journal.set_field(body, "code", found)
    return body.code


def globals_of(session: Any, function: Obj) -> dict:
    """The globals dictionary; read-only on a function, so only its identity is guarded."""
    body = function.body
    if body.globals is None:
        real = function.real
        found = real.object.__globals__
        source = real.source.child("globals")
        if source.root().step != "const" or found is not session.root_globals:
            session.guard("IS", source, found)
        session.journal.set_field(body, "globals", found)
    return body.globals


def defaults_of(session: Any, function: Obj) -> Value:
    """The tuple of positional defaults, or None."""
    return _value_part(session, function, "defaults")


def kwdefaults_of(session: Any, function: Obj) -> Value:
    """The dictionary of keyword defaults, or None."""
    return _value_part(session, function, "kwdefaults")


def _value_part(session: Any, function: Obj, name: str) -> Value:
    found = getattr(function.body, name)
    if found is None:
        found = session.observe.read(function, name)
        session.journal.set_field(function.body, name, found)
    return found


def closure_of(session: Any, function: Obj) -> list[Obj]:
    """The cells, in the order of the code's free variables."""
    body = function.body
    if body.closure is None:
        count = len(code_of(session, function).co_freevars)
        cells = [session.observe.read(function, "closure", index) for index in range(count)]
        session.journal.set_field(body, "closure", cells)
    return body.closure


def make_function(code, globals_, name, defaults, closure, kwdefaults, qualname, annotations):
    """A new function with the given parts; called by compiled code."""
    if not closure and code.co_freevars:
        # Still being made: on 3.13 the closure comes by an instruction of its own, which puts it over these.
        closure = tuple(types.CellType() for _ in code.co_freevars)
    made = types.FunctionType(code, globals_, name, defaults, closure or None)
    made.__kwdefaults__ = kwdefaults
    made.__qualname__ = qualname
    if type(annotations) is tuple:
        annotations = dict(zip(annotations[::2], annotations[1::2]))
    if annotations is not None:
        made.__annotations__ = annotations
    return made


@replay("function.set")
def _replay_set(build: Any, target: Obj, name: str, value: Value) -> None:
    build.set_descriptor(types.FunctionType.__dict__[name], target, value)


@register(types.FunctionType)
class FunctionLayout(Layout):
    """types.FunctionType."""

    def look(self, obj: Obj, session: Any) -> FunctionBody:
        obj.attributes = DictBody(False, obj.real, "attribute")
        return FunctionBody()

    def children(self, obj: Obj) -> list:
        body = obj.body
        parts = [body.defaults or NONE, body.kwdefaults or NONE, body.annotations or NONE, *body.closure]
        return parts

    def needs_first(self, obj: Obj) -> list:
        body = obj.body
        return [body.defaults or NONE, body.kwdefaults or NONE, body.annotations or NONE, *body.closure]

    def create(self, obj: Obj, build: Any) -> None:
        body = obj.body
        closure = build.tuple_of(body.closure)
        build.call_values(
            make_function,
            (
                Const(body.code),
                build.globals_value(body.globals),
                Const(body.code.co_name),
                body.defaults or NONE,
                closure,
                body.kwdefaults or NONE,
                Const(body.qualname),
                body.annotations or NONE,
            ),
        )
