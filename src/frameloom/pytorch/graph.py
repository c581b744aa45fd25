"""From the operations of a finished trace to a `torch.fx` graph, and by way of a backend to what the entry calls."""

from __future__ import annotations

import functools
import keyword
import re
from typing import Any, Callable

import torch
from torch import fx
from torch.utils.checkpoint import CheckpointPolicy

from frameloom.codegen.written import written
from frameloom.diagnostics.errors import BackendError
from frameloom.interpreter.expressions import SYMBOLS
from frameloom.pytorch import autocast, data, dual, generators, guards, inputs, own_code, settings, shapes, unbacked
from frameloom.pytorch.arguments import fill, nodes_in
from frameloom.pytorch.backends.eager import eager
from frameloom.pytorch.backends.fake_inputs import fake_inputs
from frameloom.pytorch.backends.registry import name_of
from frameloom.pytorch.captured_module import CapturedModule
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.fakes import FIRST_SAMPLE
from frameloom.pytorch.liveness import live_nodes, may_fail
from frameloom.pytorch.modes import ENTER_INFERENCE, SET_GRAD
from frameloom.pytorch.operations import METHOD_TYPES
from frameloom.pytorch.parts import compile_parts, parts_of
from frameloom.pytorch.state import State
from frameloom.symbolic.domain import GraphCall
from frameloom.symbolic.values import INPUT, Node


class TorchGraphCall(GraphCall):
    """A graph call and what the planner wants to know of it.

    may_fail: an operation may refuse values; writes_inputs: an input's storage is written to; draws: a generator is used.
    `graph_module` is what the backend was given.
    """

    __slots__ = ("may_fail", "writes_inputs", "draws", "graph_module")


def finish(state: State, outputs: list[Node], backend: Callable) -> TorchGraphCall | None:
    """Build the graph, hand it to the backend, and add the guards that only the whole trace tells.

    Raises BackendError where the backend does.
    """
    told = [*outputs, *state.alarms]
    autocast.give_back(state)
    settings.give_back(state)
    live = live_nodes(state, told)
    if all(autocast.switches(node) or settings.switches(node) for node in live):
        shapes.add_guard(state.session, state)
        return None
    given = used_inputs(live, told)
    module = build_module(state, live, given, told)
    guard_storages(state, given)
    if state.uncompiled:
        backend = eager
    compile_ = functools.partial(compiled, state, backend, module, live, given, told)
    casts = any(map(autocast.switches, live))
    if any(map(settings.switches, live)):
        compile_ = settings.keeping(state.entry_settings, compile_)
    with generators.kept(live, [inputs.object_of(node) for node in given if generators.is_generator(node)]):
        function = autocast.keeping(state.entry_autocast, compile_)() if casts else compile_()
    own_code.check(state, module, function)
    shapes.add_guard(state.session, state)  # after the backend, which may ask more about sizes
    if any(node.target in (SET_GRAD, ENTER_INFERENCE) for node in live):
        function = keeping_grad_mode(function)
    if any(node.target is dual.ENTER for node in live):
        function = dual.left_on_failure(function)
    if state.alarms:
        function = failing_by_alarms(function, len(outputs))
    if any(map(settings.switches, live)):
        function = settings.keeping(state.entry_settings, function)
    if casts:
        function = autocast.keeping(state.entry_autocast, function)
    fails = bool(state.alarms) or unbacked.count_made(state.shapes) > 0 or any(map(may_fail, live))
    writes = any(root.target is INPUT for node in live for root in state.writes.get(node, ()))
    if not state.as_it_is:
        function = data.uncounted(state, given, outputs, function)
    if fails and not writes and any(node in state.impure for node in live):
        function = generators.set_back_on_failure(given, function)
    made = TorchGraphCall(function, given, outputs, lambda: f"{UNCOMPILED * state.uncompiled}{module.code.strip()}", len(live))
    made.may_fail = fails
    made.writes_inputs = writes
    made.draws = any(node in state.impure for node in live)
    made.graph_module = module
    return made


def compiled(state: State, backend: Callable, module: fx.GraphModule, live: list[Node], given: list[Node], told: list[Node]) -> Callable:
    """What the backend makes of the graph, or of the parts whose gradients are apart."""
    shown = examples(state, module, given)
    parts = parts_of(state, live, told)
    if not parts:
        return call_backend(backend, module, shown)
    mode, fakes = fake_inputs(module, shown)
    return compile_parts(
        state, parts, mode, dict(zip(given, fakes)), told, build_module, functools.partial(call_backend, backend)
    )


UNCOMPILED = "# Runs as it is, not compiled: derivatives inside are asked of autograd.\n"


def used_inputs(live: list[Node], outputs: list[Node]) -> list[Node]:
    """The inputs of the graph in the order in which operations first use them: real tensors, and numbers of the host."""
    found: dict[Node, None] = {}
    made = set(live)
    for node in nodes_in([(node.args, node.kwargs) for node in live], []) + outputs:
        if node not in made:
            found.setdefault(node)
    return list(found)


