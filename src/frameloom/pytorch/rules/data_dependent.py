"""What gives a number or a size that follows from data: captured where the settings ask for that, a break elsewhere."""

from __future__ import annotations

import types
from typing import Any, Callable

import torch

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import record
from frameloom.pytorch.facts import ConditionFact
from frameloom.pytorch.operators import ITEM, is_whole, number_in
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Node, Value

BASE = torch._C.TensorBase
LONGEST_LIST = 64
"""So many numbers of one tensor are read as numbers of the graph."""

IN_C = (types.BuiltinFunctionType, types.MethodDescriptorType)
SHAPES = ("nonzero", "masked_select", "argwhere", "_unique2", "unique_consecutive", "unique_dim", "bincount")


@rule(ITEM)
def _item(m: Machine, tensor: Value) -> Value:
    found = number_in(m.session.torch, tensor)
    if found is None:
        raise GraphBreak("FL202", "item of a tensor")
    return found


@rule(BASE.__dict__["tolist"])
def _list(m: Machine, tensor: Value) -> Value:
    found = _numbers(m, tensor) if m.session.torch.scalars and is_whole(tensor) else None
    if found is None:
        raise GraphBreak("FL202", "tolist of a tensor")
    return found


def _numbers(m: Machine, tensor: Node) -> Value | None:
    """The numbers in a tensor as lists of lists; a number where it has no dimension."""
    sizes = tensor.fact.sizes
    if not sizes:
        return record.apply(m.session.torch, ITEM, [tensor], {})
    if any(type(size) is not int for size in sizes) or torch.Size(sizes).numel() > LONGEST_LIST:
        return None
    rows = [record.apply(m.session.torch, torch.select, [tensor, Const(0), Const(i)], {}) for i in range(sizes[0])]
    return m.session.alloc(list, ListBody([_numbers(m, row) for row in rows]))


def _shaped_by_data(name: str, function: Callable) -> None:
    target = function if getattr(torch, name, None) in (function, None) or function in vars(BASE).values() else getattr(torch.ops.aten, name)
    what = name if name.startswith(("_", "unique", "bincount")) else f"{name} of a tensor"

    @rule(function)
    def recorded(m: Machine, *args: Value, **kwargs: Value) -> Any:
        if not m.session.torch.data_shapes:
            raise GraphBreak("FL203", what)
        return record.apply(m.session.torch, target, list(args), kwargs)


for _name in SHAPES:
    for _place in (BASE, torch, torch._VF):
        if isinstance(getattr(_place, _name, None), IN_C):  # closures share their code, by which rules go
            _shaped_by_data(_name, getattr(_place, _name))


@rule(torch._check)
def _check(m: Machine, condition: Value, message: Value = NONE) -> Any:
    """A condition that follows from data is asserted by the graph; any other is the program's own `if`."""
    if type(condition) is Node and type(condition.fact) is ConditionFact:
        torch._check(condition.fact.condition)
        return NONE
    return NotImplemented
