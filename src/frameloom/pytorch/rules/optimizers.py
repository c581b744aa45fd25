"""What optimizers and gradient clipping ask of torch in C, beside tensors' arithmetic."""

from __future__ import annotations

import itertools
from typing import Any

import torch

from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch.facts import TensorFact
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import FALSE, Const, Node, Obj, Value

GROUP = torch._C._group_tensors_by_device_and_dtype


@rule(GROUP)
def _group(m: Machine, lists: Value, with_indices: Value = FALSE) -> Value:
    """Tensors in groups of one device and dtype.

    The real function groups empty tensors of the same kinds, since the order of its groups is its own.
    """
    rows = [unpack(m, row) for row in unpack(m, lists)]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise GraphBreak("FL101", "tensors in lists of different lengths are put into groups")
    indexed = bool(m.need_constant(with_indices, "FL202", "a tensor decides how tensors are put into groups"))
    found = GROUP([[_empty_like(value) for value in row] for row in rows], True)
    body = DictBody(True)
    for key, (_, indices) in found.items():
        members = m.list([m.list([row[index] for index in indices]) for row in rows])
        body.known[key] = (m.lift(key), m.tuple([members, m.lift(indices if indexed else [])]))
    return m.session.alloc(dict, body)


def _empty_like(value: Value) -> Any:
    if type(value) is Const and value.value is None:
        return None
    if type(value) is not Node or type(value.fact) is not TensorFact:
        raise GraphBreak("FL101", f"an object of class {value.cls.__name__} is put into a group of tensors")
    return torch.empty(0, dtype=value.fact.dtype, device=value.fact.device)


def _each(method: str, is_in_place: bool) -> Any:
    def each(tensors: Any, first: Any, second: Any, scalars: Any) -> Any:
        made = []
        for position, tensor in enumerate(tensors):
            made.append(getattr(tensor, method)(first[position], second[position], value=scalars[position]))
        return None if is_in_place else tuple(made)

    return each


def _numbers_in_a_tensor(function: Any, method: str) -> None:
    """A function of lists of tensors that takes its numbers as one tensor: torch reads them when it runs, which no run on shapes
    alone can do.  It does for each tensor what `method` does with one number, and that torch can."""
    meaning = _each(method, method.endswith("_"))

    @rule(function)
    def called(m: Machine, *args: Value, **kwargs: Value) -> Any:
        if kwargs or len(args) != 4 or not _is_row(args[3]):
            return NotImplemented
        rows = [unpack(m, row) for row in args[:3] if type(row) is Obj and row.cls in (list, tuple)]
        if [len(row) for row in rows] != [args[3].fact.sizes[0]] * 3 or not all(map(_is_tensor, itertools.chain(*rows))):
            return NotImplemented
        return m.invoke(m.observe.constant(meaning), list(args), {})


def _is_tensor(value: Value) -> bool:
    return type(value) is Node and type(value.fact) is TensorFact


def _is_row(value: Value) -> bool:
    return _is_tensor(value) and len(value.fact.sizes) == 1 and value.fact.device.type == "cpu"


for _name in ("addcdiv", "addcmul", "addcdiv_", "addcmul_"):
    _numbers_in_a_tensor(getattr(torch, f"_foreach_{_name}"), _name)
