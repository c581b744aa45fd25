"""The torch domain: what the core asks of the frontend."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch

import frameloom.pytorch.layouts  # noqa: F401  torch's tuples register themselves
import frameloom.pytorch.native_guards  # noqa: F401  and the lowerings of their guards
import frameloom.pytorch.recompiles  # noqa: F401  and what is told when they fail
import frameloom.pytorch.rules.attention  # noqa: F401
import frameloom.pytorch.rules.autocast  # noqa: F401
import frameloom.pytorch.rules.checkpoint  # noqa: F401
import frameloom.pytorch.rules.constants  # noqa: F401
import frameloom.pytorch.rules.control_flow  # noqa: F401
import frameloom.pytorch.rules.data_dependent  # noqa: F401
import frameloom.pytorch.rules.derivatives  # noqa: F401
import frameloom.pytorch.rules.forward_mode  # noqa: F401
import frameloom.pytorch.rules.function  # noqa: F401
import frameloom.pytorch.rules.generators  # noqa: F401
import frameloom.pytorch.rules.grad_mode  # noqa: F401  and so do the rules
import frameloom.pytorch.rules.hooks  # noqa: F401
import frameloom.pytorch.rules.inference  # noqa: F401
import frameloom.pytorch.rules.modules  # noqa: F401
import frameloom.pytorch.rules.optimizers  # noqa: F401
import frameloom.pytorch.rules.overloads  # noqa: F401
import frameloom.pytorch.rules.overrides  # noqa: F401
import frameloom.pytorch.rules.profiling  # noqa: F401
import frameloom.pytorch.rules.recurrent  # noqa: F401
import frameloom.pytorch.rules.refused  # noqa: F401
import frameloom.pytorch.rules.settings  # noqa: F401
import frameloom.pytorch.rules.strides  # noqa: F401
import frameloom.pytorch.rules.tracing  # noqa: F401
import frameloom.pytorch.rules.transforms  # noqa: F401
import frameloom.pytorch.rules.views  # noqa: F401
import frameloom.pytorch.rules.whole  # noqa: F401
from frameloom import config
from frameloom.pytorch import attributes, autocast, dual, inputs, modes, operations, operators, own_code, record, shapes
from frameloom.pytorch.additions import AT_THE_END, CONSTANT_CLASSES
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.graph import finish
from frameloom.pytorch.state import State
from frameloom.symbolic.displaced import TOOLS
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.values import Node, Value

TOOLS.add("torch._dynamo.utils")  # once torch.compile has run, it remembers every module that is made

OPTIONAL = {"numpy": "frameloom.pytorch.arrays.rules"}
"""Package that torch can do without -> the module of rules for it."""

for _package, _rules in OPTIONAL.items():
    if importlib.util.find_spec(_package) is not None:
        importlib.import_module(_rules)

CLONE = torch._C.TensorBase.__dict__["clone"]


class TorchDomain(Domain):
    """Tensors are nodes; torch functions and tensor methods are operations.

    backend: a callable (gm, example_inputs) -> callable; dynamic: None (sizes become symbolic when they change), True
    (every size of 2 and more is symbolic at once) or False (never).  whole: graphs do not break, so that numbers and sizes which follow
    from data are captured, whatever the settings say.
    """

    name = "torch"
    decides = frozenset({"TENSOR"})

    def __init__(self, backend: Any, dynamic: bool | None = None, whole: bool = False) -> None:
        self.backend = backend
        self.whole = whole
        self.dynamic = dynamic
        self.varies = dynamic is not False
        self.begins_varying = dynamic is True
        self.takes_numbers = getattr(backend, "takes_numbers", False)
        self.makes_backward = getattr(backend, "makes_backward", False)

    def claims(self, cls: type) -> bool:
        return issubclass(cls, torch.Tensor) or cls is torch.Generator

    def constant(self, cls: type) -> bool:
        return cls in CONSTANT_CLASSES

    def unfit(self) -> tuple[str, str] | None:
        reason = modes.reason_for_eager() or autocast.reason_for_eager()
        return None if reason is None else ("FL910", reason)

    def snapshot(self, session: Any, node: Node) -> Value | None:
        """A plain tensor without gradients looks like its clone; of any other the copy could be told from it."""
        if node.cls is not torch.Tensor or type(node.fact) is not TensorFact or node.fact.requires_grad:
            return None
        return record.apply(session.torch, CLONE, [node], {})

    def begin(self, session: Any) -> None:
        session.torch = State(session, self.dynamic, inputs.number_input, shapes.number_computed, self.takes_numbers)
        session.torch.makes_backward = self.makes_backward
        settings = config.current()
        session.torch.scalars = self.whole or settings.capture_scalar_outputs
        session.torch.data_shapes = self.whole or settings.capture_dynamic_output_shape_ops
        if dual.is_around():
            own_code.insist(session.torch)
        modes.begin(session.torch)
        autocast.begin(session.torch)

    def ended(self, session: Any, broke: bool) -> None:
        inputs.ended(session.torch)
        if broke:
            modes.at_break(session.torch)
        for ask in AT_THE_END:
            ask(session.torch)

    def input(self, session: Any, real: Any) -> Node:
        return inputs.wrapped(session, session.torch, real)

    def records(self, function: Any) -> bool:
        return operations.is_operation(function)

    def apply(self, session: Any, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return record.apply(session.torch, function, args, kwargs)

    def attribute(self, session: Any, node: Node, name: str) -> Any:
        return attributes.read(session.torch, node, name)

    def set_attribute(self, session: Any, node: Node, name: str, value: Value) -> Any:
        return attributes.write(session.torch, node, name, value)

    def operator(self, session: Any, name: str, operands: list[Value]) -> Any:
        return operators.operate(session.torch, name, operands)

    def truth(self, session: Any, node: Node) -> Any:
        return operators.truth(session.torch, node)

    def decide(self, guard: Any, found: Any) -> frozenset:
        """What the next capture should do because `guard` failed on `found`: sizes that turned out to vary."""
        if self.dynamic is False:
            return frozenset()
        return shapes.decide(guard.source, guard.payload, found)

    def likely(self, guard: Any, scope: Any) -> frozenset:
        """What else the next capture should take as varying because something of this call did."""
        return shapes.likely(guard.source, guard.payload, scope)

    def kept(self, decision: Any) -> list | None:
        return shapes.kept(decision)

    def restored(self, kept: list) -> Any:
        return shapes.restored(kept)

    def finish(self, session: Any, outputs: list[Node]) -> Any:
        return finish(session.torch, outputs, self.backend)
