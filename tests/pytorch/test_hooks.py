"""Hooks on tensors and modules: registered before, inside and after capture, removed, with state of their own."""
from __future__ import annotations

import warnings
from typing import Any, Callable

import pytest
import torch
from torch import nn
from torch.autograd.graph import register_multi_grad_hook
from torch.utils._pytree import tree_leaves

import frameloom
from frameloom.pytorch.backends.registry import find_backend

pytestmark = pytest.mark.torch
LOG: list = []
WEIGHT = torch.ones(3, requires_grad=True)


def note(name: str, factor: float | None = None) -> Callable:
    def hook(gradient: torch.Tensor) -> Any:
        LOG.append((name, gradient.sum().item()))
        return None if factor is None else gradient * factor

    return hook


def plain(x):
    return (x * WEIGHT).sin()


def on_an_intermediate(x):
    y = x * WEIGHT
    y.register_hook(note("intermediate", 2))
    return y.sin()


def on_a_parameter(x):
    handle = WEIGHT.register_hook(note("parameter", 3))
    return (x * WEIGHT).sin(), handle


def behind_a_parameter(x):
    handle = WEIGHT.register_post_accumulate_grad_hook(lambda p: LOG.append(("behind", p.grad.sum().item())))
    return (x * WEIGHT).sin(), handle


def several(x):
    y = x * WEIGHT
    y.register_hook(note("first", 2))
    z = y.sin()
    z.register_hook(note("second"))
    y.register_hook(note("third", 0.5))
    return z.cos()


def with_a_cell(x):
    count = 0

    def hook(gradient):
        nonlocal count
        count += 1
        LOG.append(count)

    y = x * WEIGHT
    y.register_hook(hook)
    return y.cos(), lambda: count


def removed(x):
    y = x * WEIGHT
    handle = y.register_hook(note("gone"))
    handle.remove()
    return y.cos()


def retained(x):
    y = x * WEIGHT
    y.retain_grad()
    return y.sin(), y


def written_afterwards(x):
    y = x * WEIGHT
    y.register_hook(note("before the write", 2))
    y.mul_(3)
    return y.sin()


def written_before(x):
    y = x * WEIGHT
    y.mul_(3)
    y.register_hook(note("behind the write", 2))
    return y.sin()


def seen_through_a_view(x):
    y = x * WEIGHT
    z = y.view(3, 1)
    z.register_hook(note("view", 2))
    y.register_hook(note("base", 3))
    return (z.sin() * y).sum()


def of_a_hooked_view(x):
    y = x * WEIGHT
    z = y.view(3)
    z.register_hook(note("view", 2))
    y.mul_(2)
    return (z.sin() * y).sum()


def inside_a_block(x):
    with WEIGHT.register_hook(note("never")) as handle:
        y = x * WEIGHT
    return y.sin(), handle


def told_apart(x):
    first = WEIGHT.register_hook(note("first"))
    second = x.register_hook(note("second"))
    LOG.append(second.id - first.id)
    return (x * WEIGHT).sin(), first, second


def labelled(x):
    handle = WEIGHT.register_hook(note("labelled"))
    handle.label = "mine"
    LOG.append((handle.label, hasattr(handle, "nothing"), type(handle).__name__))
    return (x * WEIGHT).sin(), handle


def with_what_was_computed(x):
    y = (x * WEIGHT).exp()
    x.register_hook(lambda gradient: gradient * y.detach())
    return y


def without_gradient(x):
    try:
        x.detach().register_hook(note("never"))
    except RuntimeError as error:
        LOG.append(str(error))
    return (x * WEIGHT).sin()


def by_a_bound_method(x):
    y = x * WEIGHT
    y.register_hook(LOG.append)
    return y.sin()


