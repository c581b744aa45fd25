"""Recording a call of an operation: the outcome from memory or from a run on fakes, then the nodes."""

from __future__ import annotations

import contextlib
import operator
from typing import Any, Callable

import torch

from frameloom.pytorch import aliases, fakes, operations, scalars, settings, shapes, unbacked, wrapped
from frameloom.pytorch.applied import WithBody
from frameloom.pytorch.arguments import Arguments
from frameloom.pytorch.facts import SizeFact, TensorFact
from frameloom.pytorch.failures import failed
from frameloom.pytorch.fakes import FIRST_SAMPLE, SECOND_SAMPLE, OperationFailed, Run
from frameloom.pytorch.outcomes import Outcome, TensorResult
from frameloom.pytorch.results import perform
from frameloom.pytorch.state import State
from frameloom.symbolic.layouts import list_, tuple_
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.slice_ import SliceBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Node, Obj, Value

RECIPROCAL = torch._C.TensorBase.__dict__["reciprocal"]

ATTENTION = torch.nn.functional.scaled_dot_product_attention

OF_LEVELS = frozenset({"stride", "is_contiguous", "storage_offset", "is_inference", "_is_view", "is_nonzero"})
"""What a transform answers for its own level."""

MEMORY: dict[tuple, Outcome] = {}
"""(operation, arguments, modes) -> outcome, across layers and captures; only facts without symbolic sizes."""


MOST_REMEMBERED = 50_000
"""A program that never stops meeting new facts starts over now and then."""


class Counts:
    """How often outcomes were measured and remembered, for tests and benchmarks."""

    __slots__ = ("measured", "remembered")

    def __init__(self) -> None:
        self.measured = 0
        self.remembered = 0


COUNTS = Counts()


def apply(state: State, function: Callable, args: list[Value], kwargs: dict[str, Value], exact: bool = False) -> Value:
    """Record a call of an operation and give its symbolic result.

    `exact` asks for facts that also tell leaves, whatever the operation's name says.  Raises GraphBreak where the data decide
    or torch cannot tell, SymbolicRaise where the operation refuses its arguments.
    """
    if state.bodies and operations.name_of(function) in OF_LEVELS:
        raise GraphBreak("FL303", f"{operations.name_of(function)} of a tensor is asked inside the function of a transform")
    if not state.takes_numbers:
        if function is operator.truediv and wrapped.divides(state, args):  # as torch does it: the bits are others than a quotient's
            return apply(state, operator.mul, [apply(state, RECIPROCAL, args[1:], {}), args[0]], {})
        args = wrapped.as_tensors(state, function, args)
    exact = exact or function in WRITERS or operations.writes_by_name(function, kwargs)
    call = Arguments(state.session, args, kwargs, state.grad, exact)
    if state.written:
        for node in call.nodes:
            aliases.require_history(state, node)
    try:
        outcome = outcome_of(state, function, call)
    except Inexact:
        return apply(state, function, args, kwargs, True)
    except (OperationFailed, DecidedByNumber) as failure:
        if type(failure) is OperationFailed and isinstance(function, WithBody):
            raise GraphBreak(function.kind, f"{function.title} refuses its arguments: {fakes.first_line(failure.error)}") from None
        plain = [settled(state.session, value) for value in (*args, *kwargs.values())]
        if not _same(plain, (*args, *kwargs.values())):  # it may take no symbolic number
            return apply(state, function, plain[: len(args)], dict(zip(kwargs, plain[len(args) :])))
        if type(failure) is DecidedByNumber:
            raise GraphBreak("FL207", f"{operations.name_of(function)} takes its shape from a number known at run time only") from None
        return failed(state, function, call, failure)
    if outcome.written and not isinstance(function, WithBody):
        WRITERS.add(function)
    if state.shapes is not None:
        state.shapes.note_asked(state.session.where())
    draws = function.draws if isinstance(function, WithBody) else operations.name_of(function) in operations.IMPURE
    return perform(state, function, call, outcome, draws)


def settled(session: Any, value: Value) -> Value:
    """The value with every symbolic size and every number of the host in it guarded by value; the very value where there is none."""
    if type(value) is Node:
        if value.tape == "host":
            return session.machine.settle(value) if value.fact is None else value
        if type(value.fact) is not SizeFact:
            return value
        with unbacked.decided():
            return Const(int(value.fact.size.number))
    if type(value) is not Obj:
        return value
    if isinstance(value.body, SliceBody):
        parts = [settled(session, part) for part in value.body.parts]
        return value if _same(parts, value.body.parts) else session.machine.slice(*parts)
    if isinstance(value.body, TupleBody):
        items = tuple_.items(session, value.body)
        plain = [settled(session, item) for item in items]
        return value if _same(plain, items) else session.alloc(value.cls, TupleBody(plain))
    if isinstance(value.body, ListBody) and value.cls is list:
        items = list_.items(session, value.body)
        plain = [settled(session, item) for item in items]
        return value if _same(plain, items) else session.alloc(list, ListBody(plain))
    return value


def _same(found: Any, known: Any) -> bool:
    return all(one is other for one, other in zip(found, known))


WRITERS: set = set()
"""Operations that were seen to write to an argument, whatever their name says (`relu(x, inplace=True)`)."""


