"""Parts of a graph whose gradients a program can ask for one by one.

A compiler with a backward graph of its own makes one function of autograd out of a whole graph: the first `backward()` through any of its
results frees what all of them need, and gives zeros to parameters that only others lead to.  In eager torch the losses of two networks
know nothing of each other.  So where results stand on separate networks, each is a part of its own, with its own backward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode

from frameloom.pytorch import autocast, dual, settings, unbacked
from frameloom.pytorch.arguments import nodes_in
from frameloom.pytorch.facts import SizeFact, TensorFact
from frameloom.pytorch.fakes import Fakes
from frameloom.pytorch.modes import ENTER_INFERENCE, SET_GRAD
from frameloom.pytorch.state import State
from frameloom.symbolic.values import Node


class Part(NamedTuple):
    """Operations that follow each other, what they take from before, and which results of theirs are wanted behind them."""

    nodes: list[Node]
    given: list[Node]
    results: list[Node]


def parts_of(state: State, live: list[Node], outputs: list[Node]) -> list[Part]:
    """The parts in program order; none where the graph is best one."""
    if not state.makes_backward or state.as_it_is or state.uncompiled or unbacked.count_made(state.shapes) or any(map(_binds, live)):
        return []
    families = Families(live)
    atoms = list(_atoms(state, live))
    for atom in atoms:
        families.join(atom)
    wanted = {families.of(node) for node in outputs} - {None}
    if len(wanted) < 2:
        return []
    parts = _cut([(atom, families.among(atom, wanted)) for atom in atoms], outputs)
    made = set(live)
    between = [node for part in parts for node in part.given if node in made]
    return parts if all(_can_cross(state, node) for node in between) else []


def _binds(node: Node) -> bool:
    """Whether an operation changes a setting that holds for what follows, and that a part of the graph would not find."""
    return autocast.switches(node) or settings.switches(node) or node.target in (ENTER_INFERENCE, dual.ENTER)


def _can_cross(state: State, node: Node) -> bool:
    """Whether a result can go from part to part: compilers are shown a tensor that shares memory with nothing that is written to."""
    if type(node.fact) is SizeFact:
        return True
    return type(node.fact) is TensorFact and state.root_of(node) not in state.written


class Families:
    """Operations that gradients pass, by what they are connected with through results of operations.  What the graph is given connects
    nothing: gradients end there, or go on outside.  (Union of disjoint sets, by paths that are halved on the way.)"""

    def __init__(self, live: list[Node]) -> None:
        self.above: dict[Node, Node] = {}
        for node in live:
            before = [argument for argument in nodes_in((node.args, node.kwargs), []) if argument in self.above]
            fact = node.fact
            if fact.requires_grad if type(fact) is TensorFact else before:
                self.above[node] = node
                self.join([*before, node])

    def of(self, node: Node) -> Node | None:
        """The node that stands for a family; None for one that no gradient passes."""
        above = self.above
        if node not in above:
            return None
        while above[node] is not node:
            above[node] = node = above[above[node]]
        return node

    def join(self, nodes: list[Node]) -> None:
        """Make the families of some operations one."""
        tops = [top for node in nodes if (top := self.of(node)) is not None]
        for top in tops[1:]:
            self.above[self.of(top)] = self.of(tops[0])

    def among(self, nodes: list[Node], wanted: set) -> Node | None:
        """The one family among some nodes whose gradients can be asked for."""
        return next((top for node in nodes if (top := self.of(node)) in wanted and top is not None), None)


def _atoms(state: State, live: list[Node]) -> Iterator[list[Node]]:
    """Operations one by one; those between switches of the grad mode that take each other back are one."""
    atom: list[Node] = []
    for node in live:
        atom.append(node)
        if node.target is SET_GRAD:
            grad = node.args[0]
        elif len(atom) == 1:
            grad = state.entry_grad
        if grad is state.entry_grad:
            yield atom
            atom = []
    if atom:
        yield atom


def _cut(labelled: list[tuple[list[Node], Node | None]], outputs: list[Node]) -> list[Part]:
    runs: list[list[Node]] = [[]]
    current = None
    for atom, family in labelled:
        if family is not None and current is not None and family is not current:
            runs.append([])
        runs[-1] += atom
        current = family if family is not None else current
    parts: list[Part] = []
    wanted = set(outputs)
    for nodes in reversed(runs):
        made = set(nodes)
        used = dict.fromkeys(nodes_in([(node.args, node.kwargs) for node in nodes], []))
        parts.append(Part(nodes, [node for node in used if node not in made], [node for node in nodes if node in wanted]))
        wanted.update(used)
    return parts[::-1]


def compile_parts(
    state: State, parts: list[Part], mode: FakeTensorMode, fakes: dict[Node, Any], outputs: list[Node],
    build: Callable[..., fx.GraphModule], compile_: Callable[[fx.GraphModule, list], Callable],
) -> Callable:  # fmt: skip
    """What calls the compiled parts one after the other.  `fakes` has what stands for each input of the whole, in their order."""
    pool = Fakes(mode)
    places = {node: place for place, node in enumerate(fakes)}
    steps = []
    for part in parts:
        module = build(state, part.nodes, part.given, part.results)
        shown = [_shown(pool, fakes, node) for node in part.given]
        for placeholder, fake in zip(module.graph.find_nodes(op="placeholder"), shown):
            placeholder.meta["val"] = placeholder.meta["example_value"] = fake
        module.meta["fake_mode"] = mode
        steps.append((compile_(module, shown), [places[node] for node in part.given]))
        for node in part.results:
            places[node] = len(places)
    results = [places[node] for node in outputs]

    def run(*given: Any) -> tuple:
        held = list(given)
        for function, wanted in steps:
            held += function(*[held[place] for place in wanted])
        return tuple([held[place] for place in results])

    return run


def _shown(pool: Fakes, fakes: dict[Node, Any], node: Node) -> Any:
    """What stands for an input of a part: for what an earlier part gives it is made of what the trace knows."""
    if node not in fakes:
        fakes[node] = node.fact.size.number if type(node.fact) is SizeFact else pool.make(node.fact)
    return fakes[node]
