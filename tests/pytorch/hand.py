"""A trace driven by hand: real tensors in, operations one by one, the graph out."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from frameloom.interpreter.machine import Machine
from frameloom.pytorch.backends.eager import eager
from frameloom.pytorch.domain import TorchDomain
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.session import Session
from frameloom.symbolic.source import Scope
from frameloom.symbolic.values import Const, Node, Obj, Value


class Hand:
    """A session of the torch domain; attribute `nodes` has the input node of each real tensor, by name."""

    def __init__(self, dynamic: bool | None = None, decisions: frozenset = frozenset(), backend: Callable = eager, **tensors: Any):
        self.tensors = tensors
        self.domain = TorchDomain(backend, dynamic)
        self.session = Session(self.domain, decisions)
        self.session.machine = Machine(self.session)
        self.domain.begin(self.session)
        self.nodes = {name: self.wrap(name, tensor) for name, tensor in tensors.items()}

    def wrap(self, name: str, real: Any) -> Value:
        return self.session.observe.wrap(real, self.session.sources.local(name))

    def value(self, found: Any) -> Value:
        """The Value of a host object; tensors are those of this hand."""
        if isinstance(found, Value):
            return found
        if isinstance(found, torch.Tensor):
            return next(self.nodes[name] for name, tensor in self.tensors.items() if tensor is found)
        if type(found) is list:
            return self.session.alloc(list, ListBody([self.value(item) for item in found]))
        if type(found) is tuple:
            return self.session.alloc(tuple, TupleBody([self.value(item) for item in found]))
        return Const(found)

    def call(self, function: Callable, *args: Any, **kwargs: Any) -> Value:
        """Apply an operation to host objects and Values."""
        given = [self.value(arg) for arg in args]
        return self.domain.apply(self.session, function, given, {name: self.value(value) for name, value in kwargs.items()})

    def operate(self, name: str, *operands: Any) -> Value:
        return self.domain.operator(self.session, name, [self.value(operand) for operand in operands])

    def attribute(self, node: Node, name: str) -> Any:
        return self.domain.attribute(self.session, node, name)

    def run(self, *outputs: Node) -> Any:
        """Run the graph on the real tensors; gives what it gives for the outputs."""
        call = self.domain.finish(self.session, list(outputs))
        if call is None:
            return None
        by_node = {id(node): self.tensors[name] for name, node in self.nodes.items()}
        return call.function(*(by_node[id(node)] for node in call.inputs))

    def guards_hold(self, **tensors: Any) -> bool:
        """Whether every guard holds for a call with these tensors in the place of its own."""
        scope = Scope({**self.tensors, **tensors}, {}, {}, {})
        return all(guard.holds(scope) for guard in self.session.guards.values())

    def failing(self, **tensors: Any) -> list[str]:
        """The guards that do not hold."""
        scope = Scope({**self.tensors, **tensors}, {}, {}, {})
        return [str(guard) for guard in self.session.guards.values() if not guard.holds(scope)]


def nodes_of(value: Value) -> list[Node]:
    """The nodes in a result, in order."""
    if type(value) is Node:
        return [value]
    if type(value) is Obj:
        return [node for item in value.body.items for node in nodes_of(item)]
    return []


def tensors_of(result: Any) -> list[torch.Tensor]:
    """The tensors in a real result, in order."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [tensor for item in result for tensor in tensors_of(item)]
    return []
