"""Operations of a graph that are Python of the program, run by torch: the program's `autograd.Function`s.

Such code is tried first: it runs in the trace, which is taken back, and only the guards stay.  It may do nothing but compute tensors.
"""

from __future__ import annotations

from typing import Any, Callable

import torch

from frameloom.interpreter.machine import Machine
from frameloom.pytorch import autocast, modes, record
from frameloom.pytorch.applied import Applied
from frameloom.pytorch.arguments import nodes_in
from frameloom.pytorch.facts import SizeFact, TensorFact
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak, Suspend, SymbolicRaise
from frameloom.symbolic.values import INPUT, NONE, Const, Node, Obj, Value

def apply(m: Machine, cls: Value, args: tuple[Value, ...], attempt: Callable[[], Any]) -> Value:
    """Record `cls.apply(*args)` as one operation, after `attempt` has run all that torch will run of it."""
    state = m.session.torch
    name = m.observe.known(cls).__qualname__
    if cls.real is None:
        raise GraphBreak("FL301", f"{name} was made by the captured code")
    for value in args:
        _check_argument(m, name, value)
    if m.session.written:
        raise GraphBreak("FL301", f"{name}, which might read what the captured code has written")
    if state.tries:
        raise GraphBreak("FL301", f"{name} records gradients inside another function")
    _try(m, name, args, attempt)
    return record.apply(state, Applied(m.observe.known(cls)), list(args), {}, exact=True)


def _check_argument(m: Machine, name: str, value: Value) -> None:
    if type(value) is Const or type(value) is Node and type(value.fact) in (TensorFact, SizeFact):
        return
    if type(value) is Obj and value.cls is tuple and isinstance(value.body, TupleBody):
        for item in tuple_.items(m.session, value.body):
            _check_argument(m, name, item)
        return
    raise GraphBreak("FL301", f"{name} is given an object of class {value.cls.__qualname__}")


def _try(m: Machine, name: str, args: tuple[Value, ...], attempt: Callable[[], Any]) -> None:
    """Run `attempt` without gradients, see that it only computes, and take everything back but its guards."""
    session, state = m.session, m.session.torch
    mark, known, frame, first = session.mark(), set(session.guards), session.frame, len(session.nodes)
    effects = _effects(session)
    session.journal.set_field(state, "tries", 1)
    modes.set_grad(state, False)
    try:
        attempt()
    except (GraphBreak, Suspend) as signal:
        session.frame = frame
        reason = signal.reason if isinstance(signal, Suspend) else signal
        raise GraphBreak("FL301", f"{name}: {reason.details}") from None
    except SymbolicRaise as signal:
        session.frame = frame
        raise GraphBreak("FL301", f"{name} raises {signal.value.cls.__qualname__}") from None
    if session.written or effects != _effects(session):
        raise GraphBreak("FL301", f"{name} does more than compute tensors")
    _check_nodes(session.nodes[first:], first, args, name)
    learned = [(key, guard) for key, guard in session.guards.items() if key not in known]
    session.rollback(mark)
    for key, guard in learned:
        session.journal.set_item(session.guards, key, guard)


def _effects(session: Any) -> list:
    """The effects but for the grad mode, with what of autocast is changed."""
    changed = autocast.difference(session.torch.autocast, session.torch.entry_autocast)
    return [operation for operation in session.operations if operation.kind not in (modes.EFFECT, autocast.EFFECT)] + changed


def _check_nodes(made: list[Node], first: int, args: tuple[Value, ...], name: str) -> None:
    given = set(nodes_in(list(args), []))
    for node in made:
        if node.target is INPUT or any(n.number < first and n not in given for n in nodes_in((node.args, node.kwargs), [])):
            raise GraphBreak("FL301", f"{name} uses a tensor that is not among its arguments")
        if node.tape != "graph":
            raise GraphBreak("FL301", f"{name} does more than compute tensors")


def gradient_of(state: State, result: Value) -> Value:
    """What stands for the gradient of a result while a backward is tried."""
    if type(result) is not Node or type(result.fact) is not TensorFact:
        return NONE
    return state.session.record(gradient_of, (), {}, torch.Tensor, result.fact.replace(requires_grad=False, is_leaf=True))
