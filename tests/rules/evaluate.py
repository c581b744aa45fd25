"""Runs a function eagerly and symbolically and compares: result, exception, and the state of the arguments afterwards.

What a trace gives is turned into real objects by the very layouts and replays that write output code; here their
instructions run at once, on a small stack machine.
"""

from __future__ import annotations

import copy
import math
from typing import Any, Callable, NamedTuple

import frameloom.interpreter.opcodes  # noqa: F401  registers the handlers
import frameloom.rules  # noqa: F401  registers the rules
from frameloom.codegen.build import Builder, Reached
from frameloom.interpreter.calls import enter_root
from frameloom.interpreter.loop import run
from frameloom.interpreter.machine import Machine
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.layouts import REPLAYS, layout_of
from frameloom.symbolic.session import Session
from frameloom.symbolic.signals import Suspend
from frameloom.symbolic.source import Scope
from frameloom.symbolic.values import INPUT, Node, Value


class Broke(AssertionError):
    """The trace broke where the test expects it to run to its end."""


class Stack:
    """An emitter whose instructions run at once."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.stack: list[Any] = []
        self.slots: dict[Any, Any] = dict(scope.locals)
        self.count = 0

    def temporary(self) -> int:
        self.count += 1
        return self.count

    def load_fast(self, slot: Any) -> None:
        self.stack.append(self.slots[slot])

    def store_fast(self, slot: Any) -> None:
        self.slots[slot] = self.stack.pop()

    def load_global(self, name: str) -> None:
        self.stack.append(self.scope.globals.get(name, self.scope.builtins.get(name)))

    def load_closure(self, name: str) -> None:
        self.stack.append(self.scope.closure[name])

    def load_const(self, value: Any) -> None:
        self.stack.append(value)

    load_callable_const = begin_call = load_const

    def call(self, count: int) -> None:
        arguments = self._pop(count)
        self.stack.append(self.stack.pop()(*arguments))

    def call_constant_under(self, function: Callable, *arguments: Any) -> None:
        self.stack.append(function(self.stack.pop(), *arguments))

    def load_attr(self, name: str) -> None:
        self.stack.append(getattr(self.stack.pop(), name))

    def pop_top(self) -> None:
        self.stack.pop()

    def copy(self) -> None:
        self.stack.append(self.stack[-1])

    def build_tuple(self, count: int) -> None:
        self.stack.append(tuple(self._pop(count)))

    def build_list(self, count: int) -> None:
        self.stack.append(self._pop(count))

    def build_map(self, count: int) -> None:
        flat = self._pop(2 * count)
        self.stack.append(dict(zip(flat[::2], flat[1::2])))

    def _pop(self, count: int) -> list[Any]:
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken


class Trace(NamedTuple):
    """A trace that ran to its end."""

    session: Session
    result: Value
    scope: Scope


def scope_of(function: Callable, arguments: tuple) -> Scope:
    code = function.__code__
    names = dict(zip(code.co_varnames, arguments))
    closure = dict(zip(code.co_freevars, function.__closure__ or ()))
    return Scope(names, closure, function.__globals__, __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__))


def capture(function: Callable, arguments: tuple, domain: Domain | None = None) -> Trace:
    """Trace a call; raises Broke with the reason where the trace stops before its end."""
    session = Session(domain or Domain())
    session.machine = Machine(session)
    frame = enter_root(session.machine, function, function.__code__, arguments)
    try:
        run(session, frame)
    except Suspend as stopped:
        raise Broke(f"{stopped.reason[:2]} in {[f.program.code.co_name for f in stopped.chain]}") from None
    return Trace(session, frame.result, scope_of(function, arguments))


def perform(trace: Trace) -> Any:
    """Do what the output code of a trace does; gives its result."""
    session = trace.session
    stack = Stack(trace.scope)
    reached = Reached()
    reached.add([trace.result])
    for operation in session.operations:
        parts = operation.arguments if operation.target is None else (operation.target, *operation.arguments)
        reached.add(part for part in parts if isinstance(part, (Value, list, tuple)))
    hosts = [node for node in session.nodes if node.tape == "host" and node.target is not INPUT]
    reached.add(hosts)
    for obj in reached.fresh:
        if layout_of(obj.cls).is_bound(obj):
            raise Broke(f"FL504 {obj!r} outlives the trace")
    build = Builder(stack, None, list(reached.sources))
    for source in reached.sources:
        build.hold_source(source)
    for node in hosts:
        _compute(build, node)
    build.make(reached.fresh)
    for operation in session.operations:
        REPLAYS[operation.kind].emit(build, operation.target, *operation.arguments)
    build.load(trace.result)
    return stack.stack.pop()


def _compute(build: Builder, node: Node) -> None:
    fresh = Reached()
    fresh.add([*node.args, *node.kwargs.values()])
    build.make(fresh.fresh)
    stack = build.out
    for value in (*node.args, *node.kwargs.values()):
        build.load(value)
    given = stack._pop(len(node.args) + len(node.kwargs))
    named = dict(zip(node.kwargs, given[len(node.args):]))
    stack.load_const(node.target(*given[: len(node.args)], **named))
    build.hold(node)


def told(function: Callable, *arguments: Any) -> Any:
    """Called inside the trace: the outcome of `function` as a tuple."""
    try:
        return "returned", function(*arguments)
    except Exception as error:  # noqa: BLE001
        return "raised", type(error), error.args


def symbolic(function: Callable, arguments: tuple, domain: Domain | None = None) -> tuple:
    """The outcome of tracing a call and doing what the trace says, in the form of `told`."""
    return perform(_traced(function, arguments, domain))


def _traced(function: Callable, arguments: tuple, domain: Domain | None) -> Trace:
    names = [f"a{i}" for i in range(len(arguments))]
    text = f"def root({', '.join(names)}):\n    return told({', '.join(['function', *names])})"
    space = {"told": told, "function": function}
    exec(text, space)
    return capture(space["root"], arguments, domain)


def check(function: Callable, *arguments: Any) -> None:
    """Assert that a function does symbolically what it does eagerly.  `arguments` are copied for each run."""
    first, second = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected = told(function, *first)
    found = symbolic(function, second)
    differing = difference((found, second), (expected, first))
    assert not differing, differing


def breaks(function: Callable, *arguments: Any) -> str:
    """Assert that tracing breaks; gives the reason."""
    try:
        made = symbolic(function, copy.deepcopy(arguments))
    except Broke as broke:
        return str(broke)
    raise AssertionError(f"no break, but {made!r}")


def difference(found: Any, expected: Any, path: str = "") -> str:
    """Where two outcomes differ first, or an empty string."""
    if same(found, expected):
        return ""
    if type(found) is type(expected) and type(found) in (list, tuple) and len(found) == len(expected):
        for at, (a, b) in enumerate(zip(found, expected)):
            if not same(a, b):
                return difference(a, b, f"{path}[{at}]")
    return f"at {path}: traced {found!r}, eager {expected!r}"


# -- comparison ------------------------------------------------------------------------------------------------------


def same(a: Any, b: Any, seen: frozenset = frozenset()) -> bool:
    """Equality of type, value, order and shape, down into containers; iterators by what they still give."""
    if type(a) is not type(b):
        return False
    if (id(a), id(b)) in seen:
        return True
    seen |= {(id(a), id(b))}
    compare = COMPARE.get(type(a)) or next((COMPARE[base] for base in type(a).__mro__ if base in COMPARE), None)
    if compare is not None and not compare(a, b, seen):
        return False
    if compare is None and hasattr(type(a), "__next__"):
        return same(list(a), list(b), seen)
    if hasattr(a, "__dict__") and not callable(a):
        return same(vars(a), vars(b), seen)
    return compare is not None or a is b or a == b or not hasattr(type(a), "__eq__")


def _mappings(a: dict, b: dict, seen: frozenset) -> bool:
    pairs = list(zip(a.keys(), b.keys()))
    return len(a) == len(b) and all(same(i, j, seen) and same(dict.get(a, i), dict.get(b, j), seen) for i, j in pairs)


def _floats(a: float, b: float, seen: frozenset) -> bool:
    return a == b and math.copysign(1, a) == math.copysign(1, b) or a != a and b != b


def _exceptions(a: BaseException, b: BaseException, seen: frozenset) -> bool:
    return same(a.args, b.args, seen)


COMPARE: dict[type, Callable] = {
    list: lambda a, b, seen: len(a) == len(b) and all(same(i, j, seen) for i, j in zip(list.__iter__(a), list.__iter__(b))),
    tuple: lambda a, b, seen: len(a) == len(b) and all(same(i, j, seen) for i, j in zip(tuple.__iter__(a), tuple.__iter__(b))),
    dict: _mappings,
    set: lambda a, b, seen: a == b and same(list(a), list(b), seen),
    frozenset: lambda a, b, seen: a == b and same(list(a), list(b), seen),
    float: _floats,
    int: lambda a, b, seen: int(a) == int(b),
    str: lambda a, b, seen: str.__eq__(a, b),
    slice: lambda a, b, seen: same((a.start, a.stop, a.step), (b.start, b.stop, b.step), seen),
    BaseException: _exceptions,
    type: lambda a, b, seen: a is b,
}
