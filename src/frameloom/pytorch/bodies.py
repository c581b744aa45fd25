"""Bodies: functions that operations of torch are given, captured as graphs of their own.

A body is run in the trace on nodes that stand for its arguments.  Its operations become a module, the tensors that it finds elsewhere
become operands of the operation, and that part of the trace is taken back: only its guards stay.  So a body may do nothing but
compute tensors.
"""

from __future__ import annotations

import types
from typing import Any, Callable, NamedTuple

import torch

from frameloom.codegen.merge import restored
from frameloom.interpreter import calls
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import autocast, graph, inputs, modes, record
from frameloom.pytorch.applied import Transformed
from frameloom.pytorch.arguments import nodes_in
from frameloom.pytorch.facts import SizeFact, TensorFact
from frameloom.pytorch.liveness import may_fail
from frameloom.pytorch.state import State
from frameloom.pytorch.structure import Shape, is_tensor, put_together, taken_apart
from frameloom.pytorch.unchanged import Unchanged
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.signals import GraphBreak, Suspend, SymbolicRaise
from frameloom.symbolic.values import INPUT, Const, Node, Value


class Given(NamedTuple):
    """What a body is called with."""

    args: list[Value]
    kwargs: dict[str, Value]


class Operator(NamedTuple):
    """The operation that takes a body, for messages: the FL code of what it cannot take, and its name."""

    kind: str
    title: str

    def refuse(self, because: str, where: Any = None) -> GraphBreak:
        return GraphBreak(self.kind, f"{self.title}: {because}{line_of(where)}")


class Body(NamedTuple):
    """module: takes the tensors that the stand-ins stood for, then `lifted`, and gives the tensors among the leaves of the result;
    leaves: those leaves, None in the place of a tensor; facts: those of the tensors; shape: the structure of the result; shares: whether
    a tensor among the results shares its storage with another, or with what the body was given; draws: whether it draws random numbers;
    may_fail: whether an operation of it may refuse values."""

    module: Any
    lifted: tuple[Node, ...]
    leaves: tuple[Const | None, ...]
    facts: tuple[TensorFact, ...]
    shape: Shape
    shares: bool
    draws: bool
    may_fail: bool

    @property
    def all_tensors(self) -> bool:
        """Whether the result has leaves, and all of them are tensors."""
        return bool(self.leaves) and all(leaf is None for leaf in self.leaves)

    def result(self, session: Any, tensors: list[Value]) -> Value:
        """A value of the structure that the function gave, with these in the places of its tensors."""
        left = iter(tensors)
        return put_together(session, self.shape, iter([next(left) if leaf is None else leaf for leaf in self.leaves]))


def stand_in(*_: Any) -> None:
    """The target of a node that stands for an argument of a body."""
    raise AssertionError("stand-ins are no part of a graph")


def capture(
    m: Machine, operator: Operator, function: Value, facts: list[TensorFact], given: Callable[[list[Node]], Given], grad: bool | None = None
) -> Body:
    """Capture `function`, called with what `given` makes of nodes of these facts.

    grad: whether the operation records gradients around it; None: as the trace does.  Raises a GraphBreak that names the line where
    the body does more than compute tensors.
    """
    session, state = m.session, m.session.torch
    mark, known, frame, first = session.mark(), set(session.guards), session.frame, len(session.nodes)
    session.journal.set_field(state, "bodies", state.bodies + 1)
    if grad is not None:
        session.journal.set_field(state, "grad", grad)
    stand_ins = [session.record(stand_in, (), {}, torch.Tensor, fact) for fact in facts]
    call = given(stand_ins)
    outside = Outside(state, [function, *call.args, *call.kwargs.values()])
    result = _run(m, operator, function, call)
    outside.require_unchanged(operator)
    leaves, shape = taken_apart(session, result, operator.kind)
    if not all(type(leaf) is Const or is_tensor(leaf) for leaf in leaves):
        raise operator.refuse("its function gives something that is no tensor")
    tensors = [leaf for leaf in leaves if is_tensor(leaf)]
    made = [node for node in session.nodes[first + len(facts) :] if node.target is not INPUT]
    _check(state, operator, made)
    lifted = _lifted(operator, first, {*made, *stand_ins}, [*nodes_in([(node.args, node.kwargs) for node in made], []), *tensors])
    found = Body(
        graph.build_module(state, made, [*stand_ins, *lifted], tensors), (), tuple([None if is_tensor(leaf) else leaf for leaf in leaves]),
        tuple([node.fact for node in tensors]), shape, _shares(state, made, tensors), any(draws(state, node) for node in made),
        any(map(may_fail, made)),
    )
    learned = [(key, guard) for key, guard in session.guards.items() if key not in known]
    session.rollback(mark)
    session.frame = frame
    for key, guard in learned:
        session.journal.set_item(session.guards, key, guard)
    return found._replace(lifted=tuple([inputs.again(session, node) if node.number >= first else node for node in lifted]))