def outcome(function: Callable, prepare: Callable, after: Callable) -> Any:
    """Gradients and what hooks saw, of two backward passes."""
    LOG.clear()
    WEIGHT.grad = None
    x = torch.arange(3.0, requires_grad=True)
    handles = prepare(x)
    result = function(x)
    parts = list(result) if isinstance(result, tuple) else [result]
    after(parts[0])
    for _ in range(2):
        parts[0].sum().backward(retain_graph=True)
    for part in (*parts, *handles):
        if hasattr(part, "remove"):
            part.remove()
        elif callable(part):
            LOG.append(part())
    retained = [part.grad for part in parts if isinstance(part, torch.Tensor) and part.retains_grad]
    return [parts[0].detach(), x.grad, WEIGHT.grad.clone(), *retained], list(LOG)


def nothing(x):
    return []


BEFORE = {
    "nothing": nothing,
    "input": lambda x: [x.register_hook(note("input", 2))],
    "parameter": lambda x: [WEIGHT.register_hook(note("parameter")), WEIGHT.register_post_accumulate_grad_hook(lambda p: LOG.append("behind"))],
}
AFTER = {"nothing": nothing, "result": lambda y: y.register_hook(note("result", 3))}
ON_INPUTS = [plain, on_a_parameter, behind_a_parameter, inside_a_block, labelled, with_what_was_computed]
ON_RESULTS = [on_an_intermediate, several, with_a_cell, removed, retained, written_before, seen_through_a_view, by_a_bound_method]
BREAKING = [written_afterwards, of_a_hooked_view, told_apart, without_gradient]
FUNCTIONS = [*ON_INPUTS, *ON_RESULTS, *BREAKING]


def module_itself(gm: torch.fx.GraphModule, example_inputs: list) -> Callable:
    """A backend of the user's that runs the graph as it is."""
    return gm


def by_aot(gm: torch.fx.GraphModule, example_inputs: list) -> Callable:
    """A backend of the user's that makes a backward graph."""
    return find_backend("aot_eager")(gm, example_inputs)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", module_itself, by_aot])
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_on_tensors(function: Callable, before: str, backend: Any) -> None:
    compiled = frameloom.compile(function, backend=backend)
    for after in AFTER.values():
        found, expected = outcome(compiled, BEFORE[before], after), outcome(function, BEFORE[before], after)
        assert str(found[1]) == str(expected[1])
        assert all(torch.equal(one, other) for one, other in zip(found[0], expected[0], strict=True))
    breaks = function in BREAKING or function in ON_RESULTS and backend not in ("eager", module_itself)
    assert not frameloom.stats().eager and bool(frameloom.stats().breaks) is breaks


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x).sin()


def log(name: str, result: Any = None) -> Any:
    LOG.append(name)
    return result


MODULES = {
    "forward": lambda m: m.layer.register_forward_hook(lambda module, args, result: log("forward", result * 2)),
    "before": lambda m: m.layer.register_forward_pre_hook(lambda module, args: log("before", (args[0] + 1,))),
    "named": lambda m: m.layer.register_forward_hook(lambda module, args, named, result: log("named", result + 1), with_kwargs=True),
    "backward": lambda m: m.layer.register_full_backward_hook(lambda module, of_input, of_output: log("backward")),
    "before backward": lambda m: m.register_full_backward_pre_hook(lambda module, of_output: log("before backward", (of_output[0] * 2,))),
}


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("kind", MODULES)
def test_on_modules(kind: str, backend: str) -> None:
    """Set before the first call, removed after the second."""

    def run(wrap: Callable) -> list:
        LOG.clear()
        torch.manual_seed(0)
        model = Model()
        handle = MODULES[kind](model)
        called, seen = wrap(model), []
        for number in range(4):
            x = torch.arange(3.0, requires_grad=True)
            result = called(x)
            result.sum().backward()
            seen += [result.detach(), x.grad]
            if number == 1:
                handle.remove()
        return [*seen, *[p.grad for p in model.parameters()]], list(LOG)

    found, expected = run(frameloom.compile(backend=backend)), run(lambda model: model)
    assert found[1] == expected[1]
    assert all(torch.equal(one, other) for one, other in zip(found[0], expected[0], strict=True))


