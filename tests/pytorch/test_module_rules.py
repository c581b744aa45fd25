"""The rule for `Module.__getattr__` gives what its Python gives, inlined."""
from __future__ import annotations

import contextlib

import pytest
import torch
from torch import nn

import frameloom
from frameloom.interpreter.registry import CODE_RULES

pytestmark = pytest.mark.torch
CODE = nn.Module.__getattr__.__code__


@contextlib.contextmanager
def inlined():
    """Without the rule."""
    import frameloom.pytorch.domain  # noqa: F401  it registers the rule

    rule = CODE_RULES.pop(CODE)
    try:
        yield
    finally:
        CODE_RULES[CODE] = rule


class Everything(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_parameter("bias", None)
        self.register_buffer("scale", torch.full((3,), 2.0))
        self.inner = nn.Linear(3, 3)
        self.empty = nn.ModuleList()
        self.plain = 5
        with torch.no_grad():
            self.inner.weight.fill_(0.5)
            self.inner.bias.fill_(0.25)


def found(module, x):
    return (
        module.weight * x, module.bias, module.scale, module.inner(x), len(module.empty), module.plain,
        hasattr(module, "nothing"), getattr(module, "nothing", 7),
    )


def missing(module, x):
    try:
        module.nothing
    except AttributeError as error:
        return type(error).__name__, str(error), x * 2


def shadowed(module, x):
    object.__setattr__(module, "weight", x)
    return module.weight * 3


@pytest.mark.parametrize("function", [found, missing, shadowed])
def test_rule_and_python_agree(function):
    results = []
    for context in (contextlib.nullcontext, inlined):
        frameloom.reset()
        with context():
            module, x = Everything(), torch.arange(3.0)
            compiled = frameloom.compile(function, backend="eager", fullgraph=True)
            results.append([flat(compiled(module, x)) for _ in range(2)])
    results.append([flat(function(Everything(), torch.arange(3.0)))] * 2)
    assert results[0] == results[1] == results[2]


def flat(result):
    items = result if isinstance(result, tuple) else (result,)
    return [item.tolist() if isinstance(item, torch.Tensor) else item for item in items]


def test_what_moves_between_the_places_is_seen():
    """A parameter deleted and set again as a buffer, a module replaced: each look-up is guarded."""

    def read(module, x):
        return module.thing * x

    compiled = frameloom.compile(read, backend="eager")
    module, x = nn.Module(), torch.ones(2)
    for place, value in (
        ("parameter", nn.Parameter(torch.full((2,), 2.0))), ("buffer", torch.full((2,), 3.0)), ("attribute", 4.0),
    ):
        if hasattr(module, "thing"):
            delattr(module, "thing")
        if place == "buffer":
            module.register_buffer("thing", value)
        else:
            module.thing = value
        assert torch.equal(compiled(module, x), read(module, x))
