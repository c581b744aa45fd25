"""Operations whose results depend on how their operands came about: on what autograd knows of them.

What such an operation gives is told by doing all of it on fakes: the operations that its operands come from are run again, and then it is.
"""

from __future__ import annotations

import contextlib
import operator
from typing import Callable

import torch

from frameloom.pytorch import aliases, dual, fakes, generators, graph, settings, unbacked
from frameloom.pytorch.applied import WithBody
from frameloom.pytorch.bodies import Operator
from frameloom.pytorch.casts import casting
from frameloom.pytorch.liveness import live_nodes
from frameloom.pytorch.state import State
from frameloom.pytorch.structure import is_tensor
from frameloom.symbolic.values import INPUT, NONE, Node, Value


def record(state: State, title: Operator, target: WithBody, operands: list[Node], check: Callable[[list[Node]], None]) -> list[Value]:
    """Record `target(*operands)`, which gives a tuple of tensors and None; its results.

    check: is given the inputs that all of it comes from.  Raises GraphBreak where that is not told, or where torch refuses it.
    """
    live = live_nodes(state, operands)
    given = graph.used_inputs(live, operands)
    if not all(is_tensor(node) and node.target is INPUT for node in given):
        raise title.refuse("it depends on a number that is known at run time only")
    check(given)
    told = list(dict.fromkeys([*operands, *filter(is_tensor, live), *given]))
    seen, found = _on_fakes(state, title, target, live, given, told, len(operands))
    node = state.session.record(target, tuple(operands), {}, tuple, None)
    state.session.journal.set_item(state.impure, node, True)  # what it lets go of cannot be asked again
    known = {id(fake): value for fake, value in zip(seen, told)}
    storages = {fakes.storage_of(fake): value for fake, value in zip(seen, told)}
    return [NONE if item is None else _result(state, node, index, item, known, storages) for index, item in enumerate(found)]


def _result(state: State, node: Node, index: int, found: torch.Tensor, known: dict[int, Node], storages: dict[int, Node]) -> Value:
    if id(found) in known:
        return known[id(found)]
    made = state.session.record(operator.getitem, (node, index), {}, torch.Tensor, fakes.fact_of(found))
    owner = storages.setdefault(fakes.storage_of(found), made)
    if owner is not made:
        aliases.share(state, made, owner, found.requires_grad and found._is_view(), False)
    known[id(found)] = made
    return made


def _on_fakes(
    state: State, title: Operator, target: WithBody, live: list[Node], given: list[Node], told: list[Node], operands: int
) -> tuple[list, tuple]:
    """The fakes of the nodes `told`, the operands first, and what the operation gives of them."""
    if unbacked.count_made(state.shapes):
        raise title.refuse("it depends on sizes that follow from data")
    module = graph.build_module(state, live, given, told)
    source = fakes.static_fakes() if state.shapes is None else state.shapes.fakes
    stand_ins = [source.make(state.entry_facts[node]) for node in given]
    level = dual.apart() if any(node.target is dual.ENTER for node in live) else contextlib.nullcontext()
    with fakes.quiet(), casting(state.entry_autocast.casts), source.mode, level, settings.as_entered(state), generators.kept(live, []):
        with fakes.autograd_mode(state.entry_grad, False):
            seen = fakes.guarded_call(module.forward, tuple(stand_ins), {})
        with fakes.autograd_mode(state.grad, False), torch.autograd.set_detect_anomaly(False):  # fakes have no numbers to look at
            try:
                return list(seen), fakes.guarded_call(target, tuple(seen[:operands]), {})
            except fakes.OperationFailed as failure:
                raise title.refuse(f"it refuses its arguments: {fakes.first_line(failure.error)}") from None
