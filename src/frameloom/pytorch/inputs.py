"""The one place of this room that looks at real tensors, and hence makes their guards (law 2)."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import torch

from frameloom.pytorch import guards, numbers, shapes
from frameloom.pytorch.facts import GeneratorFact, SizeFact, is_dense
from frameloom.pytorch.fakes import fake_of_real
from frameloom.pytorch.state import State
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.signals import GraphBreak, RestartCapture
from frameloom.symbolic.values import INPUT, Const, Node, Real, Value

MODELLED = frozenset({torch.Tensor, torch.nn.Parameter})


def wrapped(session: Any, state: State, real: Real) -> Any:
    """The node of a real tensor or generator; NOT_HANDLED for one that is not modelled."""
    if type(real.object) is torch.Generator:
        return generator_input(session, real)
    return tensor_input(session, state, real)


def tensor_input(session: Any, state: State, real: Real) -> Any:
    """The node of a real tensor, its fact guarded; NOT_HANDLED for one of a class or layout that is not modelled."""
    tensor = real.object
    cls = type(tensor)
    if cls not in MODELLED:
        return NOT_HANDLED
    if not is_dense(tensor):
        session.guard("CALL", real.source, (guards.is_dense_is, False, "{} is dense"))
        return NOT_HANDLED
    known = shapes.fact_of_input(state, tensor, real.source)
    payload = guards.tensor_payload(tensor, known, state.entry_grad)
    session.guard("TENSOR", real.source, payload)
    if getattr(tensor, shapes.ADDRESS_MARK, False):
        session.guard("CALL", real.source, (guards.address_is, tensor.data_ptr(), "address of {}"))
    node = session.record(INPUT, (), {}, cls, known, real=real)
    session.journal.append(state.inputs, node)
    session.journal.set_item(state.entry_facts, node, known)
    if state.grad and not state.entry_grad:
        guard_requires_grad(session, node)
    return node


def generator_input(session: Any, real: Real) -> Node:
    """The node of a generator of the program, its class and device guarded."""
    found = real.object.device
    session.guard("TYPE", real.source, torch.Generator)
    session.guard("CALL", real.source, (guards.draws_for, found, "{}.device"))
    return session.record(INPUT, (), {}, torch.Generator, GeneratorFact(found), real=real)


def number_input(state: State, node: Node) -> SizeFact | None:
    """The symbolic number of a promoted whole number; None for one that torch does not take."""
    value = node.real.object
    return shapes.number_of_input(state, value, node.real.source) if numbers.fits(value) else None


def guard_requires_grad(session: Any, node: Node) -> None:
    """requires_grad of an input matters from here on."""
    session.guard("CALL", node.real.source, (guards.requires_grad_is, node.real.object.requires_grad, "{}.requires_grad"))


def guard_leaf(session: Any, node: Node) -> None:
    """Whether an input is a leaf matters from here on."""
    session.guard("CALL", node.real.source, (guards.is_leaf_is, node.real.object.is_leaf, "{}.is_leaf"))


def require_no_view(session: Any, node: Node) -> None:
    """An input that shares history with its base breaks; that it does not is guarded."""
    if node.real.object._is_view():
        raise GraphBreak("FL308", f"{node.real.source}, a view of another tensor, is written to while gradients are recorded")
    session.guard("CALL", node.real.source, (guards.is_view_is, False, "{} is no view"))
    guard_leaf(session, node)


def object_of(node: Node) -> Any:
    """The real tensor or number of this call, for examples handed to backends."""
    return node.real.object


def fake_of(state: State, node: Node) -> Any:
    """A fake of an input as it was at entry, its varying sizes symbolic."""
    found = node.real.object
    if not isinstance(found, torch.Tensor):
        number = state.numbers.get(node)
        return found if number is None else number.size.number
    entry = state.entry_facts[node]
    if entry.symbolic:
        return state.shapes.fakes.make(entry)
    return fake_of_real(state.shapes.fakes.mode, found, shapes.Origin(str(node.real.source)))


def has_static_address(node: Node) -> bool:
    """Whether the program promises that an input stays where it is in memory."""
    return node.real is not None and hasattr(node.real.object, shapes.ADDRESS_MARK)


def storage_key(node: Node) -> int:
    """The identity of the storage of an input, comparable during capture."""
    return guards.storage_of(node.real.object)


def offset_of(node: Node) -> int:
    """Where in its storage an input begins; of other nodes the beginning."""
    return node.real.object.storage_offset() if is_tensor(node) else 0


def is_tensor(node: Node) -> bool:
    """Whether a node is an input that is a tensor."""
    return node.real is not None and isinstance(node.real.object, torch.Tensor)


def tensors_among(nodes: list[Node]) -> list[Node]:
    """The inputs that are tensors."""
    return [node for node in nodes if is_tensor(node)]


def shared_and_written(state: State, tensors: list[Node]) -> frozenset[int]:
    """The storages that the trace writes to and that more than one of the inputs has."""
    count = Counter(map(storage_key, tensors))
    return frozenset(key for node in tensors if node in state.written and count[key := storage_key(node)] > 1)


class Overlapping(NamedTuple):
    """The decision that a write to the input that `path` names breaks."""

    path: str


def ended(state: State) -> None:
    """What a backend can be told of a storage that the trace writes to and that several inputs have, settled by another try.

    It sees how the inputs of this call overlap, but what stands for those of symbolic sizes shares nothing: then all sizes are
    taken as they are.  Views of such an input, made in the trace, cannot be made again by a backend that takes writes out of the
    graph, nor can it tell inputs of several dtypes apart: then the write breaks.  So it does where one of them requires grad: such a
    backend takes none of them for the alias without history that it may be.
    """
    if not any(root.target is INPUT for root in state.written):
        return
    tensors = tensors_among([node for node in state.session.nodes if node.target is INPUT])
    shared = shared_and_written(state, tensors)
    if not shared:
        return
    theirs = [node for node in tensors if storage_key(node) in shared]
    if any(state.entry_facts[node].symbolic for node in theirs):
        raise RestartCapture(shapes.FIXED)
    of_leaves = state.makes_backward and any(state.entry_facts[node].requires_grad for node in theirs)
    if of_leaves or any(node in state.members for node in theirs) or _several_dtypes(state, theirs):
        raise RestartCapture(Overlapping(str(next(node for node in theirs if node in state.written).real.source)))


def _several_dtypes(state: State, sharing: list[Node]) -> bool:
    """Whether inputs over one storage see numbers of several dtypes in it."""
    pairs = {(storage_key(node), state.entry_facts[node].dtype) for node in sharing}
    return len(pairs) > len({key for key, _ in pairs})


def check_apart(state: State, root: Node) -> None:
    """Break where a write to the input was found to be one of those."""
    if state.session.decisions and Overlapping(str(root.real.source)) in state.session.decisions:
        raise GraphBreak("FL318", f"{root.real.source} shares memory with another input")


def gradient(session: Any, node: Node) -> Value:
    """`.grad` of an input, guarded: None, or a tensor of its own."""
    tensor = node.real.object
    if tensor.grad is None:
        session.guard("CALL", node.real.source, (guards.grad_is_none, None, "{}.grad is None"))
        return Const(None)
    return session.observe.wrap(tensor.grad, node.real.source.child("descriptor", GRAD))


GRAD = torch._C.TensorBase.__dict__["grad"]


def attribute_is_none(session: Any, node: Node, name: str) -> bool:
    """Whether an attribute of an input is None, guarded."""
    answer = getattr(node.real.object, name) is None
    session.guard("CALL", node.real.source, (guards.NONE_CHECKS[name], answer, "{}." + name))
    return answer




def again(session: Any, node: Node) -> Value:
    """An input that was met in a part of the trace that was taken back, met again."""
    return session.observe.wrap(node.real.object, node.real.source)