class Pair(nn.Module):
    """Two tensors in, a tuple of three things out; one input has no gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x: torch.Tensor, y: torch.Tensor, *, scale: float = 1.0) -> tuple:
        return x * self.weight * scale, y, "text"


class Around(nn.Module):
    """Hooks around several modules, one of them called twice."""

    def __init__(self, sees: Callable) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.pair = Pair()
        self.layer.register_full_backward_hook(lambda module, of_input, of_output: sees("layer", of_input, of_output))
        self.layer.register_full_backward_hook(lambda module, of_input, of_output: of_input[0] if of_input[0] is None else (of_input[0] * 2,))
        self.layer.register_full_backward_pre_hook(lambda module, of_output: sees("before the layer", of_output))
        self.pair.register_full_backward_hook(lambda module, of_input, of_output: sees("pair", of_input, of_output))
        self.register_full_backward_hook(self.counted)
        self.calls = 0

    def counted(self, module: nn.Module, of_input: tuple, of_output: tuple) -> None:
        self.calls += 1

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        a, b, _ = self.pair(self.layer(x), y, scale=2.0)
        return self.layer(a).sin() + b


class BrokenInside(Around):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        frameloom.graph_break()
        return super().forward(x, y)


class DerivedInside(Around):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        result = super().forward(x, y)
        return result + torch.autograd.grad(result.sum(), x, create_graph=True)[0]


def around(cls: type, wrap: Callable, graded: bool) -> list:
    seen: list = []
    torch.manual_seed(0)
    model = cls(lambda name, *gradients: seen.append((name, [[g if g is None else g.clone() for g in part] for part in gradients])))
    called = wrap(model)
    shown: list = []
    for number in range(3):
        x, y = torch.arange(3.0).requires_grad_(graded), torch.ones(3) * number
        if number == 2:
            for handles in (model.layer._backward_hooks, model._backward_hooks):
                handles.clear()
        result = called(x, y)
        result.sum().backward()
        shown += [result.detach(), x.grad, model.calls]
    return tree_leaves([shown, [p.grad for p in model.parameters()], seen])


@pytest.mark.parametrize(
    ("cls", "backend", "graded"),
    [
        *[(cls, backend, graded) for cls in (Around, BrokenInside) for backend in ("eager", "aot_eager") for graded in (False, True)],
        (DerivedInside, "eager", True),
    ],
)
def test_around_modules(cls: type, backend: str, graded: bool) -> None:
    """Where no input requires grad, torch warns in the backward pass.  AOTAutograd has no second derivatives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = around(cls, lambda model: model, graded)
        found = around(cls, lambda model: frameloom.compile(model, backend=backend), graded)
    assert len(found) == len(expected)
    assert all(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in zip(found, expected))
    assert bool(frameloom.stats().breaks) is not (cls is Around and backend == "eager")


class OnSeveral:
    """Hooks on several tensors at once, one of them removed in the same frame."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.seen: list = []

    def note(self, gradients: Any) -> None:
        self.seen.append([g if g is None else g.tolist() for g in gradients] if self.mode == "all" else gradients.tolist())

    def __call__(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y = x * w
        handle = register_multi_grad_hook([x, w, y], self.note, mode=self.mode)
        register_multi_grad_hook((x, y), self.seen.append, mode="any").remove()
        self.handle = handle
        return y.sin() + x


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("mode", ["all", "any"])
def test_on_several_tensors(mode: str, backend: str) -> None:
    def run(wrap: Callable) -> list:
        hooked, shown = OnSeveral(mode), []
        called = wrap(hooked.__call__)
        for number in range(3):
            x, w = torch.arange(3.0, requires_grad=True), torch.ones(3, requires_grad=True)
            result = called(x, w)
            if number == 1:
                hooked.handle.remove()
            result.sum().backward()
            shown += [result.tolist(), x.grad.tolist(), w.grad.tolist(), len(hooked.seen)]
        return [*shown, hooked.seen]

    assert run(frameloom.compile(backend=backend)) == run(lambda function: function)
    assert bool(frameloom.stats().breaks) is (backend == "aot_eager")
