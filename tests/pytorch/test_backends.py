"""Every backend gives eager's results, forward and backward, with fixed and with varying sizes."""
from __future__ import annotations

import pytest
import torch

import frameloom
from frameloom import errors
from frameloom.diagnostics import events
from frameloom.pytorch.backends import registry

pytestmark = pytest.mark.torch


def step(x, w):
    hidden = torch.nn.functional.linear(x, w).relu()
    return (hidden * x.shape[0]).view(-1, 2).softmax(-1).sum(0), hidden.shape


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("dynamic", [None, True, False])
def test_forward_and_backward(backend, dynamic):
    compiled = frameloom.compile(step, backend=backend, dynamic=dynamic)
    for rows in (3, 5, 7):
        seen = []
        for run in (step, compiled):
            x = torch.linspace(-1, 1, rows * 4).view(rows, 4).requires_grad_()
            w = torch.linspace(-2, 1, 16).view(4, 4).requires_grad_()
            result, shape = run(x, w)
            (result * torch.tensor([1.0, 3.0])).sum().backward()
            seen.append((result, x.grad, w.grad, shape))
        for expected, actual in zip(*seen):
            torch.testing.assert_close(actual, expected)
    graphs = frameloom.stats().graphs
    assert graphs == {None: 2, True: 1, False: 3}[dynamic]
    assert not frameloom.stats().breaks


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_conditions_of_the_compiler_on_sizes_are_guarded(backend):
    """A backend that learns something of a varying size must not be called where that does not hold."""
    asked = []

    def picky(gm, example_inputs):
        size = example_inputs[0].shape[0]
        if not isinstance(size, int):
            asked.append(bool(size < 10))
        return registry.find_backend(backend)(gm, example_inputs)

    compiled = frameloom.compile(lambda x: x * 2 + x.shape[0], backend=picky)
    for rows in (3, 5, 7, 20, 30):
        x = torch.ones(rows)
        torch.testing.assert_close(compiled(x), x * 2 + rows)
    assert asked == [True, False]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_writes_to_inputs(backend):
    def fill(x, y):
        x.add_(1.0)
        return y * 2.0

    compiled = frameloom.compile(fill, backend=backend)
    with torch.no_grad():
        x, y = torch.zeros(4), torch.ones(4)
        assert compiled(x, y).tolist() == [2.0] * 4
        assert x.tolist() == [1.0] * 4
        base = torch.zeros(6)
        assert compiled(base[0:4], base[2:6]).tolist() == [2.0, 2.0, 0.0, 0.0]


def test_dropout_draws_the_numbers_that_eager_draws():
    def drop(x):
        return torch.nn.functional.dropout(x, 0.5) + torch.rand(3)

    x = torch.ones(3)
    for backend in ("eager", "aot_eager", "inductor"):
        compiled = frameloom.compile(drop, backend=backend)
        torch.manual_seed(7)
        expected = drop(x)
        torch.manual_seed(7)
        torch.testing.assert_close(compiled(x), expected)
        assert torch.equal(torch.rand(2), after(drop, x))


def after(function, x):
    torch.manual_seed(7)
    function(x)
    return torch.rand(2)


def test_grad_mode_inside_a_graph():
    def mixed(x):
        with torch.no_grad():
            fixed = x * 2
        return fixed, x * 3

    for backend in ("eager", "aot_eager", "inductor"):
        x = torch.ones(3, requires_grad=True)
        fixed, tracked = frameloom.compile(mixed, backend=backend)(x)
        assert (fixed.requires_grad, tracked.requires_grad) == (False, True)
        assert torch.is_grad_enabled()


def test_a_backend_that_leaves_gradients_off_does_so_for_nobody_else():
    def running(gm, example_inputs):
        gm(*example_inputs)
        return gm

    def ended(x):
        with torch.no_grad():
            fixed = x * 2
            frameloom.graph_break()
        return fixed

    modes = []
    with events.listen(lambda kind, data: modes.append(torch.is_grad_enabled()) if kind == "break" else None):
        frameloom.compile(ended, backend=running)(torch.ones(2))
    assert modes == [True]


