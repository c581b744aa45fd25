"""Rules on field names that make any `transformers` configuration tiny.

A configuration is built anew from its class with smaller values for the fields the rules know, so that whatever the
class derives from them (per-head sizes, lists with one item per layer, ...) is derived again. Values only ever shrink.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from transformers import PretrainedConfig


@dataclass(frozen=True)
class Sizes:
    """The sizes a tiny model may have; every rule reads its answer here."""

    layers: int = 2
    hidden: int = 32
    heads: int = 4
    intermediate: int = 64
    vocabulary: int = 128
    positions: int = 64
    experts: int = 4
    image: int = 32
    patch: int = 8

    @property
    def head(self) -> int:
        return self.hidden // self.heads


def _most(limit: str) -> Callable[[int, Sizes], int]:
    return lambda old, sizes: min(old, getattr(sizes, limit))


def _at_most(limit: int) -> Callable[[int, Sizes], int]:
    return lambda old, sizes: min(old, limit)


# The first pattern that matches the whole field name decides. Order matters: the special before the general.
NUMBERS: tuple[tuple[str, Callable[[int, Sizes], int]], ...] = (
    (r".*token_(id|index)|.*_idx", lambda old, sizes: min(old, sizes.vocabulary - 1)),
    (r"num_feat_extract_layers|num_hidden_layers_per_.*", lambda old, sizes: old),
    (r".*(vocab_size|codebook_size|num_embeddings|vocab_size_per_layer_input)", _most("vocabulary")),
    (r"(.*_)?(num_.*layers|n_layers?|layers|depth|num_layers|num_.*blocks)", _most("layers")),
    (r"(.*_)?(num_key_value_heads|num_kv_heads|n_kv_heads)", lambda old, sizes: min(old, sizes.heads)),
    (r"(.*_)?(num_.*heads|n_heads?|attention_heads|encoder_heads|decoder_heads)", _most("heads")),
    (r"(.*_)?(head_dim|d_kv|head_size|dim_head|.*_rank|key_head_dim|value_head_dim|head_width|rotary_dim)", _most("head")),
    (r"qk_head_dim", lambda old, sizes: min(old, 2 * sizes.head)),
    (r".*(intermediate|ffn|inner|mlp)_?(size|dim|hidden_size)|d_ff|n_inner|mlp_dim", _most("intermediate")),
    (r"(.*_)?(num_experts_per_tok|top_?k|num_selected_experts|moe_topk|moe_k)", _at_most(2)),
    (r"(.*_)?(n_group|topk_group)", _at_most(1)),
    (r"(.*_)?(num_.*experts|n_.*experts|experts|num_experts)", _most("experts")),
    (r".*image_size|input_size", _most("image")),
    (r".*patch_size", _most("patch")),
    (r".*(positions|position_embeddings|seq_len|seq_length|context_length|max_length)", _most("positions")),
    (r".*mel_bins|num_channels|in_channels|.*kernel_size|.*stride|.*groups|sampling_rate", lambda old, sizes: old),
    (r".*(hidden|embed|embedding|model|projection|proj)_?(size|dim)|hidden|d_model|n_embd|dim|width", _most("hidden")),
    (r".*(_dim|_dims|_size|_channels|_features|_width|_filters)", _most("hidden")),
)
_NUMBERS = tuple((re.compile(pattern), rule) for pattern, rule in NUMBERS)


def shrink_number(name: str, old: int, sizes: Sizes) -> int:
    """The tiny value of the integer field `name`, `old` where no rule speaks of it."""
    for pattern, rule in _NUMBERS:
        if pattern.fullmatch(name):
            return rule(old, sizes)
    return old


def shrink_kinds(old: list, sizes: Sizes) -> list:
    """`layers` items of a list with one item per layer: as many different kinds as fit, in order of appearance."""
    kinds = list(dict.fromkeys(old))[: sizes.layers]
    return kinds + [kinds[-1]] * (min(sizes.layers, len(old)) - len(kinds))


def shrink_list(name: str, old: list, sizes: Sizes) -> list:
    """The tiny value of a list field."""
    if name.endswith(("layer_types", "layers_block_type", "indexer_types", "block_types")):
        return shrink_kinds(old, sizes)
    if name.endswith(("indexes", "indices")):
        return [min(index, sizes.layers - 1) for index in old][:1]
    if name in {"depths", "num_blocks"}:
        return [1] * len(old)
    if name == "hidden_sizes":
        return [sizes.hidden * (position + 1) for position in range(len(old))]
    if all(type(item) is int for item in old):
        return [shrink_number(name.removesuffix("s"), item, sizes) for item in old]
    return old


def shrunk_fields(config: PretrainedConfig, sizes: Sizes) -> dict[str, Any]:
    """The fields of `config` that the rules change, with their tiny values; nested configurations are shrunk too."""
    changed: dict[str, Any] = {}
    for name, old in vars(config).items():
        if name.startswith("_"):
            continue
        if isinstance(old, PretrainedConfig):
            changed[name] = shrunk(type(old), sizes)
        elif type(old) is int:
            changed[name] = shrink_number(name, old, sizes)
        elif isinstance(old, (list, tuple)) and old:
            changed[name] = type(old)(shrink_list(name, list(old), sizes))
    return {name: new for name, new in changed.items() if new != getattr(config, name) or name in CONSISTENT}


# Fields passed on even when their value stays, because a class derives another field's default from their absence.
CONSISTENT = frozenset({"num_key_value_heads", "head_dim"})


def shrunk(config_class: type[PretrainedConfig], sizes: Sizes = Sizes(), **overrides: Any) -> PretrainedConfig:
    """A tiny instance of `config_class`.

    `overrides` win over the rules. Raises whatever the class raises when it cannot be built from these values.
    """
    return config_class(**{**shrunk_fields(config_class(), sizes), **overrides})
