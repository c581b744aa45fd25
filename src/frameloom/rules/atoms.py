"""Methods of the atoms' classes: run by the host where everything is known, which runs no code of the program.

What takes iterables, calls back, or makes objects (`str.join`, `str.format`, `%`, `int()`, ...) has rules of its own.
"""

from __future__ import annotations

import types
from typing import Any, Callable

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import is_graph, is_host
from frameloom.interpreter.registry import RULES
from frameloom.rules.known import plain, whole
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NOT_IMPLEMENTED, Value

CLASSES = (int, bool, float, complex, str, bytes)
OWN_RULES = frozenset(
    {
        "__new__",
        "__getattribute__",
        "__iter__",
        "__class_getitem__",
        "__init_subclass__",
        "__contains__",
        "__getitem__",
        "__mul__",
        "__rmul__",
        "__mod__",
        "__add__",
        "join",
        "format",
        "format_map",
    }
)
NUMBERS = (int, bool, float, complex)
C_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType)
REFLECTING = frozenset(
    f"__{prefix}{name}__"
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "or", "xor")
    for prefix in ("", "r")
) | {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
"""Methods that answer NotImplemented to an operand of a foreign class."""


def arguments(m: Machine, args: tuple[Value, ...]) -> list[Any] | None:
    """The host objects of arguments, or None where one is not known."""
    found = [plain(m, arg) for arg in args]
    found = [whole(m, arg) if value is MISSING else value for arg, value in zip(args, found)]
    return None if any(value is MISSING for value in found) else found


def folded(m: Machine, target: Callable, *args: Value, **kwargs: Value) -> Any:
    """`target(*args)` by the host; NotImplemented (declined) where an argument is not known."""
    known = arguments(m, args)
    named = arguments(m, tuple(kwargs.values()))
    if known is None or named is None:
        return NotImplemented
    return m.fold(target, *known, **dict(zip(kwargs, named)))


def _method_rule(descriptor: Any) -> Callable:
    reflecting = descriptor.__name__ in REFLECTING

    def rule(m: Machine, *args: Value, **kwargs: Value) -> Any:
        found = folded(m, descriptor, *args, **kwargs)
        if found is NotImplemented and reflecting and len(args) == 2 and plain(m, args[0]) is not MISSING:
            if is_graph(args[1]) or is_host(args[1]) or not issubclass(args[1].cls, CLASSES):
                return NOT_IMPLEMENTED
        return found

    return rule


def _class_method_rule(cls: type, name: str) -> Callable:
    target = getattr(cls, name)

    def rule(m: Machine, of: Value, *args: Value, **kwargs: Value) -> Any:
        if m.observe.known(of) is not cls:
            raise GraphBreak("FL102", f"{cls.__name__}.{name} of a subclass")
        return folded(m, target, *args, **kwargs)

    return rule


def _static_rule(target: Callable) -> Callable:
    return lambda m, *args, **kwargs: folded(m, target, *args, **kwargs)


for _cls in (*CLASSES, type(None), type(Ellipsis)):
    for _name, _found in _cls.__dict__.items():
        if type(_found) in C_METHODS and (_name not in OWN_RULES or _cls in NUMBERS and _name not in ("__new__", "__getattribute__")):
            RULES.setdefault(_found, _method_rule(_found))
        elif type(_found) is types.ClassMethodDescriptorType and _name not in OWN_RULES:
            RULES[_found] = _class_method_rule(_cls, _name)
        elif isinstance(_found, staticmethod):
            RULES[getattr(_cls, _name)] = _static_rule(getattr(_cls, _name))
