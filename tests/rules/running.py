"""Runs a function by Python and compiled, with the entry of every frame run in replay, and compares what each call leaves."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from frameloom.codegen.plan import Break
from frameloom.compile.pipeline import Capture
from frameloom.interpreter.exits import EXCEPTION_EXIT
from frameloom.symbolic.domain import Domain

from tests.differential.compiled import Compiled

DEEPEST = 8


def whole(function: Callable, *makers: Callable, calls: int = 2, state: Callable = tuple) -> Compiled:
    """The function runs as eager does, without a break, and its entry serves the later calls.

    `makers` make the arguments of each call; `state()` is what else must be the same after each call.
    """
    compiler = compared(function, makers, calls, state)
    found = reasons(compiler)
    assert not found, f"{function.__name__} breaks with {found}"
    roots = [capture for capture in compiler.captures if capture.trace.program.code is function.__code__]
    assert len(roots) == 1, f"{function.__name__} is captured {len(roots)} times"
    raised = outcome(function, makers, state)[0][1][0][1][0] == ("str", "raised")
    assert raised == (type(roots[0].trace.exit) is Break), f"the trace of {function.__name__} ends otherwise"
    return compiler


def breaks(kind: str, function: Callable, *makers: Callable, state: Callable = tuple) -> None:
    """The function runs as eager does, with a break of this kind first."""
    found = reasons(compared(function, makers, 2, state))
    assert found and found[0].startswith(kind), f"{function.__name__} breaks with {found}"


def compared(function: Callable, makers: tuple, calls: int, state: Callable) -> Compiled:
    """Run both; AssertionError where they differ, the compiler's own error where it has one."""
    expected = [outcome(function, makers, state) for _ in range(calls)]
    compiler = Compiled(Domain(), replay=True)
    run = compiler.of(function)
    found = [outcome(run, makers, state) for _ in range(calls)]
    if compiler.faults:
        raise compiler.faults[0]
    assert found == expected, f"compiled: {found}\neager:    {expected}"
    assert compiler.captures, f"{function.__name__} was not captured"
    return compiler


def outcome(function: Callable, makers: tuple, state: Callable) -> tuple:
    """A picture of a call's result or exception, of its arguments afterwards, and of the state.  The state is taken last: to look at
    an OrderedDict asks its keys."""
    arguments = [make() for make in makers]
    try:
        result = ("returned", function(*arguments))
    except Exception as error:
        result = ("raised", error)
    seen: dict[int, tuple[int, Any]] = {}
    return picture((result, arguments), seen), picture(state(), seen)


def reasons(compiler: Compiled) -> list[str]:
    """The kinds of the graph breaks with their details, in order; exceptions that leave a frame are none."""
    exits = [capture.trace.exit for capture in compiler.captures if isinstance(capture, Capture)]
    broken = [exit_.reason for exit_ in exits if type(exit_) is Break and exit_.reason.kind != EXCEPTION_EXIT]
    return [f"{reason.kind} {reason.details}" for reason in broken]


# -- pictures --------------------------------------------------------------------------------------------------------


def picture(value: Any, seen: dict[int, tuple[int, Any]]) -> Any:
    """What a value is, in comparable form: classes, contents, and which parts are one object.  `seen` keeps what has a number, so that
    no other object gets its address."""
    cls = type(value)
    if cls in (int, str, float, bool, bytes, complex, type(None)) or isinstance(value, types.ModuleType) or _is_lasting(value):
        return (cls.__name__, value)
    if id(value) in seen:
        return ("again", seen[id(value)][0])
    seen[id(value)] = (len(seen), value)
    if len(seen) > 400:
        return cls.__qualname__
    for base, parts in PARTS.items():
        if isinstance(value, base):
            return (_known_class(cls, seen), [picture(part, seen) for part in parts(value)])
    if hasattr(value, "__dict__") and cls.__module__ not in ("builtins", "typing"):
        return (_known_class(cls, seen), [(name, picture(part, seen)) for name, part in vars(value).items()], _slots(value, seen))
    return (_known_class(cls, seen), _slots(value, seen))


def _known_class(cls: type, seen: dict) -> Any:
    return cls if _is_lasting(cls) or cls is type(None) else picture(cls, seen)


def _is_lasting(value: Any) -> bool:
    """Whether a value is a class that a module has; one that a function makes is another in each call."""
    if not isinstance(value, type) or not value.__flags__ & HEAP_TYPE:
        return isinstance(value, type)
    at: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        at = getattr(at, name, None)
    return at is value


def _of_class(value: type) -> list:
    told = [value.__name__, value.__qualname__, value.__module__, type(value), value.__bases__, value.__flags__ & ~VERSION]
    return [*told, value.__basicsize__, " ".join(vars(value)), *(part for name, part in vars(value).items() if name not in BY_C)]


HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement
VERSION = 1 << 19  # Py_TPFLAGS_VALID_VERSION_TAG
BY_C = frozenset({"__dict__", "__weakref__", "_abc_impl"})


def _slots(value: Any, seen: dict) -> list:
    names = [name for base in type(value).__mro__ for name in base.__dict__.get("__slots__", ())]
    return [(name, picture(getattr(value, name), seen)) for name in names if hasattr(value, name)]


def _of_function(value: types.FunctionType) -> list:
    cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
    named = [value.__name__, value.__qualname__, value.__doc__, value.__module__]
    return [*named, value.__defaults__, value.__kwdefaults__, value.__annotations__, vars(value), cells]


def _of_exception(value: BaseException) -> list:
    return [value.args, value.__cause__, value.__context__, value.__suppress_context__, vars(value)]


def _of_cell(value: types.CellType) -> list:
    return [] if value == types.CellType() else [value.cell_contents]


PARTS: dict[type, Callable] = {
    type: _of_class,
    tuple: list,
    list: list,
    set: lambda value: sorted(value, key=lambda member: repr(picture(member, {}))),
    dict: lambda value: [*(part for item in value.items() for part in item), getattr(value, "__dict__", None)],
    types.MappingProxyType: lambda value: [dict(value)],
    types.FunctionType: _of_function,
    types.MethodType: lambda value: [value.__func__, value.__self__],
    BaseException: _of_exception,
    types.CellType: _of_cell,
    property: lambda value: [value.fget, value.fset, value.fdel, value.__doc__],
}
