"""What the value stack holds, instruction by instruction, and which slots: kinds of items, not values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .canonical import OPCODES
from .program import Handler, Instruction, Program
from .slots import argument_count

#: Kinds of stack items: an object; NULL; an object or NULL, whichever only running tells; the exception that was handled before the
#: one that a handler handles; the offset below an exception, as ("lasti", code unit), with None for the unit if it may be several. An
#: offset that generated code loads itself is an object like others.
VALUE, NULL, EITHER, PREVIOUS, LASTI = "value", "null", "either", "previous", "lasti"

Kind = str | tuple[str, Any]
Stack = tuple[Kind, ...]


class FlowError(Exception):
    """An instruction meets a stack that it must not meet."""


class Edge(NamedTuple):
    """The way to a handler: the canonical index, and the stack there."""

    target: int
    stack: Stack


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


def handler_of(program: Program, index: int) -> Handler | None:
    """Where an exception of the instruction at `index` goes, None if it leaves the frame or there can be none."""
    if program.instructions[index].op == "PUSH_EXC_INFO":
        return None  # it never raises; yet it lies in the row of the clean-up behind it, with a depth that fits later
    return program.handler_at(index)


def caught(program: Program, index: int, stack: Stack) -> Edge | None:
    """The way to the handler of the instruction at `index`, if it has one. Raises FlowError."""
    handler = handler_of(program, index)
    if handler is None:
        return None
    if len(stack) < handler.depth:
        raise FlowError(f"the handler wants {handler.depth} items, there are {len(stack)}")
    offset: Stack = ((LASTI, program.group_of(index).offset // 2),) if handler.lasti else ()
    return Edge(handler.target, (*stack[: handler.depth], *offset, VALUE))


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
    if isinstance(one, tuple) or isinstance(other, tuple):
        return VALUE if VALUE in (one, other) else (LASTI, None)
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
    if isinstance(stack[-1], tuple):
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


def _may_be_offset(kind: Kind) -> bool:
    return kind == VALUE or isinstance(kind, tuple)


def _with_start(arg: Any, stack: Stack) -> Stack:
    _want("WITH_EXCEPT_START", stack, 4)
    exit_function, offset, previous, exception = stack[-4:]
    if exit_function != VALUE or not _may_be_offset(offset) or previous != PREVIOUS or exception != VALUE:
        raise FlowError(f"WITH_EXCEPT_START meets {stack[-4:]}")
    return (*stack, VALUE)


def check_reraise(arg: int, stack: Stack) -> None:
    """RERAISE wants an offset where its argument says. Raises FlowError."""
    _exchange("RERAISE", stack, 1, 0)
    _want("RERAISE", stack, arg + 1)
    if arg and not _may_be_offset(stack[-1 - arg]):
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


class State(NamedTuple):
    """What is known before an instruction: the stack, and as a bit mask the slots that are bound on every path."""

    stack: Stack
    bound: int


def analyse(program: Program, bound: Iterable[int] = ()) -> tuple[State | None, ...]:
    """The state before each instruction, None where no path leads. `bound` are slots that hold something from the start besides the
    arguments. Raises FlowError, naming the instruction."""
    found: list[State | None] = [None] * len(program.instructions)
    found[0] = State((), (1 << argument_count(program.code)) - 1 | sum(1 << slot for slot in bound))
    waiting = [0]
    while waiting:
        index = waiting.pop()
        state = found[index]
        assert state is not None
        try:
            for target, reached in _leaves(program, index, state):
                if not 0 <= target < len(found):
                    raise FlowError(f"no instruction {target}")
                known = found[target]
                if known is not None:
                    reached = State(merge(known.stack, reached.stack), known.bound & reached.bound)
                if reached != known:
                    found[target] = reached
                    waiting.append(target)
        except FlowError as error:
            op, arg, _, position = program.instructions[index]
            raise FlowError(f"{op} {arg!r} at {index} (line {position.lineno}): {error}") from None
    return tuple(found)


def _leaves(program: Program, index: int, state: State) -> Iterator[tuple[int, State]]:
    instruction = program.instructions[index]
    stack, bound = state
    row = OPCODES[instruction.op]
    after = _bound_after(program, instruction, state)
    if row.jump is not None:
        yield instruction.arg, State(jumped(instruction, stack), after)
    if not row.ends:
        yield index + 1, State(_step_with_slots(instruction, state), after)
    elif row.jump is None:
        check_reraise(instruction.arg, stack) if instruction.op == "RERAISE" else step(instruction, stack)
    caught_here = caught(program, index, stack)
    if caught_here is not None:
        yield caught_here.target, State(caught_here.stack, bound)


def _step_with_slots(instruction: Instruction, state: State) -> Stack:
    if instruction.op == "LOAD_FAST_AND_CLEAR" and state.bound >> instruction.arg & 1:
        return (*state.stack, VALUE)
    return step(instruction, state.stack)


def _bound_after(program: Program, instruction: Instruction, state: State) -> int:
    op, arg, _, _ = instruction
    if op == "COPY_FREE_VARS":
        return state.bound | ((1 << arg) - 1) << (len(program.slots) - arg)
    if op in _BINDING or (op == "STORE_FAST" and state.stack[-1:] in ((VALUE,), (PREVIOUS,))):
        return state.bound | 1 << arg
    if op in _UNBINDING:
        return state.bound & ~(1 << arg)
    return state.bound


_BINDING = frozenset({"MAKE_CELL", "LOAD_FAST"})
_UNBINDING = frozenset({"STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR"})


def depths(program: Program) -> tuple[int | None, ...]:
    """The depth of the stack before each instruction, None where no path leads. Raises FlowError."""
    return tuple(None if state is None else len(state.stack) for state in analyse(program))
