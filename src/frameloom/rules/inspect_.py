"""inspect: the signature of a Python function, made without running the forty frames that inspect takes for it."""

from __future__ import annotations

import collections
import inspect
import types
from typing import Any

from frameloom.interpreter import calls
from frameloom.interpreter.attributes import get_attribute, own_attribute
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse, rule
from frameloom.symbolic.layouts import dict_, function as functions, tuple_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.method import MethodBody
from frameloom.symbolic.layouts.proxy import ProxyBody
from frameloom.symbolic.values import ABSENT, Const, Obj, Value

SIGNATURE, PARAMETER = inspect.Signature.__dict__, inspect.Parameter.__dict__
KIND = inspect._ParameterKind
VARARGS, VARKEYWORDS = 4, 8
LONGEST_CHAIN = 100


@rule(inspect._signature_from_callable)
def signature(m: Machine, *args: Value, **kwargs: Value) -> Any:
    """Functions and bound methods with default questions; everything else goes through inspect's own code."""
    if len(args) != 1 or not _asks_plainly(m, kwargs):
        return NotImplemented
    obj = args[0]
    bound = type(obj) is Obj and isinstance(obj.body, MethodBody) and obj.cls is types.MethodType
    fn = _unwrapped(m, obj.body.function if bound else obj)
    if fn is None:
        return NotImplemented
    parameters = _parameters(m, fn)
    if bound:
        if not parameters or parameters[0][1] in (KIND.KEYWORD_ONLY, KIND.VAR_KEYWORD):
            return NotImplemented
        if parameters[0][1] is not KIND.VAR_POSITIONAL:
            parameters = parameters[1:]
    return _make(m, parameters, _annotation(m, fn, "return"))


PLAIN = {"follow_wrapper_chains": True, "skip_bound_arg": True, "globals": None, "locals": None, "eval_str": False}


def _asks_plainly(m: Machine, kwargs: dict[str, Value]) -> bool:
    for name, value in kwargs.items():
        if name == "sigcls":
            if m.observe.peek(value) is not inspect.Signature:
                return False
            m.observe.known(value)
        elif name not in PLAIN or type(value) is not Const or value.value is not PLAIN[name]:
            return False
    return True


MARKS = ("__signature__", "__text_signature__", "_partialmethod", "__partialmethod__")


def _unwrapped(m: Machine, fn: Value) -> Obj | None:
    """The function at the end of the chain of `__wrapped__`, or None where something on the way is more than a function."""
    for _ in range(LONGEST_CHAIN):
        if type(fn) is not Obj or fn.cls is not types.FunctionType:
            return None
        if any(own_attribute(m, fn, name) is not ABSENT for name in MARKS):
            return None
        inner = own_attribute(m, fn, "__wrapped__")
        if inner is ABSENT:
            names = functions.code_of(m.session, fn).co_varnames
            return fn if all(name.isidentifier() for name in names) else None
        fn = inner
    return None


def _parameters(m: Machine, fn: Obj) -> list[tuple]:
    """(name, kind, default, annotation) of each parameter, in order."""
    code = functions.code_of(m.session, fn)
    names = code.co_varnames
    positional, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    found = []
    for index in range(positional):
        kind = KIND.POSITIONAL_ONLY if index < code.co_posonlyargcount else KIND.POSITIONAL_OR_KEYWORD
        found.append((names[index], kind, _default(m, fn, index - positional)))
    at = total
    if code.co_flags & VARARGS:
        found.append((names[at], KIND.VAR_POSITIONAL, None))
        at += 1
    for name in names[positional:total]:
        found.append((name, KIND.KEYWORD_ONLY, _keyword_default(m, fn, name)))
    if code.co_flags & VARKEYWORDS:
        found.append((names[at], KIND.VAR_KEYWORD, None))
    return [(*each, _annotation(m, fn, each[0])) for each in found]


def _default(m: Machine, fn: Obj, from_end: int) -> Value | None:
    defaults = functions.defaults_of(m.session, fn)
    if type(defaults) is not Obj:
        return None
    index = len(defaults.body.items) + from_end
    return tuple_.item(m.session, defaults.body, index) if index >= 0 else None


def _keyword_default(m: Machine, fn: Obj, name: str) -> Value | None:
    defaults = functions.kwdefaults_of(m.session, fn)
    if type(defaults) is not Obj:
        return None
    found = dict_.get(m.session, defaults.body, name, Const(name))
    return None if found is ABSENT else found


def _annotation(m: Machine, fn: Obj, name: str) -> Value | None:
    space = get_attribute(m, fn, "__annotations__")
    found = dict_.get(m.session, space.body, name, Const(name))
    return None if found is ABSENT else found


def _make(m: Machine, parameters: list[tuple], returns: Value | None) -> Obj:
    empty = m.observe.constant(inspect.Signature.empty)
    body = DictBody(True)
    for name, kind, default, annotation in parameters:
        made = calls.fresh_instance(m, inspect.Parameter, None)
        made.slots = {
            PARAMETER["_name"]: Const(name),
            PARAMETER["_kind"]: m.observe.constant(kind),
            PARAMETER["_default"]: default or empty,
            PARAMETER["_annotation"]: annotation or empty,
        }
        body.known[name] = (Const(name), made)
    ordered = m.session.alloc(collections.OrderedDict, body)
    ordered.attributes = DictBody(True)
    made = calls.fresh_instance(m, inspect.Signature, None)
    made.slots = {
        SIGNATURE["_parameters"]: m.session.alloc(types.MappingProxyType, ProxyBody(ordered)),
        SIGNATURE["_return_annotation"]: returns or empty,
    }
    return made


refuse("FL108", "the call stack is read", inspect.currentframe)
