"""Operations that write to memory which another of their arguments shares, or which they hold twice.

Eager torch refuses some of these and lets others pass; a backend that takes writes out of the graph refuses none.  So an operation is
recorded only where the memory of the two is surely the same, element by element, or surely apart.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import torch

from frameloom.pytorch.arguments import fill
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.fakes import OperationFailed, autograd_mode, guarded_call, quiet, static_fakes
from frameloom.pytorch.inputs import is_tensor, offset_of, storage_key
from frameloom.pytorch.operations import name_of
from frameloom.pytorch.outcomes import Outcome
from frameloom.pytorch.state import State
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node

WHOLE = ...
"""The subscript that names all of a tensor"""

MOST_COMPARED = 1_000_000
"""Tensors of more elements whose memory is interleaved are not compared element by element."""


def require_clear(state: State, operation: Node, outcome: Outcome, nodes: list[Node]) -> None:
    """Break where what the operation writes lies across memory of another of its arguments."""
    tensors = [node for node in nodes if type(node.fact) is TensorFact]
    for index in outcome.written:
        written = nodes[index]
        memory = _memory(state, written)
        shared = [node for node in tensors if node is not written and _memory(state, node) == memory]
        if not shared and not _may_hold_twice(written.fact):
            continue
        subscript = _subscript(operation, written)
        place = _place(state, written, subscript)
        untold = place is None and (subscript is WHOLE or written.fact.symbolic)
        if _may_hold_twice(written.fact) if untold else place is not None and _may_hold_twice(place):
            raise GraphBreak("FL321", f"{name_of(operation.target)} writes to a tensor several of whose elements are one")
        if not all(_are_clear(place, _place(state, node)) for node in shared):
            raise GraphBreak("FL321", f"{name_of(operation.target)} writes to memory that another of its arguments reads")


def _may_hold_twice(shape: Any) -> bool:
    """Whether elements of a tensor lie in one place of memory, as in one that was expanded."""
    return any(type(stride) is int and stride == 0 and size != 1 for size, stride in zip(shape.sizes, shape.strides))


def _subscript(operation: Node, written: Node) -> Any:
    """The subscript under which an assignment writes to a tensor, or WHOLE."""
    if name_of(operation.target) in ("setitem", "__setitem__") and operation.args[0] is written:
        return operation.args[1]
    return WHOLE


def _memory(state: State, node: Node) -> Any:
    """What tells the storage of a tensor from others."""
    root = state.root_of(node)
    return storage_key(root) if is_tensor(root) else root


class Place(NamedTuple):
    """Where the elements of a tensor lie in its storage."""

    dtype: Any
    sizes: tuple
    strides: tuple
    offset: int


def _are_clear(one: Place | None, other: Place | None) -> bool:
    return one is not None and other is not None and (one == other or _are_apart(one, other))


class _Unknown(Exception):
    """The place of a view in its storage cannot be told."""


def _place(state: State, node: Node, subscript: Any = WHOLE) -> Place | None:
    """The place of a tensor, or of the part that a subscript names; None where that is not known."""
    if node.fact.symbolic:
        return None
    try:
        with quiet(), autograd_mode(False, False), static_fakes().mode:
            found = _again(state, node, {})
            if (tuple(found.shape), found.stride()) != (node.fact.sizes, node.fact.strides):
                return None
            part = found if subscript is WHOLE else guarded_call(operator.getitem, (found, fill(subscript, _unknown)), {})
    except (_Unknown, OperationFailed, GraphBreak):
        return None
    if part.untyped_storage()._cdata != found.untyped_storage()._cdata:
        return None  # not a view: the subscript names elements one by one
    return Place(node.fact.dtype, tuple(part.shape), part.stride(), part.storage_offset())


def _unknown(node: Node) -> Any:
    raise _Unknown


def _again(state: State, node: Node, made: dict[Node, Any]) -> Any:
    """A fake that lies in its storage as the tensor does: the views are made once more."""
    root = state.root_of(node)
    if node not in made:
        made[node] = _root(state, node) if root is node else _view(state, node, root, made)
    return made[node]


def _root(state: State, node: Node) -> torch.Tensor:
    fact = state.entry_facts.get(node, node.fact)
    if type(fact) is not TensorFact or fact.symbolic:
        raise _Unknown
    offset = offset_of(node)
    extent = 1 + offset + sum((size - 1) * stride for size, stride in zip(fact.sizes, fact.strides))
    return torch.empty(max(extent, 0), dtype=fact.dtype, device=fact.device).as_strided(fact.sizes, fact.strides, offset)


def _view(state: State, node: Node, root: Node, made: dict[Node, Any]) -> Any:
    def leaf(argument: Node) -> Any:
        if argument.fact is None and argument.tape == "graph":  # a sequence of views
            return _view(state, argument, root, made)
        if type(argument.fact) is TensorFact and state.root_of(argument) is root:
            return _again(state, argument, made)
        raise _Unknown

    arguments = tuple(fill(tree, leaf) for tree in node.args)
    return guarded_call(node.target, arguments, {name: fill(tree, leaf) for name, tree in node.kwargs.items()})


def _are_apart(one: Place, other: Place) -> bool:
    """Whether no element of one tensor shares memory with one of the other."""
    (first, last), (begin, end) = _extent(one), _extent(other)
    if last <= begin or end <= first:
        return True
    if one.dtype != other.dtype or max(map(_count, (one, other))) > MOST_COMPARED:
        return False
    return not torch.isin(_elements(one), _elements(other)).any().item()


def _extent(place: Place) -> tuple[int, int]:
    """The bytes from the first of a tensor to behind its last."""
    dtype, sizes, strides, offset = place
    if 0 in sizes:
        return 0, 0
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    return offset * dtype.itemsize, (last + 1) * dtype.itemsize


def _count(place: Place) -> int:
    return torch.Size(place.sizes).numel()


def _elements(place: Place) -> torch.Tensor:
    """The numbers of a tensor's elements in its storage."""
    _, sizes, strides, offset = place
    found = torch.tensor(offset)
    for size, stride in zip(sizes, strides):
        found = found.unsqueeze(-1) + torch.arange(size) * stride
    return found.reshape(-1)
