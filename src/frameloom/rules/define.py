"""How rules for C functions and methods are registered: with the check of arguments that C code makes before it starts.

A call with other arguments than the C function takes is left to CPython, which raises its own TypeError.
"""

from __future__ import annotations

import inspect
import types
from typing import Any, Callable

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import RULES
from frameloom.symbolic.real import type_name
from frameloom.symbolic.values import Obj, Value

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Signature:
    """Which arguments a rule takes, the machine aside."""

    __slots__ = ("low", "high", "names", "any_name", "needed")

    def __init__(self, function: Callable) -> None:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        positional = [p for p in parameters if p.kind in POSITIONAL]
        self.low = sum(p.default is inspect.Parameter.empty for p in positional)
        several = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
        self.high = None if several else len(positional)
        self.names = {
            p.name: index if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD else None
            for index, p in enumerate(parameters)
            if p.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        }
        self.any_name = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
        self.needed = [p.name for p in positional if p.default is inspect.Parameter.empty]

    def takes(self, args: tuple, kwargs: dict) -> bool:
        """Whether a call with these arguments is one the C function accepts."""
        count = len(args)
        if self.high is not None and count > self.high:
            return False
        if not kwargs:
            return count >= self.low
        for name in kwargs:
            index = self.names.get(name, MISSING)
            if index is MISSING and not self.any_name or type(index) is int and index < count:
                return False
        return all(name in kwargs for name in self.needed[count:])


MISSING = object()


def function(*callables: Any) -> Callable:
    """Decorator: the function is the rule of these C functions or classes."""

    def add(made: Callable) -> Callable:
        accepts = Signature(made).takes

        def checked(m: Machine, *args: Value, **kwargs: Value) -> Any:
            return made(m, *args, **kwargs) if accepts(args, kwargs) else NotImplemented

        for target in callables:
            RULES[target] = checked
        return made

    return add


def methods(cls: type, *names: str, storage: type | None = None) -> Callable:
    """Decorator: the function is the rule of these C methods of a class; the receiver is its first argument.

    `storage` is the class of the receiver's body; a receiver of another kind is the TypeError of the descriptor.
    """

    def add(made: Callable) -> Callable:
        accepts = Signature(made).takes
        for name in names:
            RULES[cls.__dict__[name]] = _method(made, accepts, cls, name, storage)
        return made

    return add


def _method(made: Callable, accepts: Callable, cls: type, name: str, storage: type | None) -> Callable:
    wrapper = type(cls.__dict__[name]) is types.WrapperDescriptorType

    def checked(m: Machine, *args: Value, **kwargs: Value) -> Any:
        if not accepts(args, kwargs):
            return NotImplemented
        if storage is not None and not (type(args[0]) is Obj and isinstance(args[0].body, storage)):
            if not issubclass(args[0].cls, cls):
                raise m.error(TypeError, wrong_receiver(cls, name, args[0].cls, wrapper))
            return NotImplemented
        return made(m, *args, **kwargs)

    return checked


def wrong_receiver(cls: type, name: str, given: type, wrapper: bool) -> str:
    """What CPython says where a C method is called on an object of another class."""
    if wrapper:
        return f"descriptor '{name}' requires a '{type_name(cls)}' object but received a '{type_name(given)}'"
    return f"descriptor '{name}' for '{type_name(cls)}' objects doesn't apply to a '{type_name(given)}' object"
