"""Lazy modules: the call that makes their parameters breaks once for each, and the next one is whole."""
from __future__ import annotations

import pytest
import torch
from torch import nn

import frameloom

pytestmark = pytest.mark.torch


class Scale(nn.modules.lazy.LazyModuleMixin, nn.Module):
    """A lazy module of the program's own, which stays of its class."""

    def __init__(self):
        super().__init__()
        self.weight = nn.UninitializedParameter()

    def initialize_parameters(self, x):
        if self.has_uninitialized_params():
            with torch.no_grad():
                self.weight.materialize(x.shape[-1:])
                self.weight.normal_()

    def forward(self, x):
        return x * self.weight


MODELS = {
    "linear": (lambda: nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(1)), (2, 3), 2),
    "convolution": (lambda: nn.Sequential(nn.LazyConv2d(2, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(1)), (2, 1, 5, 5), 3),
    "norm": (lambda: nn.LazyBatchNorm1d(), (4, 3), 1),
    "own": (lambda: nn.Sequential(Scale(), nn.LazyLinear(2)), (2, 3), 2),
}


def results(wrap, make, size):
    torch.manual_seed(0)
    model = make()
    called = wrap(model)
    shown = []
    for _ in range(3):
        x = torch.randn(size)
        called(x).sum().backward()
        shown.append(called(x).detach())
    names = [name for name, _ in model.named_parameters()], [type(module).__name__ for module in model.modules()]
    return names, [*shown, *[p.detach() for p in model.parameters()], *[p.grad for p in model.parameters()], torch.rand(1)]


@pytest.mark.parametrize("backend", ("eager", "aot_eager"))
@pytest.mark.parametrize("name", MODELS)
def test_lazy_modules(name, backend):
    make, size, count = MODELS[name]
    frameloom.reset()
    found = results(frameloom.compile(backend=backend), make, size)
    assert frameloom.stats().breaks == {"FL310": count}
    expected = results(lambda model: model, make, size)
    assert found[0] == expected[0]
    torch.testing.assert_close(found[1], expected[1], rtol=0, atol=0 if backend == "eager" else 1e-5)


def test_a_lazy_module_that_is_given_too_little():
    """What eager raises at the first call is raised."""
    def asked(wrap):
        called = wrap(nn.LazyLinear(2))
        with pytest.raises(AttributeError) as raised:
            called(None)
        return str(raised.value), called(torch.ones(1, 3)).shape

    frameloom.reset()
    assert asked(frameloom.compile(backend="eager")) == asked(lambda model: model)