def test_a_backend_that_fails_is_named():
    def broken(gm, example_inputs):
        raise ValueError("no")

    with pytest.raises(errors.BackendError, match="broken.*ValueError: no") as raised:
        frameloom.compile(lambda x: x + 1, backend=broken)(torch.ones(1))
    assert isinstance(raised.value.__cause__, ValueError)


def test_a_registered_backend_that_fails_is_named_as_it_was_registered():
    def broken(gm, example_inputs, options=None):
        raise ValueError("no")

    frameloom.register_backend("registered for failing", broken)
    for options in (None, {"a": 1}):
        with pytest.raises(errors.BackendError, match="'registered for failing' failed"):
            frameloom.compile(lambda x: x + 1, backend="registered for failing", options=options)(torch.ones(1))


def test_a_backend_that_returns_no_callable_is_named():
    def empty(gm, example_inputs):
        return None

    with pytest.raises(errors.BackendError, match="empty"):
        frameloom.compile(lambda x: x + 1, backend=empty)(torch.ones(1))


def test_what_a_backend_is_given():
    seen = []

    def look(gm, example_inputs):
        seen.append((gm, example_inputs))
        return gm.forward

    x, w = torch.ones(2), torch.nn.Parameter(torch.ones(2))
    frameloom.compile(lambda x: x * w, backend=look)(x)
    ((gm, example_inputs),) = seen
    assert isinstance(gm, torch.fx.GraphModule)
    assert example_inputs[0] is x and example_inputs[1] is w
    assert [node.op for node in gm.graph.nodes] == ["placeholder", "placeholder", "call_function", "output"]


def test_registered_names():
    @registry.register_backend
    def mine(gm, example_inputs):
        return gm.forward

    assert "mine" in registry.list_backends()
    assert registry.find_backend("mine") is mine
    assert registry.register_backend("yours", mine) is mine
    assert registry.find_backend("yours") is mine
    with pytest.raises(errors.UnknownBackend, match="inductor"):
        registry.find_backend("inducto")
    with pytest.raises(errors.WrongOption):
        registry.find_backend(3)
    with pytest.raises(TypeError):
        registry.register_backend("x", 3)


def test_a_backend_of_torch_is_found_by_name():
    assert "cudagraphs" in registry.list_backends()
    assert callable(registry.find_backend("aot_eager_decomp_partition"))


def test_options_of_inductor():
    from frameloom.pytorch.backends.inductor import settings

    assert settings(None, None) == {"fallback_random": True}
    assert settings(None, {"fallback_random": False})["fallback_random"] is False
    assert settings("max-autotune", None)["max_autotune"] is True
    with pytest.raises(errors.WrongOption, match="no option"):
        settings(None, {"no_such_option": 1})
    with pytest.raises(errors.WrongOption):
        settings(None, {"max_autotune": "yes"})


@pytest.mark.parametrize("backend", ["eager", "aot_eager", lambda gm, inputs: gm])
def test_hooks_for_all_modules_do_not_see_the_graph(backend):
    """There is no module in the program, so a hook for every module has nothing to be called with."""
    seen = []
    hooks = torch.nn.modules.module
    handles = [
        hooks.register_module_forward_pre_hook(lambda module, args: seen.append(type(module))),
        hooks.register_module_forward_hook(lambda module, args, result: seen.append(type(module))),
    ]
    try:
        compiled = frameloom.compile(lambda x: x.sin() + x.sum(), backend=backend)
        for _ in range(3):
            torch.testing.assert_close(compiled(torch.ones(3)), torch.ones(3).sin() + 3)
    finally:
        for handle in handles:
            handle.remove()
    assert seen == [] and frameloom.stats().ops > 0


def test_a_hook_that_a_backend_sets_on_its_graph_is_called():
    seen = []

    def hooked(gm, example_inputs):
        gm.register_forward_hook(lambda module, args, result: seen.append(len(args)))
        return gm

    frameloom.compile(lambda x: x + 1, backend=hooked)(torch.ones(3))
    assert seen == [1]
