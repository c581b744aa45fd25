"""`torch.utils.checkpoint`.  The function of the variant that is not reentrant is inlined, and its operations are marked.

Backends that make backward graphs compute marked operations again there instead of keeping their results.  In eager the program's
function runs again in the backward pass.  So it may do nothing that shows when it is done once only: what does is left to eager.

The reentrant variant is a function of autograd that runs a backward pass of its own, into the gradients of all that the function uses.  It
is an operation of graphs that run as they are, with a captured body.
"""

from __future__ import annotations

from typing import Any

from torch.utils import checkpoint as module

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import autocast, bodies, modes, own_code
from frameloom.pytorch.bodies import Body, Given, Operator
from frameloom.pytorch.state import State
from frameloom.pytorch.structure import is_tensor
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import INPUT, NONE, Const, Node, Value

REENTRANT = Operator("FL314", "the reentrant variant of checkpoint")

DEFAULT = module._DEFAULT_DETERMINISM_MODE


def checkpointed(
    function: Any, *args: Any, use_reentrant: Any = None, context_fn: Any = module.noop_context_fn, determinism_check: Any = DEFAULT,
    debug: Any = False, early_stop: Any = True, **kwargs: Any,
) -> Any:
    """As `torch.utils.checkpoint.checkpoint`."""
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant is True and not kwargs and context_fn is module.noop_context_fn and debug is False:
        return reentered(function, preserve, *args)
    if use_reentrant is not False:
        return left_to_eager("the reentrant variant of checkpoint")
    if context_fn is not module.noop_context_fn:
        return left_to_eager("checkpoint with a context_fn")
    if debug is not False or module._checkpoint_debug_enabled or determinism_check not in (DEFAULT, "none"):
        return left_to_eager("checkpoint with checks of its own")
    first = begin()
    result = function(*args, **kwargs)
    end(first, bool(preserve))
    return result


def reentered(function: Any, preserve: Any, *args: Any) -> Any:
    """Its rule records the operation."""
    raise AssertionError("checkpointed is traced only")


def left_to_eager(what: str) -> Any:
    """Its rule breaks."""
    raise AssertionError("checkpointed is traced only")


def begin() -> int:
    """How many nodes the trace has."""
    raise AssertionError("checkpointed is traced only")


def end(first: int, preserve: bool) -> None:
    """Its rule marks the nodes made since, or breaks."""
    raise AssertionError("checkpointed is traced only")


@rule(module.checkpoint.__wrapped__)
def _checkpoint(m: Machine, *args: Value, **kwargs: Value) -> Value:
    return m.invoke(m.observe.constant(checkpointed), list(args), kwargs)


@rule(left_to_eager)
def _left_to_eager(m: Machine, what: Value) -> Value:
    raise GraphBreak("FL314", what.value)


@rule(reentered)
def _reentered(m: Machine, function: Value, preserve: Value, *args: Value) -> Value:
    state, given = m.session.torch, [arg for arg in args if is_tensor(arg)]
    keeps = bool(m.need_constant(preserve, REENTRANT.kind, "a flag known at run time only"))
    if not state.grad or not any(node.fact.requires_grad for node in given):
        raise REENTRANT.refuse("no gradient is recorded")
    if not own_code.require(state):
        raise REENTRANT.refuse("this backend makes backward graphs of its own")
    forward, again = (_body(m, function, args, given, grad) for grad in (False, True))
    if not _same(forward, again):
        raise REENTRANT.refuse("its function does something else where gradients are recorded")
    module_, size = again.module, len(given)

    def run(*operands: Any) -> tuple:
        lifted = operands[size:]
        made = module.CheckpointFunction.apply(lambda *flat: module_.forward(*flat, *lifted), keeps, *operands[:size])
        return tuple(made)

    return again.result(m.session, bodies.perform(m, REENTRANT, [*given, *again.lifted], run, [again]))


def _body(m: Machine, function: Value, args: tuple[Value, ...], given: list[Node], grad: bool) -> Body:
    """The function as it runs in the forward pass, without gradients, or in the backward pass, on detached tensors."""
    facts = [node.fact if not grad else node.fact.replace(is_leaf=True) for node in given]

    def called(stand_ins: list[Node]) -> Given:
        left = iter(stand_ins)
        return Given([next(left) if is_tensor(arg) else arg for arg in args], {})

    body = bodies.capture(m, REENTRANT, function, facts, called, grad)
    if not body.all_tensors or body.shape.cls not in (None, tuple) or len(body.shape.parts) not in (0, len(body.leaves)):
        raise REENTRANT.refuse("its function gives something else than a tensor or a tuple of tensors")
    return body


def _same(one: Body, other: Body) -> bool:
    """Whether two bodies do the same."""
    return (one.lifted, one.shape, _written(one)) == (other.lifted, other.shape, _written(other))


def _written(body: Body) -> list:
    return [(node.op, node.target, str(node.args), str(node.kwargs)) for node in body.module.graph.nodes]


@rule(begin)
def _begin(m: Machine) -> Value:
    session, state = m.session, m.session.torch
    if state.bodies:
        raise GraphBreak("FL314", "checkpoint inside a function that an operation of torch is given")
    session.journal.set_field(state, "regions_open", (*state.regions_open, (set(session.written), _effects(state))))
    return Const(len(session.nodes))


@rule(end)
def _end(m: Machine, first: Value, preserve: Value) -> Value:
    session, state = m.session, m.session.torch
    *others, before = state.regions_open
    session.journal.set_field(state, "regions_open", tuple(others))
    made = session.nodes[first.value :]
    if before != (set(session.written), _effects(state)):
        raise GraphBreak("FL314", "the function that checkpoint runs changes something")
    for node in made:
        _check(state, node, first.value, preserve.value)
    for node in made:
        if node not in state.recomputed and node.target is not INPUT:
            session.journal.set_item(state.recomputed, node, first.value)
    return NONE


def _effects(state: State) -> list:
    """The effects but for the grad mode, with what of autocast is changed."""
    changed = autocast.difference(state.autocast, state.entry_autocast)
    others = [operation for operation in state.session.operations if operation.kind not in (modes.EFFECT, autocast.EFFECT)]
    return others + changed


def _check(state: State, node: Node, first: int, preserve: bool) -> None:
    """Break at what shows when it is done twice."""
    if node.tape != "graph" and node.target is not INPUT:
        raise GraphBreak("FL314", "the function that checkpoint runs draws or computes numbers in Python")
    if any(root.number < first or root.target is INPUT for root in state.writes.get(node, ())):
        raise GraphBreak("FL314", "the function that checkpoint runs writes to a tensor that was there before")
    if not preserve and node in state.impure and not autocast.switches(node) and node.target is not modes.SET_GRAD:
        raise GraphBreak("FL314", "the function that checkpoint runs draws random numbers, which it is to draw anew")
