"""Compiled callables: what a user's callable becomes."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from typing import Any

from frameloom.codegen.sections import code_in_sections
from frameloom.compile import profile
from frameloom.compile.hook import NOTICES, Compiler, Settings
from frameloom.compile.locations import first_line
from frameloom.diagnostics import events
from frameloom.diagnostics.errors import NotCompilable
from frameloom.diagnostics.reports import BreakReport
from frameloom.diagnostics.stats import Stats
from frameloom.native import Callable, close_section, open_section

COMPILERS: weakref.WeakSet[Compiler] = weakref.WeakSet()
"""Every compiler that is alive, for `reset` and `stats`."""

GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
IN_C = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
        types.ClassMethodDescriptorType)


def compiled(target: Any, settings: Settings) -> Callable:
    """`target` with its frames captured.  Raises NotCompilable."""
    target = with_code(target)
    return wrap(target, new_compiler(target, settings))


def with_code(target: Any) -> Any:
    """`target`, or, for a partial of a function in C, a Python function that calls it: the call is what can be captured."""
    inner = target
    while isinstance(inner, functools.partial):
        inner = inner.func
    if inner is target or not isinstance(inner, IN_C):
        return target

    def call(*args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_name=inner.__name__, co_qualname=inner.__qualname__)
    return call


def new_compiler(target: Any, settings: Settings) -> Compiler:
    """A compiler whose root is `target`.  Raises NotCompilable for what has no Python code that could be captured."""
    code = root_code(target)
    compiler = Compiler(settings)
    if code is not None:
        compiler.root(code)
        if code.co_flags & GENERATOR_FLAGS:
            events.eager(BreakReport.of("FL908", (first_line(code),), "keeps its own code; what it calls is captured"))
    COMPILERS.add(compiler)
    return compiler


def root_code(target: Any) -> types.CodeType | None:
    """The code of the function that calling `target` runs first, None where only a call can tell.  Raises NotCompilable."""
    if not callable(target):
        raise NotCompilable(f"{_a(type(target))} cannot be called: give a function, method, module, partial or callable object")
    if isinstance(target, type):
        raise NotCompilable(f"class {target.__qualname__} itself is not compiled; decorate its forward or __call__ method")
    if isinstance(target, IN_C):
        name = target.__name__ if target.__qualname__.startswith("_") else target.__qualname__
        raise NotCompilable(f"{name} is implemented in C: there is no Python code to capture")
    if isinstance(target, functools.partial):
        return None if with_code(target) is not target else root_code(target.func)
    if isinstance(target, Callable):
        return root_code(target.__wrapped__)
    if isinstance(target, types.MethodType):
        return root_code(target.__func__)
    if isinstance(target, types.FunctionType):
        return target.__code__
    called = getattr(type(target), "__call__", None)
    return called.__code__ if isinstance(called, types.FunctionType) else None


def note_disabled(target: Any) -> None:
    """The user asked with `disable=True` that `target` runs as it is: counted, but no news to the user.  Raises NotCompilable."""
    code = root_code(target)
    chain = () if code is None else (first_line(code),)
    events.eager(BreakReport.of("FL911", chain, "disable=True"), tell=False)


def _a(cls: type) -> str:
    return "None" if cls is type(None) else f"an object of class {cls.__qualname__}"


def unwrapped(target: Any) -> Any:
    """What a compiled or disabled callable wraps; anything else as it is."""
    while isinstance(target, Callable):
        target = target.__wrapped__
    return target


def wrap(target: Any, compiler: Compiler | None) -> Callable:
    """A callable object that calls `target` under a compiler, or with nothing captured below; it looks like the function."""
    function = unwrapped(target)
    made = Callable(function, None if compiler is None else compiler.engine)
    if compiler is not None and _is_generator(function):
        code = function.__code__
        made.in_sections = code, code_in_sections(code, weakref.ref(compiler.engine), open_section, close_section)
    for name in functools.WRAPPER_ASSIGNMENTS:
        try:
            setattr(made, name, getattr(target, name))
        except AttributeError:
            pass  # a partial or an instance has no name of its own
    vars(made).update(_attributes_of(target))
    return made


def _is_generator(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and bool(function.__code__.co_flags & GENERATOR_FLAGS)


def _attributes_of(target: Any) -> dict:
    return vars(target) if isinstance(target, types.FunctionType) else {}


def count_eager_runs(stats: Stats) -> None:
    """Add what was counted in C to the counters that the user is given."""
    for compiler in list(COMPILERS):
        counted = compiler.engine.counters()
        for kind, code in NOTICES.items():
            if counted[kind]:
                stats.eager[code] += counted[kind]


def reset() -> None:
    """Forget every entry, record, counter and announcement."""
    for compiler in list(COMPILERS):
        compiler.reset()
    profile.forget()
    events.reset()
