"""Functions, bound methods and cells as objects."""

from __future__ import annotations

import types
from typing import Any

from frameloom.interpreter.attributes import (
    ALGORITHMS,
    bind_descriptor,
    get_attribute,
    part_of,
    reads,
    writes,
)
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import identical, truth, compare
from frameloom.interpreter.registry import refuse
from frameloom.rules.define import function, methods
from frameloom.symbolic.layouts import cell, dict_, function as functions
from frameloom.symbolic.layouts.cell import CellBody
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.function import FunctionBody
from frameloom.symbolic.layouts.method import MethodBody
from frameloom.symbolic.layouts.namespace import globals_object
from frameloom.symbolic.real import is_subtype
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, FALSE, NONE, NOT_IMPLEMENTED, UNBOUND, Const, Obj, Value, boolean

FUNCTION = types.FunctionType.__dict__

# -- reading parts of functions --------------------------------------------------------------------------------------


def _first_of(m: Machine, fn: Obj) -> Value:
    code = functions.code_of(m.session, fn)
    return Const(types.FunctionType(code, {}, None, None, tuple(types.CellType() for _ in code.co_freevars)).__doc__)


def _module_of(m: Machine, fn: Obj) -> Value:
    space = globals_object(m.session, functions.globals_of(m.session, fn))
    found = dict_.get(m.session, space.body, "__name__", Const("__name__"))
    return NONE if found is ABSENT else found


DEFAULTS_OF_NEW = {
    "__name__": lambda m, fn: Const(fn.body.code.co_name),
    "__qualname__": lambda m, fn: Const(fn.body.qualname),
    "__doc__": _first_of,
    "__module__": _module_of,
    "__type_params__": lambda m, fn: m.tuple([]),
}
"""What the plain attributes of a function are until somebody writes them."""


def _reader(name: str) -> Any:
    descriptor, default = FUNCTION[name], DEFAULTS_OF_NEW[name]

    def read(m: Machine, fn: Obj) -> Value:
        found = part_of(m, fn, descriptor)
        if found is ABSENT:
            found = default(m, fn)
            m.journal.set_item(fn.slots, descriptor, found)
        return found

    return read


def _writer(name: str) -> Any:
    descriptor = FUNCTION[name]
    texts = name in ("__name__", "__qualname__")

    def write(m: Machine, fn: Obj, value: Value) -> None:
        if texts and (value is ABSENT or not issubclass(value.cls, str)):
            raise m.error(TypeError, f"{name} must be set to a string object")
        if name == "__type_params__" and (value is ABSENT or not issubclass(value.cls, tuple)):
            raise m.error(TypeError, "__type_params__ must be set to a tuple")
        part_of(m, fn, descriptor)
        stored = NONE if value is ABSENT else value
        m.journal.set_item(fn.slots, descriptor, stored)
        m.session.operation("slot.set", fn, descriptor, stored)

    return write


for _name in DEFAULTS_OF_NEW:
    if _name in FUNCTION:
        reads(FUNCTION[_name])(_reader(_name))
        writes(FUNCTION[_name])(_writer(_name))


@reads(FUNCTION["__code__"])
def code(m: Machine, fn: Obj) -> Value:
    return Const(functions.code_of(m.session, fn))


@reads(FUNCTION["__defaults__"])
def defaults(m: Machine, fn: Obj) -> Value:
    return functions.defaults_of(m.session, fn) or NONE


@reads(FUNCTION["__kwdefaults__"])
def kwdefaults(m: Machine, fn: Obj) -> Value:
    return functions.kwdefaults_of(m.session, fn) or NONE


@reads(FUNCTION["__globals__"])
def globals_(m: Machine, fn: Obj) -> Value:
    return globals_object(m.session, functions.globals_of(m.session, fn))


@reads(FUNCTION["__closure__"])
def closure(m: Machine, fn: Obj) -> Value:
    key = ("__closure__", fn)
    known = m.memory.get(key)
    if known is None:
        cells = functions.closure_of(m.session, fn)
        known = m.remember(key, m.tuple(cells) if cells else NONE)
    return known