def _run(m: Machine, operator: Operator, function: Value, call: Given) -> Value:
    session, frame = m.session, m.session.frame
    try:
        return m.invoke(function, call.args, call.kwargs)
    except (GraphBreak, Suspend) as signal:
        where, session.frame = _place(session, signal), frame
        reason = signal.reason if isinstance(signal, Suspend) else signal
        raise operator.refuse(reason.details, where) from None
    except SymbolicRaise as signal:
        where, session.frame = session.where(), frame
        raise operator.refuse(f"its function raises {signal.value.cls.__qualname__}", where) from None


def breaks_as_one(function: types.FunctionType, operator: Operator) -> None:
    """A Python function of torch that is inlined as a whole or not at all: what breaks in it breaks at its call."""

    @rule(function)
    def called(m: Machine, *args: Value, **kwargs: Value) -> Value:
        own = m.observe.constant(function)
        return _as_one(m, operator, lambda: calls.inline(m, own, function.__code__, list(args), kwargs, None))


def run_as_one(m: Machine, operator: Operator, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Call what stands for a function of torch, as a whole or not at all."""
    return _as_one(m, operator, lambda: m.invoke(function, args, kwargs))


def _as_one(m: Machine, operator: Operator, call: Callable[[], Value]) -> Value:
    session, frame = m.session, m.session.frame
    try:
        return call()
    except (GraphBreak, Suspend) as signal:
        where, session.frame = _place(session, signal), frame
        reason = signal.reason if isinstance(signal, Suspend) else signal
        if reason.kind == operator.kind:
            raise GraphBreak(reason.kind, reason.details) from None
        raise operator.refuse(reason.details, where) from None


def _place(session: Any, signal: GraphBreak | Suspend) -> Any:
    """The instruction that a body broke at, the innermost."""
    return signal.reason.where if isinstance(signal, Suspend) else session.where()


class Outside:
    """What a body must leave as it is: effects, the objects that it can reach, modes."""

    def __init__(self, state: State, roots: list[Value]) -> None:
        self.state = state
        self.operations = {id(operation): operation for operation in state.session.operations}
        self.written = set(state.session.written)
        self.objects = Unchanged([*roots, *[operation.arguments for operation in state.session.operations]])
        self.autocast = state.autocast
        self.grad = state.grad

    def require_unchanged(self, operator: Operator) -> None:
        """Raises GraphBreak."""
        session = self.state.session
        added = [o for o in session.operations if id(o) not in self.operations and o.kind not in (modes.EFFECT, autocast.EFFECT)]
        if added and not restored(added, [*self.operations.values()]):
            raise operator.refuse("its function changes something outside itself", added[0].where)
        written = {id(operation.target) for operation in added} | self.written
        if not written.issuperset(session.written) or self.state.autocast != self.autocast or self.state.grad is not self.grad:
            raise operator.refuse("its function changes something outside itself")
        changed = self.objects.suspended or self.objects.changed()
        if changed is not None:
            raise operator.refuse(f"its function may change an object of class {changed.cls.__qualname__} that was there before")


def draws(state: State, node: Node) -> bool:
    """Whether an operation draws random numbers."""
    return node in state.impure and node.target is not modes.SET_GRAD


def _shares(state: State, made: list[Node], tensors: list[Node]) -> bool:
    roots = [state.root_of(node) for node in tensors]
    return len(set(roots)) < len(roots) or not set(made).issuperset(roots)


def _lifted(operator: Operator, first: int, own: set[Node], used: list[Node]) -> list[Node]:
    """The tensors and sizes that a body uses and does not make."""
    found = list(dict.fromkeys(node for node in used if node not in own))
    if not all(is_tensor(node) or type(node.fact) is SizeFact and node.tape == "graph" and node.number < first for node in found):
        raise operator.refuse("its function uses a number that is known at run time only")
    return found


def _check(state: State, operator: Operator, made: list[Node]) -> None:
    own = set(made)
    for node in made:
        if node.tape != "graph":
            raise operator.refuse("its function draws or computes numbers in Python", node.where)
        if autocast.switches(node):
            raise operator.refuse("its function changes autocast", node.where)
        if any(root not in own for root in state.writes.get(node, ())):
            raise operator.refuse("its function writes to a tensor that it has not made", node.where)


def line_of(where: Any) -> str:
    """Where in the program an instruction is, for a message."""
    if where is None:
        return ""
    program, index, _ = where
    return f" (line {program.instructions[index].position.lineno}, in {program.code.co_qualname})"


def perform(m: Machine, operator: Operator, operands: list[Node], run: Callable, bodies: list[Body]) -> list[Value]:
    """Record the operation; gives the flat list of its results.  `run` takes the real operands and gives a tuple."""
    target = Transformed(
        operator.kind, operator.title, run, any(body.may_fail for body in bodies), any(body.draws for body in bodies)
    )
    result = record.apply(m.session.torch, target, operands, {}, exact=True)
    return tuple_.items(m.session, result.body)