class DecidedByNumber(Exception):
    """What an operation makes depends on a number that is known at run time only."""


class Inexact(Exception):
    """The outcome must be asked for with exact facts, on fakes that nobody else uses: the operation writes, or it failed, which
    a leaf may explain where the real tensor is none."""


def outcome_of(state: State, function: Callable, call: Arguments) -> Outcome:
    """The remembered outcome of a call, or a measured one."""
    kernels = settings.of_attention(state) if function is ATTENTION else ()
    key = (function, tuple(call.key), state.modes, kernels)
    memory = state.memo if call.symbolic or isinstance(function, WithBody) else MEMORY
    try:
        outcome = memory.get(key)
    except TypeError:
        raise GraphBreak("FL101", f"an argument of {operations.name_of(function)} cannot be put into a graph") from None
    if outcome is not None:
        COUNTS.remembered += 1
        return outcome
    made = unbacked.count_made(state.shapes)
    with settings.as_known(state) if state.settings != state.entry_settings else contextlib.nullcontext():
        outcome = _measure(state, function, call)
    if unbacked.count_made(state.shapes) > made:  # each call has numbers of its own
        unbacked.settle_pending(state.shapes)
        return outcome._replace(fresh=True)
    if len(memory) >= MOST_REMEMBERED:
        memory.clear()
    memory[key] = outcome
    return outcome


def _measure(state: State, function: Callable, call: Arguments) -> Outcome:
    COUNTS.measured += 1
    may_follow = (state.scalars or state.data_shapes) and _may_follow_from_data(function, call)
    if call.symbolic and may_follow:
        return _measure_unbacked(state, function, call)
    modes = (state.grad, state.inference, state.autocast.casts)
    source = state.shapes.fakes if call.symbolic else fakes.static_fakes()
    try:
        outcome = Run(source, call, FIRST_SAMPLE).measure(function, *modes)
    except OperationFailed:
        if state.grad and not call.exact and call.nodes:
            raise Inexact from None
        raise
    except GraphBreak as failure:
        if may_follow and failure.kind in ("FL202", "FL203"):
            return _measure_unbacked(state, function, call)
        places = scalars.given_as_tensors(function, call) if failure.kind == "FL202" else {}
        if not places:
            raise
        first, second = ({place: sample[cls] for place, cls in places.items()} for sample in (FIRST_SAMPLE, SECOND_SAMPLE))
        outcome = Run(source, call, FIRST_SAMPLE).measure(function, *modes, first)
        if Run(source, call, FIRST_SAMPLE).measure(function, *modes, second) != outcome:
            raise
    if outcome.written and not call.exact:
        source.pool.clear()
        raise Inexact
    if any(node.tape == "host" and node.fact is None and node not in call.numbers for node in call.nodes):
        other = Run(source, call, SECOND_SAMPLE).measure(function, *modes)
        if other != outcome:
            raise DecidedByNumber
    return _with_statistics(function, call, outcome)


DATA_DEPENDENT = frozenset(
    {"item", "nonzero", "argwhere", "masked_select", "_unique2", "unique_consecutive", "unique_dim", "bincount", "repeat_interleave"}
)
PICKING = frozenset({"getitem", "__getitem__", "setitem", "__setitem__", "where", "index", "index_put", "index_put_"})


def _may_follow_from_data(function: Callable, call: Arguments) -> bool:
    """Whether the result may have a number or a size that follows from data: fakes that other calls share would give them one together."""
    name = operations.name_of(function).removeprefix("aten.").partition(".")[0]
    return name in DATA_DEPENDENT or name in PICKING and any(
        type(node.fact) is TensorFact and node.fact.dtype in (torch.bool, torch.uint8) for node in call.nodes
    )


def _measure_unbacked(state: State, function: Callable, call: Arguments) -> Outcome:
    """The outcome on fakes of their own, under the settings that let numbers and sizes follow from data."""
    shared = shapes.shapes_of(state)
    call.exact = call.symbolic = True
    outcome = Run(shared.fakes, call, FIRST_SAMPLE).measure(function, state.grad, state.inference, state.autocast.casts)
    return outcome if operations.name_of(function) not in COLUMNS else outcome._replace(result=_by_columns(outcome.result))


COLUMNS = frozenset({"nonzero", "argwhere"})
"""Operations whose real kernels lay their results out by columns, where those for fakes do by rows."""


def _by_columns(result: Any) -> Any:
    if type(result) is not TensorResult or len(result.fact.sizes) != 2:
        return result
    return result._replace(fact=result.fact.replace(strides=(1, result.fact.sizes[0])))


def _with_statistics(function: Callable, call: Arguments, outcome: Outcome) -> Outcome:
    """Add the running statistics that a normalisation updates without saying so."""
    positions = operations.RUNNING_STATISTICS.get(operations.name_of(function))
    if positions is None:
        return outcome
    mean, variance, flag = (call.args[i] if i < len(call.args) else None for i in positions)
    if flag is not True:
        return outcome
    written = {call.nodes.index(node) for node in (mean, variance) if type(node) is Node}
    return outcome._replace(written=tuple(sorted(written.union(outcome.written))))


def forget() -> None:
    """Drop every remembered outcome."""
    MEMORY.clear()
    WRITERS.clear()
