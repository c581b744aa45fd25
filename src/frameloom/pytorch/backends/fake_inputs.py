"""Fake inputs for compilers that trace the graph again: one fake mode a graph, symbolic where the trace was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from frameloom.pytorch.shapes import Origin

DYNAMIC_DIMENSIONS = "frameloom_dynamic"
"""Key of `placeholder.meta`: the dimensions that may vary."""


def fake_inputs(gm: torch.fx.GraphModule, examples: Sequence[Any]) -> tuple[FakeTensorMode, list]:
    """A fake mode, and a fake for each placeholder, also left in its `meta` as compilers expect it."""
    mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True, export=False)
    fakes = []
    for placeholder, example in zip(gm.graph.find_nodes(op="placeholder"), examples):
        made = _fake(mode, placeholder, example)
        placeholder.meta["val"] = placeholder.meta["example_value"] = made
        fakes.append(made)
    return mode, fakes


def _fake(mode: FakeTensorMode, placeholder: Any, example: Any) -> Any:
    if not isinstance(example, torch.Tensor):
        return _fake_number(mode, placeholder, example)
    dynamic = placeholder.meta.get(DYNAMIC_DIMENSIONS, frozenset())
    dims = [DimDynamic.DUCK if i in dynamic else DimDynamic.STATIC for i in range(example.dim())]
    context = StatelessSymbolicContext(dynamic_sizes=dims, constraint_sizes=[None] * example.dim())
    return mode.from_tensor(example, source=Origin(placeholder.name), symbolic_context=context)


def _fake_number(mode: FakeTensorMode, placeholder: Any, example: Any) -> Any:
    """A number that changes between calls must not be baked in."""
    origin = Origin(placeholder.name)
    if type(example) is int:
        symbol = mode.shape_env.create_symbol(example, origin, DimDynamic.DYNAMIC, do_not_specialize_zero_one=True)
        return mode.shape_env.create_symintnode(symbol, hint=example, source=origin)
    if type(example) is float:
        symbol = mode.shape_env.create_symbol(example, origin, DimDynamic.DYNAMIC)
        return mode.shape_env.create_symfloatnode(symbol, hint=example, source=origin)
    return example
