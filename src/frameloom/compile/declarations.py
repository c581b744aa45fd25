"""`compile(dynamic_shapes=...)`: from names of arguments to the frame in which they are met."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Any

from frameloom.compile.callables import root_code, unwrapped
from frameloom.diagnostics.errors import WrongOption
from frameloom.symbolic.declared import Declared, faults

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def declared_for(target: Any, shapes: Mapping[str, Any]) -> Declared:
    """What `shapes` says of the arguments of a callable.  Raises WrongOption for an argument that it does not have."""
    parameters = _parameters(target)
    open_ended = not parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    for name in shapes:
        if name not in parameters and not open_ended:
            raise WrongOption(f"dynamic_shapes says something of {name!r}; the arguments are {', '.join(map(repr, parameters))}")
    return Declared(dict(shapes), _passed_on(unwrapped(target), parameters))


def check(shapes: Any) -> None:
    """Raise WrongOption for what cannot be declared, whatever the arguments are."""
    if not isinstance(shapes, Mapping) or not all(type(name) is str for name in shapes):
        raise WrongOption(f"dynamic_shapes is a dict by argument name, not {shapes!r}")
    for name, said in shapes.items():
        for fault in faults(said, f"dynamic_shapes[{name!r}]"):
            raise WrongOption(fault)


def _parameters(target: Any) -> Mapping[str, inspect.Parameter]:
    """The arguments that a caller gives: of a module, those of its `forward`."""
    target = unwrapped(target)
    forward = getattr(target, "forward", None)
    called = getattr(type(target), "__call__", None)
    hands_on = isinstance(target, types.FunctionType) or not _is_open(called)
    try:
        return inspect.signature(target if hands_on or forward is None else forward).parameters
    except (TypeError, ValueError):
        return {}


def _is_open(function: Any) -> bool:
    """Whether a function takes whatever it is given, and hands it on."""
    both = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    return isinstance(function, types.FunctionType) and function.__code__.co_flags & both == both


def _passed_on(target: Any, parameters: Mapping[str, inspect.Parameter]) -> dict[str, tuple[str, ...] | None]:
    """The places in the root frame where arguments are met that have no name there."""
    code = root_code(target)
    if code is None:
        return {}
    found: dict[str, tuple[str, ...] | None] = {}
    at = code.co_argcount + code.co_kwonlyargcount
    if code.co_flags & inspect.CO_VARARGS:
        bound = not isinstance(target, types.FunctionType)  # `self` is no argument of the caller's
        names = [name for name, each in parameters.items() if each.kind in POSITIONAL]
        found[code.co_varnames[at]] = tuple(names[code.co_argcount - bound :])
        at += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        found[code.co_varnames[at]] = None
    return found