@reads(FUNCTION["__annotations__"])
def annotations(m: Machine, fn: Obj) -> Value:
    found = fn.body.annotations
    if found is None:
        found = m.dict() if fn.real is None else part_of(m, fn, FUNCTION["__annotations__"])
        m.journal.set_field(fn.body, "annotations", found)
    return found


@reads(FUNCTION["__builtins__"])
def builtins_(m: Machine, fn: Obj) -> Value:
    raise GraphBreak("FL103", "attribute '__builtins__' of a function")


# -- writing parts of functions --------------------------------------------------------------------------------------


def _write_part(name: str, field: str, cls: type, message: str) -> None:
    @writes(FUNCTION[name])
    def write(m: Machine, fn: Obj, value: Value) -> None:
        stored = NONE if value is ABSENT else value
        if not (type(stored) is Const and stored.value is None) and not is_subtype(stored.cls, cls):
            raise m.error(TypeError, message)
        _store_part(m, fn, name, field, stored, stored)


def _store_part(m: Machine, fn: Obj, name: str, field: str, known: Any, value: Value) -> None:
    m.journal.set_field(fn.body, field, known)
    m.session.operation("function.set", fn, name, value)


_write_part("__defaults__", "defaults", tuple, "__defaults__ must be set to a tuple object")
_write_part("__kwdefaults__", "kwdefaults", dict, "__kwdefaults__ must be set to a dict object")
_write_part("__annotations__", "annotations", dict, "__annotations__ must be set to a dict object")


@writes(FUNCTION["__code__"])
def write_code(m: Machine, fn: Obj, value: Value) -> None:
    if value is ABSENT or value.cls is not types.CodeType:
        raise m.error(TypeError, "__code__ must be set to a code object")
    free = len(functions.code_of(m.session, fn).co_freevars)
    if len(value.value.co_freevars) != free:
        name = functions.code_of(m.session, fn).co_name
        raise m.error(
            ValueError,
            f"{name}() requires a code object with {free} free vars, not {len(value.value.co_freevars)}",
        )
    if fn.real is None:
        raise GraphBreak("FL505", "the code of a function made in the trace is replaced")
    functions.closure_of(m.session, fn)
    _store_part(m, fn, "__code__", "code", value.value, value)


# -- making ----------------------------------------------------------------------------------------------------------


@function(types.FunctionType)
def make_function(
    m: Machine,
    code: Value,
    globals: Value,
    name: Value = NONE,
    argdefs: Value = NONE,
    closure: Value = NONE,
    kwdefaults: Value = NONE,
) -> Value:
    """A function of a module's globals; one with a namespace of its own breaks."""
    space = m.observe.known(globals)
    if code.cls is not types.CodeType or globals.cls is not dict or globals.body.owner is not globals:
        raise GraphBreak("FL101", "types.FunctionType")
    cells = [] if closure is NONE or closure.cls is not tuple else closure.body.items
    if len(cells) != len(code.value.co_freevars) or any(not isinstance(item.body, CellBody) for item in cells):
        raise GraphBreak("FL101", "types.FunctionType with a closure that does not fit")
    body = FunctionBody(code.value, space, argdefs, kwdefaults, list(cells), code.value.co_qualname, NONE)
    made = m.session.alloc(types.FunctionType, body)
    made.attributes = DictBody(True)
    made.slots = {} if _is_none(name) else {FUNCTION["__name__"]: name}
    return made


def _is_none(value: Value) -> bool:
    return type(value) is Const and value.value is None


@methods(types.FunctionType, "__get__")
def function_get(m: Machine, fn: Value, obj: Value, owner: Value = NONE, /) -> Value:
    return bind_descriptor(m, fn, None if _is_none(obj) and not _is_none(owner) else obj, owner)


@methods(types.FunctionType, "__call__")
def function_call(m: Machine, fn: Value, /, *args: Value, **kwargs: Value) -> Value:
    return m.invoke(fn, list(args), kwargs)


# -- bound methods ---------------------------------------------------------------------------------------------------

METHOD = types.MethodType.__dict__


@function(types.MethodType)
def make_method(m: Machine, fn: Value, obj: Value, /) -> Value:
    if m.observe.type_lookup(fn.cls, "__call__") is ABSENT:
        raise m.error(TypeError, "first argument must be callable")
    if _is_none(obj):
        raise m.error(TypeError, "instance must not be None")
    return m.session.alloc(types.MethodType, MethodBody(fn, obj))