def build_module(state: State, live: list[Node], given: list[Node], outputs: list[Node]) -> fx.GraphModule:
    """The `GraphModule` of the operations.  Its Python code is written when somebody asks for it, or calls it."""
    graph = fx.Graph()
    made: dict[Node, fx.Node] = {}
    taken: set[str] = set()
    for node in given:
        made[node] = graph.placeholder(unused(placeholder_name(node), taken))
        if inputs.has_static_address(node):
            made[node].meta["static_address"] = True
    leaf = made.__getitem__
    for node in live:
        args, kwargs = fill(node.args, leaf), fill(node.kwargs, leaf)
        target = node.target
        if isinstance(target, METHOD_TYPES):
            made[node] = graph.call_method(target.__name__, args, kwargs)
        else:
            made[node] = graph.call_function(target, args, kwargs)
        if node in state.recomputed:
            mark_recomputed(made[node], state.recomputed[node], node in state.impure)
    if unbacked.count_made(state.shapes):
        unbacked.insert_assertions(state.shapes.environment, graph, made)
    graph.output(tuple([made[node] for node in outputs]))
    return CapturedModule(torch.nn.Module(), graph, "Captured")


def mark_recomputed(node: fx.Node, region: int, impure: bool) -> None:
    """Tell backends that make backward graphs to compute the operation again there.  What draws random numbers is kept: they
    would be others."""
    node.meta["ac_graph_id"] = region
    node.meta["recompute"] = CheckpointPolicy.MUST_SAVE if impure else CheckpointPolicy.PREFER_RECOMPUTE


TABLES = re.compile(r"\._(parameters|buffers|modules)\b")


def placeholder_name(node: Node) -> str:
    """A name that reads like the path of the input, the tables of modules left out."""
    if node.source is None:
        return "computed" if node.target in SYMBOLS else "drawn"
    path = TABLES.sub("", written(node.source, node.where))
    text = re.sub(r"\W+", "_", path).strip("_").lower() or "given"
    text = f"given_{text}" if text[0].isdigit() else text
    return f"{text}_" if keyword.iskeyword(text) or text == "self" else text


def unused(name: str, taken: set[str]) -> str:
    """A name that no other placeholder has."""
    number, found = 0, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found


def examples(state: State, module: fx.GraphModule, given: list[Node]) -> list:
    """What the backend is shown: the inputs of this call, or, where a size is symbolic, fakes of them.

    `module.meta["fake_mode"]` and `val` of each placeholder are there in the second case.
    """
    if state.shapes is None:
        return [example_of(node) for node in given]
    found = []
    for node, placeholder in zip(given, module.graph.find_nodes(op="placeholder")):
        made = _fake_of(state, node)
        placeholder.meta["val"] = placeholder.meta["example_value"] = made
        found.append(made)
    module.meta["fake_mode"] = state.shapes.fakes.mode
    return found


def _fake_of(state: State, node: Node) -> Any:
    if node.real is not None:
        return inputs.fake_of(state, node)
    if node in state.given:
        return state.numbers[node].size.number
    return state.shapes.fakes.make(node.fact) if type(node.fact) is TensorFact else example_of(node)


def example_of(node: Node) -> Any:
    """What the input is in this call."""
    if node.real is not None:
        return inputs.object_of(node)
    return node.target(FIRST_SAMPLE[node.args[0].cls]) if type(node.fact) is TensorFact else FIRST_SAMPLE[node.cls]


def guard_storages(state: State, given: list[Node]) -> None:
    """Where the trace writes to an input, which inputs share storage, and where in it they lie, is an assumption (law 2)."""
    if not any(root.target is INPUT for root in state.written):
        return
    tensors = inputs.tensors_among(given)
    if len(tensors) < 2:
        return
    keys = [inputs.storage_key(node) for node in tensors]
    shared = inputs.shared_and_written(state, tensors)
    places = tuple([guards.place_of(inputs.object_of(node)) if key in shared else None for node, key in zip(tensors, keys)])
    others = tuple([node.real.source for node in tensors[1:]])
    state.session.guard("STORAGES", tensors[0].real.source, guards.StoragePayload(others, guards.grouping(keys), places))


def call_backend(backend: Callable, module: fx.GraphModule, examples: list) -> Callable:
    """What the backend makes of the module; BackendError names the backend and the cause."""
    before = torch.is_grad_enabled()
    try:
        made = backend(module, examples)
        if not callable(made):
            raise TypeError(f"a backend returns a callable, not {type(made).__qualname__}")
    except Exception as error:  # noqa: BLE001  any failure of somebody else's compiler, reported under its name
        raise BackendError(name_of(backend), error) from error
    finally:
        torch._C._set_grad_enabled(before)  # compilers that run the graph's own switches leave it as the graph does
    return made


def keeping_grad_mode(function: Callable) -> Callable:
    """A graph that changes the grad mode leaves it as it was if it fails; on success the plan sets what the trace had."""

    def run(*given: Any) -> Any:
        before, inference = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        try:
            return function(*given)
        except BaseException:
            if torch.is_inference_mode_enabled() is not inference:
                torch._C._InferenceMode(inference).__enter__()
            torch._C._set_grad_enabled(before)
            raise

    return run


class Alarm(Exception):
    """A graph met values of which eager has more to say: raised by its call, and caught by the entry."""


def failing_by_alarms(function: Callable, outputs: int) -> Callable:
    """A graph whose last results, behind `outputs` others, are alarms: truth values that should be False."""

    def run(*given: Any) -> Any:
        results = function(*given)
        if any(map(bool, results[outputs:])):
            raise Alarm
        return results[:outputs]

    return run
