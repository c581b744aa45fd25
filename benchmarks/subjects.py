"""What is called and captured: small functions, MLPs, and the models whose budgets the design states."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from tests.models.shrink import Sizes
from tests.models.tiny import inputs_for, model_for


class Subject(NamedTuple):
    """Something to compile, and the arguments it is called with."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


def one_operation() -> Subject:
    def function(x):
        return x + 1

    return Subject(function, (torch.ones(4),), {})


def ten_tensors() -> Subject:
    def function(a, b, c, d, e, f, g, h, i, j):
        return a + b + c + d + e + f + g + h + i + j

    return Subject(function, tuple(torch.ones(4) for _ in range(10)), {})


def keywords() -> Subject:
    def function(x, *, scale=1.0, shift=None, **rest):
        return x * scale + shift + rest["more"]

    return Subject(function, (torch.ones(4),), {"scale": 2.0, "shift": torch.ones(4), "more": torch.ones(4)})


def defaults() -> Subject:
    def function(x, scale=2.0, shift=1.0, *, power=2):
        return (x * scale + shift) ** power

    return Subject(function, (torch.ones(4),), {})


class Scaler:
    def __init__(self) -> None:
        self.weight = torch.ones(4)
        self.scale = 2.0

    def run(self, x):
        return x * self.weight * self.scale


def method() -> Subject:
    return Subject(Scaler().run, (torch.ones(4),), {})


def closure() -> Subject:
    weight, scale = torch.ones(4), 3.0

    def function(x):
        return x * weight + scale

    return Subject(function, (torch.ones(4),), {})


@dataclass
class Batch:
    tokens: torch.Tensor
    mask: torch.Tensor
    scale: float


def data_class() -> Subject:
    def function(batch):
        return batch.tokens * batch.mask * batch.scale

    return Subject(function, (Batch(torch.ones(4), torch.ones(4), 0.5),), {})


def nested_dict() -> Subject:
    def function(state):
        return state["layer"]["weight"] * state["layer"]["scale"] + state["bias"]

    return Subject(function, ({"layer": {"weight": torch.ones(4), "scale": 2.0}, "bias": torch.ones(4)},), {})


def fifty_dicts() -> Subject:
    def function(state):
        total = state["layer 0"]["bias"]
        for part in state.values():
            total = total + part["weight"] * part["scale"]
        return total

    state = {f"layer {i}": {"weight": torch.ones(4), "bias": torch.ones(4), "scale": 2.0} for i in range(50)}
    return Subject(function, (state,), {})


class MLP(torch.nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def mlp(layers: int) -> Callable[[], Subject]:
    return lambda: Subject(MLP(layers).eval(), (torch.ones(2, 4),), {})


def transformer(name: str, *, layers: int = 12, use_cache: bool | None = False, **overrides: Any) -> Callable[[], Subject]:
    """A model type at the design's sizes; `use_cache=None` for models that know no cache."""

    def make() -> Subject:
        model = model_for(name, sizes=Sizes(layers=layers), **overrides)
        given: dict[str, Any] = inputs_for(model, batch=1)
        if use_cache is not None:
            given["use_cache"] = use_cache
        return Subject(model, (), given)

    return make


MODELS: dict[str, Callable[[], Subject]] = {
    "BERT 12": transformer("bert", use_cache=None),
    "GPT-2 12": transformer("gpt2"),
    "Llama 12": transformer("llama"),
    "Llama 12, cache": transformer("llama", use_cache=True),
    "T5 6": transformer("t5", layers=6, num_decoder_layers=6),
    "ViT 12": transformer("vit", use_cache=None),
    "Mixtral 4": transformer("mixtral", layers=4),
    "Whisper 4+4": transformer("whisper", layers=4),
}
IN_GRAD_MODE = ", grad"
"""what a name ends with that is called in grad mode, where requires_grad of every floating input is read"""

CALLS: dict[str, Callable[[], Subject]] = {
    "one operation": one_operation,
    "ten tensors": ten_tensors,
    "keywords": keywords,
    "defaults": defaults,
    "method": method,
    "closure": closure,
    "dataclass": data_class,
    "nested dict": nested_dict,
    "fifty dicts": fifty_dicts,
    "MLP 1": mlp(1),
    "MLP 10": mlp(10),
    "MLP 100": mlp(100),
    "MLP 1000": mlp(1000),
    **{name: MODELS[name] for name in ("BERT 12", "GPT-2 12", "Llama 12", "Llama 12, cache", "T5 6", "Mixtral 4")},
    "Qwen3 36": transformer("qwen3", layers=36, num_hidden_layers=36, layer_types=None),
}
CALLS |= {f"{name}{IN_GRAD_MODE}": CALLS[name] for name in ("BERT 12", "GPT-2 12", "Llama 12")}

DYNAMIC = (
    "one operation", "ten tensors", "keywords", "closure", "dataclass", "nested dict", "MLP 10", "MLP 100", "BERT 12", "GPT-2 12", "Llama 12",
    "BERT 12, grad",
)  # fmt: skip
"""those that are measured with symbolic sizes as well"""
