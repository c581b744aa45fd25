"""An operation that refuses its arguments: the user's program raises.

Torch's fake kernels and its real ones do not always raise the same exception.  So the operation is tried on real tensors of
zeros with the same facts; what that raises is what the program would see.  Where it cannot be tried, or raises nothing, the
trace breaks at the instruction and the real operation speaks for itself.
"""

from __future__ import annotations

import math
from typing import Callable

import torch

from frameloom.pytorch.arguments import Arguments, fill
from frameloom.pytorch.casts import casting
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.fakes import OperationFailed, autograd_mode
from frameloom.pytorch.operations import name_of
from frameloom.pytorch.state import State
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node, Value

SPEAKS_FOR_ITSELF = "the operation runs behind the break, and says itself what is wrong with its arguments"
LARGEST = 1 << 20
"""The most elements that the tensors of a trial may have."""


def failed(state: State, function: Callable, call: Arguments, failure: OperationFailed) -> Value:
    """Raise what eager would: SymbolicRaise, or a GraphBreak before the operation.  Which complaint comes first may depend on
    shared storage, so views are not tried."""
    what = f"{name_of(function)} refuses its arguments: {_first_line(failure.error)}"
    roots = {state.root_of(node) for node in call.nodes}
    alone = len(roots) == len(call.nodes) and not any(node in state.views for node in call.nodes)
    if call.symbolic or not alone or not all(_is_small(node) for node in call.nodes):
        raise GraphBreak("FL309", what, SPEAKS_FOR_ITSELF)
    with casting(state.autocast.casts):
        error = _try(function, call, state.grad, state.inference)
    if error is None or not all(type(part) in (str, int, float, bool) for part in error.args):
        raise GraphBreak("FL309", what, SPEAKS_FOR_ITSELF)
    raise state.session.machine.error(type(error), *error.args)


def _is_small(node: Node) -> bool:
    fact = node.fact
    return type(fact) is TensorFact and math.prod(fact.sizes) <= LARGEST and fact.device.type == "cpu"


def _try(function: Callable, call: Arguments, grad: bool, inference: bool) -> Exception | None:
    """What the operation raises on real zeros."""
    made: dict[Node, torch.Tensor] = {}
    for node in call.nodes:
        fact = node.fact
        made[node] = _zeros(fact, grad)
    state = torch.random.get_rng_state()
    try:
        with autograd_mode(grad, inference):
            function(*fill(call.args, made.__getitem__), **fill(call.kwargs, made.__getitem__))
    except RecursionError:
        raise  # of the capture's own stack, perhaps
    except Exception as error:  # noqa: BLE001  the very question is what it raises
        return error
    finally:
        torch.random.set_rng_state(state)
    return None


def _zeros(fact: TensorFact, grad: bool) -> torch.Tensor:
    """A real tensor with this fact."""
    made = torch.empty_strided(fact.sizes, fact.strides, dtype=fact.dtype)
    if 0 not in fact.strides:
        made.zero_()
    if not fact.requires_grad or not grad:
        return made
    made.requires_grad_(True)
    if fact.is_leaf:
        return made
    with torch.enable_grad():
        if 0 in fact.strides:  # nothing can be written to what was expanded
            return (torch.zeros((), dtype=fact.dtype, requires_grad=True) * 1).as_strided((1,) * len(fact.sizes), fact.strides).expand(fact.sizes)
        return torch.empty_strided(fact.sizes, fact.strides, dtype=fact.dtype).copy_(made)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
