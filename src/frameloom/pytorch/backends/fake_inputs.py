"""Fake inputs for compilers that trace the graph again: one fake mode a graph, symbolic where the trace was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from frameloom.pytorch.fakes import fake_of_real
from frameloom.pytorch.shapes import Origin


def fake_inputs(gm: torch.fx.GraphModule, examples: Sequence[Any]) -> tuple[FakeTensorMode, list]:
    """A fake mode, and a fake for each placeholder, also left in its `meta` as compilers expect it.

    Where the trace had symbolic sizes, the examples are fakes of its own mode already: conditions that the compiler puts on
    sizes must reach the trace's guards.
    """
    known = gm.meta.get("fake_mode")
    if known is not None:
        return known, list(examples)
    mode = FakeTensorMode(shape_env=ShapeEnv(), static_shapes=True, allow_non_fake_inputs=True)
    fakes = []
    for placeholder, example in zip(gm.graph.find_nodes(op="placeholder"), examples):
        made = _fake(mode, placeholder.name, example)
        placeholder.meta["val"] = placeholder.meta["example_value"] = made
        fakes.append(made)
    return mode, fakes


def share_storage(fakes: Sequence[Any]) -> bool:
    """Whether two of the inputs have one storage."""
    storages = [fake.untyped_storage()._cdata for fake in fakes if isinstance(fake, torch.Tensor)]
    return len(set(storages)) < len(storages)


def _fake(mode: FakeTensorMode, name: str, example: Any) -> Any:
    if not isinstance(example, torch.Tensor):
        return _fake_number(mode, name, example)
    return fake_of_real(mode, example, Origin(name))


def _fake_number(mode: FakeTensorMode, name: str, example: Any) -> Any:
    """A number that changes between calls must not be baked in."""
    origin = Origin(name)
    if type(example) is int:
        symbol = mode.shape_env.create_symbol(example, origin, DimDynamic.DYNAMIC, do_not_specialize_zero_one=True)
        return mode.shape_env.create_symintnode(symbol, hint=example, source=origin)
    if type(example) is float:
        symbol = mode.shape_env.create_symbol(example, origin, DimDynamic.DYNAMIC)
        return mode.shape_env.create_symfloatnode(symbol, hint=example, source=origin)
    return example
