"""Tensors of no dimension given where an operation takes a number: torch reads the number when the operation runs.

Another number stands for it in the run on fakes.  Where the result's facts follow from it (`arange`), that shows when a second one
gives another result, and the trace breaks.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import torch

from frameloom.pytorch import operations
from frameloom.pytorch.arguments import Arguments
from frameloom.pytorch.facts import TensorFact
from frameloom.symbolic.values import Node

RANKS = {int: 1, float: 2, complex: 3}


def given_as_tensors(function: Callable, call: Arguments) -> dict[int | str, type]:
    """The arguments of a call that are tensors in a number's place, each with the class of the number."""
    places = number_places(operations.name_of(function))
    found: dict[int | str, type] = {}
    for place, given in (*enumerate(call.args), *call.kwargs.items()):
        if place in places and _is_number(given, call.graded):
            found[place] = number_class(given.fact.dtype)
    return found if all(_fits(cls, call, found) for cls in found.values()) else {}


def _fits(cls: type, call: Arguments, found: dict) -> bool:
    """Whether the tensors of a call are of a kind for which torch takes such a number: what it refuses, it refuses in the program's
    own `try`."""
    numbers = [given for place, given in (*enumerate(call.args), *call.kwargs.items()) if place in found]
    others = [number_class(node.fact.dtype) for node in call.nodes if type(node.fact) is TensorFact and node not in numbers]
    return cls in RANKS and all(RANKS.get(other, 0) >= RANKS[cls] for other in others)


def number_class(dtype: torch.dtype) -> type:
    """The class of Python's numbers that elements of a dtype become."""
    if dtype is torch.bool:
        return bool
    return complex if dtype.is_complex else float if dtype.is_floating_point else int


def _is_number(given: Any, graded: bool) -> bool:
    """A tensor that loses a gradient on its way to a number makes torch warn; such a call is left to it."""
    if type(given) is not Node or type(given.fact) is not TensorFact:
        return False
    return not given.fact.sizes and not (graded and given.fact.requires_grad)


@functools.cache
def number_places(name: str) -> frozenset[int | str]:
    """Positions and names of the arguments for which some overload of an ATen operation takes a number and no tensor."""
    numbers: set[int | str] = set()
    tensors: set[int | str] = set()
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        for position, argument in enumerate(schema.arguments):
            places = (argument.name,) if argument.kwarg_only else (position, argument.name)
            kind = str(argument.type)
            (numbers if kind.startswith("number") else tensors if "Tensor" in kind else set()).update(places)
    return frozenset(numbers - tensors)
