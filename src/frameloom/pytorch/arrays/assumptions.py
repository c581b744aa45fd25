"""What a finished trace assumes about arrays: that nothing that is written to shares memory with what is read beside it, and that
the graph may fail where NumPy would warn."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from frameloom.pytorch.arrays.layouts import UNMODELLED
from frameloom.pytorch.arrays.storage import SILENT
from frameloom.pytorch.inputs import object_of
from frameloom.pytorch.state import State
from frameloom.symbolic.guards import CHECKS, Check
from frameloom.symbolic.signals import RestartCapture
from frameloom.symbolic.source import Missing
from frameloom.symbolic.values import INPUT, Node


def ended(state: State) -> None:
    """Called when the root frame has ended; raises RestartCapture where an assumption does not hold."""
    if state.alarms and not _can_fail(state):
        raise RestartCapture(SILENT)
    if state.arrays and _writes(state):
        _guard_apart(state)


def _can_fail(state: State) -> bool:
    """Whether the frame can run again from its start after the graph has raised."""
    if state.impure or any(root.target is INPUT for root in state.written):
        return False
    return not any(node.tape == "host" and node.target is not INPUT for node in state.session.nodes)


def _writes(state: State) -> bool:
    return any(array.body.written for array in state.arrays) or any(root.target is INPUT for root in state.written)


# -- memory -----------------------------------------------------------------------------------------------------------


class ApartPayload(NamedTuple):
    """The inputs besides the guarded one, and how many of all, from the first on, are arrays."""

    others: tuple
    arrays: int


def extent(tensor: torch.Tensor) -> tuple[int, int]:
    """The first byte of a tensor's elements, and the one behind the last."""
    if tensor.numel() == 0:
        return (0, 0)
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return tensor.data_ptr(), tensor.data_ptr() + (reach + 1) * tensor.itemsize


def are_apart(tensors: list[torch.Tensor], arrays: int) -> bool:
    """Whether none of the first tensors, which arrays lie under, shares memory with any other."""
    extents = [extent(tensor) for tensor in tensors]
    for index, (first, end) in enumerate(extents[:arrays]):
        if any(first < other_end and other < end for other, other_end in extents[index + 1 :]):
            return False
    return True


def apart_hold(first: Any, payload: ApartPayload, scope: Any) -> bool:
    """Guard: whether the memory of arrays that are written to is still nobody else's."""
    try:
        found = [first, *(source.read(scope) for source in payload.others)]
    except Missing:
        return False
    return all(isinstance(tensor, torch.Tensor) for tensor in found) and are_apart(found, payload.arrays)


def _guard_apart(state: State) -> None:
    nodes = inputs_of(state)
    if len(nodes) < 2:
        return
    tensors = [object_of(node) for node in nodes]
    if not are_apart(tensors, len(state.arrays)):
        raise RestartCapture(UNMODELLED)
    first, *others = [node.real.source for node in nodes]
    state.session.guard("APART", first, ApartPayload(tuple(others), len(state.arrays)))


def inputs_of(state: State) -> list[Node]:
    """The tensors over arrays, and then all others that have memory here."""
    over = [node for node in state.inputs if node.real.source.step == "elements"]
    rest = [node for node in state.inputs if node.real.source.step != "elements" and object_of(node).device.type == "cpu"]
    return over + rest


CHECKS["APART"] = Check(apart_hold, lambda source, payload, *others: f"{source} shares no memory with {len(others)} other tensors", several=True)
