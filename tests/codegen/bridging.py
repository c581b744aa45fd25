"""Forwarding through calls: where an instruction would run a Python function of the corpus, its frame is suspended behind a bridge,
and the function itself is stopped at every instruction.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from frameloom.bytecode.decode import decode
from frameloom.bytecode.program import Instruction
from frameloom.codegen.bridge import bridge_code
from frameloom.codegen.resume import Shape, State, origin_of, state_of
from tests.codegen.forwarding import RUNTIME, Forwarding, Tail, remade, verified

NULL = object()


class Inner(NamedTuple):
    """A Python function that an instruction runs: how the instruction waits for it, how many operands it takes off the stack, what
    else lies on the stack while it waits, and the values that the link wants."""

    link: str
    operands: int
    function: FunctionType
    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = {}
    left: tuple[Any, ...] = ()
    values: tuple[Any, ...] = ()


class Bridging(Forwarding):
    """Stops everywhere; `bridges` counts the bridges by link, `deepest` how deep they were nested.

    Bridges wait for a result; if `joined` they are left when the inner frame has left a record, and stopped in what goes on there. The code
    that goes on with both in the `whole`-th place runs as it is made.
    """

    def __init__(self, joined: bool = False, whole: int | None = None) -> None:
        super().__init__(lambda state: True)
        self.joined = joined
        self.whole = whole
        self.waited: list[str] = []
        self.bridges: dict[str, int] = {}
        self.deepest = 0
        self._depth = 0

    def follow(self, function: FunctionType, arguments: list[Any]) -> tuple[FunctionType, list[Any]]:
        state = state_of(function.__code__)
        origin = origin_of(function.__code__)
        assert state is not None and origin is not None
        if origin.waits is not None:
            return self._go_on(state, origin.waits.link, function, arguments)
        stack = _stack(state.shape, arguments[-1])
        instruction = decode(state.code).instructions[state.index]
        find = FIND.get(instruction.op)
        inner = find(instruction, stack) if find is not None else None
        if inner is None or not _in_corpus(inner.function):
            return super().follow(function, arguments)
        self.bridges[inner.link] = self.bridges.get(inner.link, 0) + 1
        return self._bridge(state, function, arguments, stack, inner)

    def _go_on(self, state: State, link: str, function: FunctionType, arguments: list[Any]) -> tuple[FunctionType, list[Any]]:
        """Behind a bridge that was left: by another bridge, or as it is made."""
        verified(function.__code__)
        self.waited.append(link)
        if len(self.waited) - 1 == self.whole:
            return function, arguments
        *held, (inner, *given) = arguments[-1]
        inner, given = self.follow(inner, given)
        code = bridge_code(*state, link, RUNTIME, True)
        verified(code)
        return remade(code, function), [*arguments[:-1], (*held, Tail(inner, *given))]

    def _bridge(
        self, state: State, function: FunctionType, arguments: list[Any], stack: list[Any], inner: Inner
    ) -> tuple[FunctionType, list[Any]]:
        kept = len(stack) - inner.operands
        shape = Shape((*state.shape.stack[:kept], *["value"] * len(inner.left)), state.shape.slots)
        code = bridge_code(state.code, state.index, shape, inner.link, RUNTIME, self.joined)
        verified(code)
        held = [item for item, kind in zip(stack[:kept], shape.stack) if kind in ("value", "previous")]
        call = self.begin(inner.function, inner.arguments, inner.keywords)
        if not self.joined:
            call = Tail(self.count_depth, call)
        return remade(code, function), [*arguments[:-1], (*held, *inner.left, *inner.values, call)]

    def count_depth(self, record: tuple[Any, ...]) -> Any:
        """The innermost call of a bridge: nested bridges are within it."""
        self._depth += 1
        self.deepest = max(self.deepest, self._depth)
        try:
            return trampoline(*record)
        finally:
            self._depth -= 1


def trampoline(*record: Any) -> Any:
    return RUNTIME.trampoline(*record)


def _in_corpus(function: Any) -> bool:
    return (
        type(function) is FunctionType
        and not inspect.isgeneratorfunction(function)
        and "corpus" in function.__code__.co_filename
        and function.__globals__.get("__name__", "").startswith("tests.corpus.")
    )


def _stack(shape: Shape, held: tuple[Any, ...]) -> list[Any]:
    items = iter(held)
    return [next(items) if kind in ("value", "previous") else NULL for kind in shape.stack]


def _called(lower: Any, upper: Any, arguments: list[Any]) -> tuple[Any, list[Any]]:
    if lower is NULL:
        callee = upper
    elif upper is NULL:
        callee = lower
    else:
        callee, arguments = lower, [upper, *arguments]
    if type(callee) is MethodType:
        return callee.__func__, [callee.__self__, *arguments]
    return callee, arguments


def _call(instruction: Instruction, stack: list[Any]) -> Inner | None:
    argc, names = instruction.arg
    return _of_call(stack, argc, names, argc + 2)


def _call_kw(instruction: Instruction, stack: list[Any]) -> Inner | None:
    return _of_call(stack[:-1], instruction.arg, stack[-1], instruction.arg + 3)


def _of_call(stack: list[Any], argc: int, names: tuple[str, ...], operands: int) -> Inner | None:
    lower, upper, *given = stack[len(stack) - argc - 2 :]
    keywords = dict(zip(names, given[len(given) - len(names) :]))
    callee, arguments = _called(lower, upper, given[: len(given) - len(names)])
    if callee is len:
        return Inner("count", operands, getattr(type(arguments[0]), "__len__", None), tuple(arguments))
    if isinstance(callee, type) and type(callee) is type and callee.__new__ is object.__new__:
        new = object.__new__(callee)
        return _fitting(Inner("value", operands, callee.__init__, (new, *arguments), keywords, values=(new,)))
    return _fitting(Inner("result", operands, callee, tuple(arguments), keywords))


def _fitting(inner: Inner) -> Inner | None:
    """A call with the wrong arguments fails in the caller, before there is an inner frame."""
    if type(inner.function) is not FunctionType:
        return None
    try:
        inspect.signature(inner.function).bind(*inner.arguments, **inner.keywords)
    except TypeError:
        return None
    return inner


def _special(name: str, link: str, operands: int, owner: int, *others: int) -> Callable[[Instruction, list[Any]], Inner | None]:
    """An instruction that runs a special method of the item `owner` with the items `others`, counted from the top (-1)."""

    def find(instruction: Instruction, stack: list[Any]) -> Inner | None:
        method = getattr(type(stack[owner]), name, None)
        return Inner(link, operands, method, (stack[owner], *(stack[other] for other in others)))

    return find


def _truth(operands: int) -> Callable[[Instruction, list[Any]], Inner | None]:
    def find(instruction: Instruction, stack: list[Any]) -> Inner | None:
        kind = type(stack[-1])
        for name, link in (("__bool__", "bool"), ("__len__", "length")):
            if hasattr(kind, name):
                return Inner(link, operands, getattr(kind, name), (stack[-1],))
        return None

    return find


def _contains(instruction: Instruction, stack: list[Any]) -> Inner | None:
    method = getattr(type(stack[-1]), "__contains__", None)
    return Inner("not" if instruction.arg else "truth", 2, method, (stack[-1], stack[-2]))


def _added(instruction: Instruction, stack: list[Any]) -> Inner | None:
    a, b = stack[-2:]
    if instruction.arg not in ("+", "+="):
        return None
    tries = [(getattr(type(a), "__add__", None), a, b), (getattr(type(b), "__radd__", None), b, a)][: 2 - (type(a) is type(b))]
    if instruction.arg == "+=":
        tries.insert(0, (getattr(type(a), "__iadd__", None), a, b))
    text = f"unsupported operand type(s) for {instruction.arg}: '{type(a).__name__}' and '{type(b).__name__}'"
    return _asked([one for one in tries if one[0] is not None], "operand", text)


COMPARISONS = {"==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"), "<": ("__lt__", "__gt__")}


def _compared(instruction: Instruction, stack: list[Any]) -> Inner | None:
    a, b = stack[-2:]
    symbol = instruction.arg[0]
    if symbol not in COMPARISONS:
        return None
    left, right = COMPARISONS[symbol]
    tries = [(getattr(type(a), left), a, b), (getattr(type(b), right), b, a)]
    tries = [one for one in tries if one[0] not in (object.__eq__, object.__lt__, object.__gt__)]
    otherwise: Any = (a is b) is (symbol == "==")
    if symbol == "<":
        otherwise = f"'<' not supported between instances of '{type(a).__name__}' and '{type(b).__name__}'"
    if tries and tries[0][0] is object.__ne__:
        return _asked([(type(a).__eq__, a, b), *tries[1:]], "unequal", otherwise)
    return _asked(tries, "operand", otherwise)


def _asked(tries: list[tuple], link: str, otherwise: Any) -> Inner | None:
    """The first of several methods."""
    if not tries:
        return None
    (function, *arguments), *rest = tries
    return Inner(link + " then" * len(rest), 2, function, tuple(arguments), values=(otherwise, *(value for one in reversed(rest) for value in one)))


def _formatted(instruction: Instruction, stack: list[Any]) -> Inner | None:
    conversion, with_spec = instruction.arg
    if with_spec:
        return None if conversion else Inner("format", 2, getattr(type(stack[-2]), "__format__", None), tuple(stack[-2:]))
    return _converted(instruction._replace(arg=conversion), stack)


def _converted(instruction: Instruction, stack: list[Any]) -> Inner | None:
    kind = instruction.arg
    return Inner(kind, 1, getattr(type(stack[-1]), f"__{kind}__"), (stack[-1],)) if kind in ("str", "repr") else None


def _attribute(instruction: Instruction, stack: list[Any]) -> Inner | None:
    name = instruction.arg if instruction.op == "LOAD_ATTR" else instruction.arg[0]
    found = getattr(type(stack[-1]), name, None)
    return Inner("result", 1, found.fget, (stack[-1],)) if type(found) is property else None


def _store_attribute(instruction: Instruction, stack: list[Any]) -> Inner | None:
    return Inner("drop", 2, type(stack[-1]).__setattr__, (stack[-1], instruction.arg, stack[-2]))


def _enter(instruction: Instruction, stack: list[Any]) -> Inner | None:
    manager = stack[-1]
    kind = type(manager)
    if not hasattr(kind, "__exit__"):
        return None
    return Inner("result", 1, kind.__enter__, (manager,), left=(manager.__exit__,))


def _exit(instruction: Instruction, stack: list[Any]) -> Inner | None:
    leave, error = stack[-4], stack[-1]
    if type(leave) is not MethodType:
        return None
    return Inner("result", 0, leave.__func__, (leave.__self__, type(error), error, error.__traceback__))


FIND: dict[str, Callable[[Instruction, list[Any]], Inner | None]] = {
    "CALL": _call,
    "CALL_KW": _call_kw,
    "TO_BOOL": _truth(1),
    "JUMP_IF_TRUE_OR_POP": _truth(0),
    "JUMP_IF_FALSE_OR_POP": _truth(0),
    "FOR_ITER": _special("__next__", "next", 0, -1),
    "GET_ITER": _special("__iter__", "iterator", 1, -1),
    "BINARY_OP": _added,
    "COMPARE_OP": _compared,
    "FORMAT_VALUE": _formatted,
    "CONVERT_VALUE": _converted,
    "BINARY_SUBSCR": _special("__getitem__", "result", 2, -2, -1),
    "STORE_SUBSCR": _special("__setitem__", "drop", 3, -2, -1, -3),
    "CONTAINS_OP": _contains,
    "LOAD_ATTR": _attribute,
    "LOAD_METHOD": _attribute,
    "STORE_ATTR": _store_attribute,
    "BEFORE_WITH": _enter,
    "WITH_EXCEPT_START": _exit,
}