def method_get(m: Machine, obj: Value, name: str) -> Value:
    """`method.__getattribute__`: its own attributes, then the function's."""
    own = m.observe.type_lookup(types.MethodType, name)
    if own is not ABSENT:
        return bind_descriptor(m, own, obj, types.MethodType)
    return get_attribute(m, obj.body.function, name)


ALGORITHMS[METHOD["__getattribute__"]] = method_get

reads(METHOD["__func__"])(lambda m, obj: obj.body.function)
reads(METHOD["__self__"])(lambda m, obj: obj.body.self)
reads(METHOD["__doc__"])(lambda m, obj: get_attribute(m, obj.body.function, "__doc__"))


@methods(types.MethodType, "__call__")
def method_call(m: Machine, obj: Value, /, *args: Value, **kwargs: Value) -> Value:
    return m.invoke(obj, list(args), kwargs)


def method_bind(m: Machine, obj: Value, instance: Value, owner: Value = NONE, /) -> Value:
    """`method.__get__`: a bound method stays bound as it is."""
    return obj


if "__get__" in METHOD:
    methods(types.MethodType, "__get__")(method_bind)


@methods(types.MethodType, "__eq__")
def method_eq(m: Machine, obj: Value, other: Value, /) -> Value:
    if other.cls is not types.MethodType:
        return NOT_IMPLEMENTED
    if not identical(m, obj.body.self, other.body.self):
        return FALSE
    return truth(m, compare(m, "==", obj.body.function, other.body.function))


@methods(types.MethodType, "__ne__")
def method_ne(m: Machine, obj: Value, other: Value, /) -> Value:
    same = method_eq(m, obj, other)
    return same if same is NOT_IMPLEMENTED else boolean(not same.value)


# -- C functions bound to an object ----------------------------------------------------------------------------------

BUILTIN = types.BuiltinFunctionType.__dict__
WRAPPER = types.MethodWrapperType.__dict__


def _of_descriptor(name: str) -> Any:
    """A part of the descriptor behind a bound C function."""

    def read(m: Machine, obj: Value) -> Value:
        if type(obj) is Const:
            return m.lift(getattr(obj.value, name))
        return m.lift(getattr(obj.body.function.value, name))

    return read


for _table in (BUILTIN, WRAPPER):
    for _name in ("__name__", "__doc__", "__text_signature__"):
        reads(_table[_name])(_of_descriptor(_name))
    reads(_table["__self__"])(
        lambda m, obj: m.lift(obj.value.__self__) if type(obj) is Const else obj.body.self
    )


@reads(BUILTIN["__qualname__"], WRAPPER["__qualname__"])
def bound_qualname(m: Machine, obj: Value) -> Value:
    if type(obj) is Const:
        return Const(obj.value.__qualname__)
    owner = obj.body.self
    named = owner if issubclass(owner.cls, type) else m.observe.constant(owner.cls)
    qualname = m.need_constant(get_attribute(m, named, "__qualname__"), "FL103", "the name of a class")
    return Const(f"{qualname}.{obj.body.function.value.__name__}")


@methods(types.BuiltinFunctionType, "__call__")
def builtin_call(m: Machine, obj: Value, /, *args: Value, **kwargs: Value) -> Value:
    return m.invoke(obj, list(args), kwargs)


# -- cells -----------------------------------------------------------------------------------------------------------


@function(types.CellType)
def make_cell(m: Machine, contents: Value = UNBOUND, /) -> Value:
    return m.session.alloc(types.CellType, CellBody(contents))


@reads(cell.CONTENTS)
def cell_contents(m: Machine, obj: Obj) -> Value:
    found = cell.get(m.session, obj)
    if found is UNBOUND:
        raise m.error(ValueError, "Cell is empty")
    return found


@writes(cell.CONTENTS)
def write_cell(m: Machine, obj: Obj, value: Value) -> None:
    cell.get(m.session, obj)
    cell.set_(m.session, obj, UNBOUND if value is ABSENT else value)


refuse("FL102", "cells are compared", *(types.CellType.__dict__[name] for name in ("__lt__", "__le__", "__gt__", "__ge__")))

