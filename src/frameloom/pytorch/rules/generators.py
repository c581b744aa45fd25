"""`torch.Generator`, `torch.manual_seed` and the states of generators; `fork_rng` and its kin are Python around these, and are inlined."""

from __future__ import annotations

import torch

from frameloom.interpreter.attributes import OWN_NAMES
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import method, named_rule, refuse, rule
from frameloom.pytorch import generators
from frameloom.pytorch.arguments import Arguments
from frameloom.pytorch.facts import GeneratorFact
from frameloom.pytorch.state import State
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import INPUT, Const, Node, Value

INLINED = (torch.random.get_rng_state, torch.random.set_rng_state, torch.random.fork_rng.__wrapped__)
"""Functions of `torch.random` that are Python around a generator."""
GENERATOR = torch._C.Generator
SEEDS = range(-(2**63), 2**64)
OWN_NAMES[GENERATOR] = frozenset()


@rule(GENERATOR)
def _make(m: Machine, device: Value = Const("cpu")) -> Value:
    where = m.need_constant(device, "FL307", "the device of a generator is known at run time only")
    if where not in ("cpu", generators.CPU):
        raise GraphBreak("FL307", "a generator is made for another device than the CPU")
    generators.require(m.session.torch, "a generator is made")
    return m.session.record(generators.MAKE, (), {}, GENERATOR, GeneratorFact(generators.CPU))


def _followed(m: Machine, generator: Value, what: str) -> State:
    """The state of the trace, where a call on this generator can be an operation of the graph."""
    if not generators.is_generator(generator) or generator.fact.device != generators.CPU:
        raise GraphBreak("FL307", f"{what} of a generator of another device")
    generators.require(m.session.torch, f"torch.Generator.{what}")
    return m.session.torch


def _seed(m: Machine, value: Value) -> object:
    """A seed as it stands in the graph."""
    if type(value) is Const and isinstance(value.value, int) and value.value in SEEDS:
        return int(value.value)
    if type(value) is Node and value.cls is int:
        return Arguments(m.session, [value], {}, False, False).args[0]
    raise GraphBreak("FL307", f"a {value.cls.__name__} as a seed, or a whole number of more than 64 bits")


@method(GENERATOR, "manual_seed")
def _manual_seed_of(m: Machine, self: Value, seed: Value) -> Value:
    state = _followed(m, self, "manual_seed")
    generators.record(state, generators.SEED, (self, _seed(m, seed)), type(None), None)
    return self


@named_rule("torch.random", "manual_seed")
def _manual_seed(m: Machine, seed: Value) -> Value:
    """Before the first operation it is the host's affair, whatever the backend.

    By its name, since torch.compile puts a closure around it, whose code many functions share.
    """
    state = m.session.torch
    if type(seed) is Const and not _is_inside(state) and not _has_operations(state):
        m.session.record(generators.seed_all, (Const(_seed(m, seed)),), {}, type(None), None, tape="host")
    else:
        generators.require(state, "torch.manual_seed")
        generators.record(state, generators.SEED_ALL, (_seed(m, seed),), type(None), None)
    return m.observe.constant(torch.default_generator)


def _is_inside(state: State) -> bool:
    return bool(state.bodies or state.tries or state.regions_open)


def _has_operations(state: State) -> bool:
    return any(node.tape == "graph" and node.target is not INPUT for node in state.session.nodes)


@method(GENERATOR, "get_state")
def _get_state(m: Machine, self: Value) -> Value:
    return generators.record(_followed(m, self, "get_state"), generators.GET_STATE, (self,), torch.Tensor, generators.STATE)


@method(GENERATOR, "set_state")
def _set_state(m: Machine, self: Value, new_state: Value) -> Value:
    state = _followed(m, self, "set_state")
    if not generators.is_state(new_state):
        raise GraphBreak("FL307", "the state of a generator is set to what is no tensor of that size")
    generators.record(state, generators.SET_STATE, (self, new_state), type(None), None)
    return self


@method(GENERATOR, "clone_state")
def _clone_state(m: Machine, self: Value) -> Value:
    return generators.record(_followed(m, self, "clone_state"), generators.CLONE, (self,), GENERATOR, self.fact)


refuse("FL307", "a seed is drawn from the system", torch.random.seed, GENERATOR.seed)
refuse("FL307", "the seed of a generator is asked", torch.random.initial_seed, GENERATOR.initial_seed)
