"""A plan as text, for people and golden files."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from frameloom.codegen.plan import Break, FrameState, Plan, Return
from frameloom.codegen.written import written
from frameloom.symbolic.graph import Operation
from frameloom.symbolic.layouts import layout_of
from frameloom.symbolic.literals import literal
from frameloom.symbolic.values import ABSENT, INPUT, Const, Lazy, Marker, Node, Obj, Previous, Value


def render(plan: Plan) -> str:
    """The whole plan, a section for each stage that does something."""
    sections = {
        "before": "\n".join(_host(node) for node in plan.before),
        "graph": graph_text(plan),
        "after": "\n".join(_host(node) for node in plan.after),
        "fresh": "\n".join(_made(obj, plan) for obj in plan.fresh),
        "effects": effects_text(plan),
        "exit": exit_text(plan.exit, plan),
    }
    return "\n".join(f"{title}\n{_indented(text)}" for title, text in sections.items() if text)


def graph_text(plan: Plan) -> str:
    """The call of the graph: what goes in and what comes out."""
    if plan.graph is None:
        return ""
    inputs = ", ".join(show(value, plan) for value in plan.graph.inputs)
    outputs = ", ".join(show(node, plan) for node in plan.graph.outputs)
    return f"{outputs or '-'} = graph({inputs})"


def effects_text(plan: Plan) -> str:
    """The mutations and effects, one a line, in order."""
    return "\n".join(_effect(operation, plan) for operation in plan.operations)


def exit_text(exit_: Any, plan: Plan | None = None) -> str:
    """How the entry ends."""
    return EXITS[type(exit_)](exit_, plan)


def _return(exit_: Return, plan: Plan | None) -> str:
    return f"return {show(exit_.value, plan)}"


def _break(exit_: Break, plan: Plan | None) -> str:
    lines = [f"break {exit_.reason.kind}: {exit_.reason.details}"]
    for frame in exit_.frames:
        lines.append(f"  {_place(frame)}{_waits(frame)}")
        lines += [f"    {text}" for text in _state(frame, plan)]
    return "\n".join(lines)


EXITS: dict[type, Callable[[Any, Plan | None], str]] = {Return: _return, Break: _break}


def _place(frame: FrameState) -> str:
    instruction = frame.program.instructions[frame.index]
    return f"{frame.program.code.co_qualname}, line {instruction.position.lineno}, before {instruction.op}"


def _waits(frame: FrameState) -> str:
    return "" if frame.link is None else f", waits for its {frame.link.kind}"


def _state(frame: FrameState, plan: Plan | None) -> list[str]:
    slots = [
        f"{slot.name} = {show(value, plan)}" for slot, value in zip(frame.program.slots, frame.slots) if not isinstance(value, Marker)
    ]
    stack = [show(value, plan) for value in frame.stack]
    return slots + ([f"stack: {', '.join(stack)}"] if stack else [])


def _host(node: Node) -> str:
    args = [show(value, None) for value in node.args] + [f"{k}={show(v, None)}" for k, v in node.kwargs.items()]
    return f"%{node.number} = {_name(node.target)}({', '.join(args)})"


def _made(obj: Obj, plan: Plan) -> str:
    parts = [show(value, plan) for value in layout_of(obj.cls).children(obj)]
    named = [] if obj.attributes is None else [
        f"{key.value if type(key) is Const else show(key, plan)}={show(value, plan)}"
        for key, value in obj.attributes.known.values() if value is not ABSENT
    ]
    slots = [f"{descriptor.__name__}={show(value, plan)}" for descriptor, value in (obj.slots or {}).items() if value is not ABSENT]
    return f"{show(obj, plan)} = {obj.cls.__qualname__}({', '.join([*parts, *named, *slots])})"


def _effect(operation: Operation, plan: Plan) -> str:
    args = ", ".join(_argument(argument, plan) for argument in operation.arguments)
    target = "" if operation.target is None else show(operation.target, plan)
    return f"{operation.kind} {target}{' ' if target else ''}{args}"


def _argument(argument: Any, plan: Plan) -> str:
    if isinstance(argument, Value):
        return show(argument, plan)
    if isinstance(argument, (list, tuple)):
        return f"[{', '.join(_argument(item, plan) for item in argument)}]"
    return argument if type(argument) is str else _name(argument)


# -- values ----------------------------------------------------------------------------------------------------------


def show(value: Value, plan: Plan | None) -> str:
    """A short text for a value.  Fresh objects are numbered in the order in which the plan makes them."""
    return SHOWN[type(value)](value, plan)


def _source(value: Any, plan: Plan | None) -> str:
    where = None if plan is None else (plan.program, 0, None)
    return written(value.real.source, where)


def _object(value: Obj, plan: Plan | None) -> str:
    if value.real is not None:
        return _source(value, plan)
    if plan is not None and value in plan.fresh:
        return f"new{plan.fresh.index(value)}"
    return f"new {value.cls.__qualname__}"


def _node(value: Node, plan: Plan | None) -> str:
    return _source(value, plan) if value.target is INPUT else f"%{value.number}"


def _constant(value: Const, plan: Plan | None) -> str:
    return _name(value.value) if not _is_plain(value.value) else literal(value.value)


_PLAIN = frozenset({str, int, float, complex, bool, bytes, type(None), type(Ellipsis), type(NotImplemented), range})


def _is_plain(value: Any) -> bool:
    """Whether printing the object runs no code of the user's."""
    if type(value) is slice:
        return all(map(_is_plain, (value.start, value.stop, value.step)))
    return type(value) in _PLAIN or type(value) in (tuple, frozenset) and all(map(_is_plain, value))


def _name(value: Any) -> str:
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return value.__qualname__
    return getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or f"<{type(value).__qualname__}>"


SHOWN: dict[type, Callable[[Any, Plan | None], str]] = {
    Const: _constant,
    Node: _node,
    Obj: _object,
    Lazy: lambda value, plan: _source(value, plan),
    Marker: lambda value, plan: repr(value),
    Previous: lambda value, plan: "<handled before>",
}


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
