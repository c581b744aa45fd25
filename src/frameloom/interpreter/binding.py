"""Binding the arguments of a call to a Python function's slots (language reference, section "Calls")."""

from __future__ import annotations

import types

from frameloom.interpreter.machine import Machine
from frameloom.symbolic.layouts import dict_, function as functions, tuple_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.signals import SymbolicRaise
from frameloom.symbolic.values import ABSENT, UNBOUND, Const, Obj, Value

VARARGS, VARKEYWORDS = 4, 8
QUALNAME = types.FunctionType.__dict__["__qualname__"]


def bind(m: Machine, fn: Obj, slots: list, args: list[Value], kwargs: dict[str, Value]) -> None:
    """Put the arguments, and the defaults for those not given, into `slots`; a TypeError of the user's where they do not fit."""
    code = functions.code_of(m.session, fn)
    fits = _bind_given(m, code, slots, args, kwargs)
    if not (fits and _bind_positional_defaults(m, fn, code, slots) and _bind_keyword_defaults(m, fn, code, slots)):
        raise _misfit(m, fn, code, args, kwargs)


def _bind_given(m: Machine, code: types.CodeType, slots: list, args: list[Value], kwargs: dict[str, Value]) -> bool:
    positional = code.co_argcount
    total = positional + code.co_kwonlyargcount
    given = min(len(args), positional)
    slots[:given] = args[:given]
    rest = total
    if code.co_flags & VARARGS:
        slots[rest] = m.tuple(args[positional:])
        rest += 1
    elif len(args) > positional:
        return False
    extra = DictBody(True) if code.co_flags & VARKEYWORDS else None
    for name, value in kwargs.items():
        index = _parameter(code, name, total)
        if index is not None and slots[index] is UNBOUND:
            slots[index] = value
        elif index is None and extra is not None:
            extra.known[name] = (Const(name), value)
        else:
            return False
    if extra is not None:
        slots[rest] = m.session.alloc(dict, extra)
    return True


def _parameter(code: types.CodeType, name: str, total: int) -> int | None:
    try:
        return code.co_varnames.index(name, code.co_posonlyargcount, total)
    except ValueError:
        return None


def _bind_positional_defaults(m: Machine, fn: Obj, code: types.CodeType, slots: list) -> bool:
    missing = [i for i in range(code.co_argcount) if slots[i] is UNBOUND]
    if not missing:
        return True
    defaults = functions.defaults_of(m.session, fn)
    first = code.co_argcount - _count(defaults)
    if missing[0] < first:
        return False
    for i in missing:
        slots[i] = tuple_.item(m.session, defaults.body, i - first)
    return True


def _count(defaults: Value) -> int:
    return len(defaults.body.items) if type(defaults) is Obj else 0


def _bind_keyword_defaults(m: Machine, fn: Obj, code: types.CodeType, slots: list) -> bool:
    first = code.co_argcount
    missing = [i for i in range(first, first + code.co_kwonlyargcount) if slots[i] is UNBOUND]
    if not missing:
        return True
    defaults = functions.kwdefaults_of(m.session, fn)
    for i in missing:
        name = code.co_varnames[i]
        found = dict_.get(m.session, defaults.body, name, Const(name)) if type(defaults) is Obj else ABSENT
        if found is ABSENT:
            return False
        slots[i] = found
    return True


def _misfit(m: Machine, fn: Obj, code: types.CodeType, args: list[Value], kwargs: dict[str, Value]) -> SymbolicRaise:
    """What CPython says of the arguments: it is asked with a function of the same parameters, whose code never runs."""
    defaults = (None,) * _count(functions.defaults_of(m.session, fn))
    twin = types.FunctionType(code, {}, code.co_name, defaults, tuple(types.CellType() for _ in code.co_freevars))
    twin.__kwdefaults__ = dict.fromkeys(_keyword_defaults(m, fn, code))
    twin.__qualname__ = _qualname(m, fn)
    try:
        twin(*[None] * len(args), **dict.fromkeys(kwargs))
    except TypeError as error:
        return m.error(TypeError, *error.args)
    raise AssertionError(f"arguments that do not fit {code.co_qualname} were taken")


def _keyword_defaults(m: Machine, fn: Obj, code: types.CodeType) -> list[str]:
    names = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    defaults = functions.kwdefaults_of(m.session, fn) if names else None
    if type(defaults) is not Obj:
        return []
    return [name for name in names if dict_.get(m.session, defaults.body, name, Const(name)) is not ABSENT]


def _qualname(m: Machine, fn: Obj) -> str:
    if fn.real is None:
        return fn.body.qualname
    return m.need_constant(m.observe.read(fn, "descriptor", QUALNAME), "FL103", "the name of a function")
