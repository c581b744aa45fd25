"""What the value stack holds, instruction by instruction: kinds of items, not values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .canonical import OPCODES
from .program import Instruction, Program

#: Kinds of stack items: an object; NULL; an object or NULL, whichever only running tells; the exception that was handled before the
#: one that a handler handles; the offset below an exception, as ("lasti", code unit), with None for the unit if it may be several.
VALUE, NULL, EITHER, PREVIOUS, LASTI = "value", "null", "either", "previous", "lasti"

Kind = str | tuple[str, Any]
Stack = tuple[Kind, ...]


class FlowError(Exception):
    """An instruction meets a stack that it must not meet."""


class Edge(NamedTuple):
    """One way out of an instruction: to the canonical index `target`, with `stack`, by jump if `jumps`."""

    target: int
    stack: Stack
    jumps: bool


def step(instruction: Instruction, stack: Stack) -> Stack:
    """The stack when the instruction goes on to the next one. Raises FlowError."""
    special = _SPECIAL.get(instruction.op)
    if special is not None:
        return special(instruction.arg, stack)
    pops, pushes = OPCODES[instruction.op].effect(instruction.arg)
    return _exchange(instruction.op, stack, pops, pushes)


def jumped(instruction: Instruction, stack: Stack) -> Stack:
    """The stack when the instruction jumps. Raises FlowError."""
    effect = OPCODES[instruction.op].jump
    assert effect is not None
    return _exchange(instruction.op, stack, *effect)


def leaves(program: Program, index: int, stack: Stack) -> Iterator[Edge]:
    """Every way out of the instruction at `index` but exceptions and the end of the frame."""
    instruction = program.instructions[index]
    row = OPCODES[instruction.op]
    if row.jump is not None:
        yield Edge(instruction.arg, jumped(instruction, stack), True)
    if not row.ends:
        yield Edge(index + 1, step(instruction, stack), False)


def caught(program: Program, index: int, stack: Stack) -> Edge | None:
    """The way to the handler of the instruction at `index`, if it has one. Raises FlowError."""
    handler = program.handler_at(index)
    if handler is None or program.instructions[index].op == "PUSH_EXC_INFO":
        return None  # a handler's first instruction lies in the row of its own clean-up, and never raises
    if len(stack) < handler.depth:
        raise FlowError(f"the handler wants {handler.depth} items, there are {len(stack)}")
    offset: Stack = ((LASTI, program.group_of(index).offset // 2),) if handler.lasti else ()
    return Edge(handler.target, (*stack[: handler.depth], *offset, VALUE), False)


def merge(one: Stack, other: Stack) -> Stack:
    """What is known where two paths meet. Raises FlowError for stacks that cannot meet."""
    if one == other:
        return one
    if len(one) != len(other):
        raise FlowError(f"paths meet with {len(one)} and {len(other)} items")
    return tuple(map(_merge_kind, one, other))


def _merge_kind(one: Kind, other: Kind) -> Kind:
    if one == other:
        return one
    if isinstance(one, tuple) and isinstance(other, tuple):
        return (LASTI, None)
    if isinstance(one, str) and isinstance(other, str) and PREVIOUS not in (one, other):
        return EITHER
    raise FlowError(f"{one} meets {other}")


def _exchange(op: str, stack: Stack, pops: int, pushes: int) -> Stack:
    kept = len(stack) - pops
    if kept < 0:
        raise FlowError(f"{op} wants {pops} items, there are {len(stack)}")
    for kind in stack[kept:]:
        if kind != VALUE:
            raise FlowError(f"{op} meets {kind}")
    return stack[:kept] + (VALUE,) * pushes


def _want(op: str, stack: Stack, count: int) -> None:
    if len(stack) < count:
        raise FlowError(f"{op} wants {count} items, there are {len(stack)}")


def _pop_top(arg: Any, stack: Stack) -> Stack:
    _want("POP_TOP", stack, 1)
    if stack[-1] != VALUE and not isinstance(stack[-1], tuple):
        raise FlowError(f"POP_TOP meets {stack[-1]}")
    return stack[:-1]


def _push_null(arg: Any, stack: Stack) -> Stack:
    return (*stack, NULL)


def _copy(arg: int, stack: Stack) -> Stack:
    _want("COPY", stack, arg)
    if stack[-arg] in (NULL, EITHER):
        raise FlowError(f"COPY meets {stack[-arg]}")
    return (*stack, stack[-arg])


def _swap(arg: int, stack: Stack) -> Stack:
    _want("SWAP", stack, arg)
    items = list(stack)
    items[-1], items[-arg] = items[-arg], items[-1]
    return tuple(items)


def _load_and_clear(arg: Any, stack: Stack) -> Stack:
    return (*stack, EITHER)


def _store_fast(arg: Any, stack: Stack) -> Stack:
    _want("STORE_FAST", stack, 1)
    if stack[-1] not in (VALUE, NULL, EITHER):
        raise FlowError(f"STORE_FAST meets {stack[-1]}")
    return stack[:-1]


def _method(null_first: bool) -> Stack:
    return (EITHER, VALUE) if null_first else (VALUE, EITHER)


def _load_method(arg: Any, stack: Stack) -> Stack:
    return _exchange("LOAD_METHOD", stack, 1, 0) + _method(arg[1])


def _load_super(arg: Any, stack: Stack) -> Stack:
    _, is_method, _, null_first = arg
    return _exchange("LOAD_SUPER_ATTR", stack, 3, 0) + (_method(null_first) if is_method else (VALUE,))


def _call(op: str, stack: Stack, arguments: int) -> Stack:
    below = _exchange(op, stack, arguments, 0)
    _want(op, below, 2)
    callee = below[-2:]
    if VALUE not in callee or not {*callee} <= {VALUE, NULL, EITHER}:
        raise FlowError(f"{op} meets {callee} below its arguments")
    return (*below[:-2], VALUE)


def _push_exception(arg: Any, stack: Stack) -> Stack:
    return (*_exchange("PUSH_EXC_INFO", stack, 1, 0), PREVIOUS, VALUE)


def _pop_except(arg: Any, stack: Stack) -> Stack:
    if not stack or stack[-1] != PREVIOUS:
        raise FlowError("POP_EXCEPT does not meet what PUSH_EXC_INFO pushed")
    return stack[:-1]


def _with_start(arg: Any, stack: Stack) -> Stack:
    _want("WITH_EXCEPT_START", stack, 4)
    exit_function, offset, previous, exception = stack[-4:]
    if exit_function != VALUE or not isinstance(offset, tuple) or previous != PREVIOUS or exception != VALUE:
        raise FlowError(f"WITH_EXCEPT_START meets {stack[-4:]}")
    return (*stack, VALUE)


def check_reraise(arg: int, stack: Stack) -> None:
    """RERAISE wants an offset where its argument says. Raises FlowError."""
    _exchange("RERAISE", stack, 1, 0)
    _want("RERAISE", stack, arg + 1)
    if arg and not isinstance(stack[-1 - arg], tuple):
        raise FlowError(f"RERAISE meets {stack[-1 - arg]} for an offset")


_SPECIAL: dict[str, Callable[[Any, Stack], Stack]] = {
    "POP_TOP": _pop_top,
    "PUSH_NULL": _push_null,
    "COPY": _copy,
    "SWAP": _swap,
    "LOAD_FAST_AND_CLEAR": _load_and_clear,
    "STORE_FAST": _store_fast,
    "LOAD_METHOD": _load_method,
    "LOAD_SUPER_ATTR": _load_super,
    "CALL": lambda arg, stack: _call("CALL", stack, arg[0]),
    "CALL_KW": lambda arg, stack: _call("CALL_KW", stack, arg + 1),
    "CALL_FUNCTION_EX": lambda arg, stack: _call("CALL_FUNCTION_EX", stack, 1 + arg),
    "PUSH_EXC_INFO": _push_exception,
    "POP_EXCEPT": _pop_except,
    "WITH_EXCEPT_START": _with_start,
}


def analyse(program: Program) -> tuple[Stack | None, ...]:
    """The stack before each instruction, None where no path leads. Raises FlowError, naming the instruction."""
    found: list[Stack | None] = [None] * len(program.instructions)
    found[0] = ()
    waiting = [0]
    while waiting:
        index = waiting.pop()
        stack = found[index]
        assert stack is not None
        try:
            edges = list(leaves(program, index, stack))
            handled = caught(program, index, stack)
            if handled is not None:
                edges.append(handled)
            instruction = program.instructions[index]
            if instruction.op == "RERAISE":
                check_reraise(instruction.arg, stack)
            elif OPCODES[instruction.op].ends and OPCODES[instruction.op].jump is None:
                step(instruction, stack)
            for edge in edges:
                if not 0 <= edge.target < len(found):
                    raise FlowError(f"no instruction {edge.target}")
                known = found[edge.target]
                merged = edge.stack if known is None else merge(known, edge.stack)
                if merged != known:
                    found[edge.target] = merged
                    waiting.append(edge.target)
        except FlowError as error:
            op, arg, _, position = program.instructions[index]
            raise FlowError(f"{op} {arg!r} at {index} (line {position.lineno}): {error}") from None
    return tuple(found)


def depths(program: Program) -> tuple[int | None, ...]:
    """The depth of the stack before each instruction, None where no path leads. Raises FlowError."""
    return tuple(None if stack is None else len(stack) for stack in analyse(program))
