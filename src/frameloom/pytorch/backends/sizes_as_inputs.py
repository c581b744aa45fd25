"""Varying sizes as inputs of their own, for compilers that look for each symbol among a graph's inputs.

A captured graph takes tensors, and their sizes with them.  AOTAutograd and what works on its graphs expect an input for each symbol:
where an operation computes with a number made of sizes (the scale of an interpolation), they look it up there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from frameloom.pytorch.captured_module import CapturedModule

Place = tuple[int, int]
"""The number of an input, and one of its dimensions."""


def compile_with_sizes(gm: torch.fx.GraphModule, fakes: Sequence[Any], compile_: Callable[[torch.fx.GraphModule, list], Callable]) -> Callable:
    """What `compile_` makes of the graph and its fake inputs, with the sizes before them that are symbols; to be called without them."""
    places = size_places(fakes)
    if not places:
        return compile_(gm, list(fakes))
    sizes = [fakes[number].size(dimension) for number, dimension in places]
    function = compile_(_taking(gm, sizes), [*sizes, *fakes])

    def run(*given: Any) -> Any:
        return function(*[given[number].size(dimension) for number, dimension in places], *given)

    return run


def size_places(fakes: Sequence[Any]) -> list[Place]:
    """Where each symbol is read that is a size of an input and no input itself."""
    found: dict[Any, Place | None] = {fake.node.expr: None for fake in fakes if isinstance(fake, torch.SymInt)}
    for number, fake in enumerate(fakes):
        for dimension, size in enumerate(fake.size() if isinstance(fake, torch.Tensor) else ()):
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                found.setdefault(size.node.expr, (number, dimension))
    return [place for place in found.values() if place is not None]


def _taking(gm: torch.fx.GraphModule, sizes: Sequence[torch.SymInt]) -> torch.fx.GraphModule:
    """The module with a placeholder for each size before its own; the given one stays as it is."""
    graph = torch.fx.Graph()
    for size in sizes:
        placeholder = graph.placeholder(str(size.node.expr))
        placeholder.meta["val"] = placeholder.meta["example_value"] = size
    copied: dict[torch.fx.Node, torch.fx.Node] = {}
    graph.output(graph.graph_copy(gm.graph, copied))
    made = CapturedModule(gm, graph, "Captured")
    made.meta.update(gm.meta)
    return made
