"""The tables of the interpreter: opcode handlers, rules for known callables, and refusals.

Opcodes are keyed by canonical name, rules by the callable itself (a built-in function, a method descriptor, a class) or, for
Python functions, by their code object.  What is refused stands in a table too, with the code of the break it causes.
"""

from __future__ import annotations

import types
from typing import Any, Callable, NamedTuple

HANDLERS: dict[str, Callable] = {}
"""canonical opcode -> handler(frame, arg)"""

REFUSALS: dict[str, "Refusal"] = {}
"""canonical opcode -> why it breaks"""

RULES: dict[Any, Callable] = {}
"""callable -> rule(call, *args, **kwargs) -> Value"""

WAITING: dict[Any, Callable] = {}
"""callable -> rule(m, link, *args, **kwargs): as in RULES, where the calling instruction can wait for what the rule calls last; it may
give NotImplemented for the other rule"""

CODE_RULES: dict[types.CodeType, Callable] = {}
"""code object of a Python function -> rule"""

NAMED_RULES: dict[str, tuple[str, Callable]] = {}
"""qualified name of a Python function -> (its module, rule): for functions of modules that may not be imported"""

WRAPPERS: dict[str, "Wrapper"] = {}
"""qualified name of a Python closure that calls the function in a free variable and does nothing else that matters"""

REFUSED: dict[Any, "Refusal"] = {}
"""callable -> why a call of it breaks"""

REFUSED_MODULES: dict[str, str] = {}
"""module -> the FL code of a break in it: its Python functions are not inlined, and neither are those of modules below it"""

REFUSED_INSTANCES: dict[type, tuple[str, str]] = {}
"""class -> the FL codes of a break at whatever C code of its instances, and of those of subclasses, has no rule"""

INLINED: set[types.CodeType] = set()
"""code objects of functions that are inlined although their module is refused"""

POLYFILLS: dict[Any, Callable] = {}
"""callable -> plain Python function of the same meaning, traced in its place"""

ITERATORS: dict[type, Callable] = {}
"""iterator class -> next(session, obj) -> Value or None when exhausted"""


class Wrapper(NamedTuple):
    """See `see_through`."""

    module: str
    variable: str
    inside: str


class Refusal(NamedTuple):
    """kind: the FL code; because: one clause."""

    kind: str
    because: str


def opcode(*names: str) -> Callable:
    """Decorator: the function handles these canonical opcodes."""

    def add(function: Callable) -> Callable:
        for name in names:
            HANDLERS[name] = function
        return function

    return add


def refuse_opcode(kind: str, because: str, *names: str) -> None:
    """These canonical opcodes break."""
    for name in names:
        REFUSALS[name] = Refusal(kind, because)


def rule(*callables: Any) -> Callable:
    """Decorator: the function says what calling these callables means.

    It gets the `Call` and the arguments as Values; it finishes or leaves no trace (raises GraphBreak or SymbolicRaise).
    """

    def add(function: Callable) -> Callable:
        for target in callables:
            if isinstance(target, types.FunctionType):
                CODE_RULES[code_of_its_own(target)] = function
            else:
                RULES[target] = function
        return function

    return add


def code_of_its_own(function: types.FunctionType) -> types.CodeType:
    """The code of a function that no other function has.  Raises TypeError for a closure: what wraps others shares its code with all."""
    if function.__code__.co_freevars not in ((), ("__class__",)):  # that one is a method's, for super()
        raise TypeError(f"{function.__module__}.{function.__qualname__} is a closure; a rule for it would be one for every closure of its code")
    return function.__code__


def named_rule(module: str, *qualnames: str) -> Callable:
    """Decorator: the function is the rule of these Python functions of a module, which is not imported for it."""

    def add(function: Callable) -> Callable:
        for qualname in qualnames:
            NAMED_RULES[qualname] = (module, function)
        return function

    return add


def see_through(module: str, qualname: str, variable: str, inside: str = "") -> None:
    """Calls of this closure are calls of the function in its free variable: what else it does concerns nobody here.

    inside: only around functions of modules in this package.
    """
    WRAPPERS[qualname] = Wrapper(module, variable, inside)


def method(cls: type, *names: str) -> Callable:
    """Decorator: the function is the rule of these C methods of a class; the receiver is its first argument."""
    return rule(*(cls.__dict__[name] for name in names))


def refuse(kind: str, because: str, *callables: Any) -> None:
    """Calls of these break."""
    for target in callables:
        REFUSED[target] = Refusal(kind, because)


def refuse_module(kind: str, *names: str, but: tuple = ()) -> None:
    """Break at calls of Python functions of these modules and of those below them, except the functions `but` and
    what is defined in them."""
    for name in names:
        REFUSED_MODULES[name] = kind
    for function in but:
        _inline(function.__code__)
    _kinds.clear()


def _inline(code: types.CodeType) -> None:
    INLINED.add(code)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            _inline(inner)


def refuse_instances(kind: str, *classes: type, of_subclasses: str | None = None) -> None:
    """Break with this kind where C code of an instance of these classes, or of a subclass, has no rule.

    of_subclasses: another kind for instances of subclasses.
    """
    for cls in classes:
        REFUSED_INSTANCES[cls] = (kind, of_subclasses or kind)


def kind_of_module(name: Any) -> str | None:
    """The FL code that breaks in a module have, None for a module without one of its own."""
    if type(name) is not str:
        return None
    if name not in _kinds:
        _kinds[name] = _kind_of_module(name)
    return _kinds[name]


def _kind_of_module(name: str) -> str | None:
    while name:
        if name in REFUSED_MODULES:
            return REFUSED_MODULES[name]
        name = name.rpartition(".")[0]
    return None


_kinds: dict[str, str | None] = {}


def kind_of_class(cls: type, otherwise: str) -> str:
    """The FL code of a break at C code of an instance of `cls`."""
    for base in type.__dict__["__mro__"].__get__(cls):
        kinds = REFUSED_INSTANCES.get(base)
        if kinds is not None:
            return kinds[base is not cls]
        kind = kind_of_module(type.__dict__["__module__"].__get__(base))
        if kind is not None:
            return kind
    return otherwise


def polyfill(*callables: Any) -> Callable:
    """Decorator: the plain Python function is traced in place of these."""

    def add(function: Callable) -> Callable:
        for target in callables:
            POLYFILLS[target] = function
        return function

    return add


def advances(*classes: type) -> Callable:
    """Decorator: the function takes the next item of these iterators: next(session, obj) -> Value, or None at the end."""

    def add(function: Callable) -> Callable:
        for cls in classes:
            ITERATORS[cls] = function
        return function

    return add
