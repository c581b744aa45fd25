"""Tiny models with seeded random weights, and inputs for them: what every test, benchmark and demonstration shares."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
import transformers
from transformers import CONFIG_MAPPING, PretrainedConfig

from tests.models.shrink import Sizes, shrunk

# The floor: one graph each with fullgraph=True. The task class is the one that takes labels.
TASKS = {
    "albert": "AutoModelForMaskedLM",
    "bart": "AutoModelForSeq2SeqLM",
    "bert": "AutoModelForMaskedLM",
    "bloom": "AutoModelForCausalLM",
    "distilbert": "AutoModelForMaskedLM",
    "electra": "AutoModelForMaskedLM",
    "falcon": "AutoModelForCausalLM",
    "gemma": "AutoModelForCausalLM",
    "gpt2": "AutoModelForCausalLM",
    "gpt_neox": "AutoModelForCausalLM",
    "llama": "AutoModelForCausalLM",
    "mistral": "AutoModelForCausalLM",
    "mixtral": "AutoModelForCausalLM",
    "opt": "AutoModelForCausalLM",
    "phi": "AutoModelForCausalLM",
    "qwen2": "AutoModelForCausalLM",
    "qwen3": "AutoModelForCausalLM",
    "roberta": "AutoModelForMaskedLM",
    "t5": "AutoModelForSeq2SeqLM",
    "vit": "AutoModelForImageClassification",
}
ARCHITECTURES = tuple(TASKS)

# What the rules on field names cannot know.
OVERRIDES: dict[str, dict[str, Any]] = {
    "falcon": {"num_kv_heads": 1},
    "gemma": {"num_key_value_heads": 1},
    "llama": {"num_key_value_heads": 2},
    "mistral": {"num_key_value_heads": 2},
    "qwen2": {"num_key_value_heads": 2},
    "qwen3": {"num_key_value_heads": 2},
    "t5": {"decoder_start_token_id": 0},
}
NO_DROPOUT = (
    "dropout", "hidden_dropout", "attention_dropout", "activation_dropout", "hidden_dropout_prob", "embed_dropout",
    "attention_probs_dropout_prob", "classifier_dropout", "classifier_dropout_prob", "dropout_rate", "resid_pdrop",
    "embd_pdrop", "attn_pdrop", "layerdrop", "encoder_layerdrop", "decoder_layerdrop", "seq_classif_dropout", "qa_dropout",
    "summary_last_dropout", "drop_path_rate", "layer_dropout",
)  # fmt: skip


def config_for(name: str, sizes: Sizes = Sizes(), **overrides: Any) -> PretrainedConfig:
    """The tiny configuration of the model type `name` (a key of transformers' CONFIG_MAPPING)."""
    return shrunk(CONFIG_MAPPING[name], sizes, **{**OVERRIDES.get(name, {}), **overrides})


def without_dropout(config: PretrainedConfig) -> PretrainedConfig:
    """`config` itself, with every dropout probability that it has set to nought."""
    for field in NO_DROPOUT:
        if getattr(config, field, None):
            setattr(config, field, 0.0)
    return config


def build(config: PretrainedConfig, head: str = "AutoModel", seed: int = 0) -> torch.nn.Module:
    """A model of `config` in eval mode under the auto class `head`; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return getattr(transformers, head).from_config(config).eval()


def model_for(name: str, head: str = "AutoModel", sizes: Sizes = Sizes(), **overrides: Any) -> torch.nn.Module:
    """The tiny model of type `name`, in eval mode."""
    return build(config_for(name, sizes, **overrides), head)


def training_model(name: str, dropout: bool = False) -> torch.nn.Module:
    """The tiny model of type `name` under its task class, in train mode, with every dropout off unless its own are wanted."""
    config = config_for(name)
    return build(config if dropout else without_dropout(config), TASKS[name]).train()


class Inputs:
    """Makes the arguments of a model from the names of its `forward`'s parameters."""

    def __init__(self, model: torch.nn.Module, batch: int = 2, length: int = 8, seed: int = 0):
        self.model, self.config = model, model.config
        self.batch, self.length = batch, length
        self.random = torch.Generator().manual_seed(seed)

    def field(self, *names: str, default: Any = None) -> Any:
        """The first of the fields `names` that the configuration, or a part of it that it nests, has."""
        parts = [self.config, *(part for part in vars(self.config).values() if isinstance(part, PretrainedConfig))]
        for part in parts:
            for name in names:
                if getattr(part, name, None) is not None:
                    return getattr(part, name)
        return default

    def tokens(self) -> torch.Tensor:
        high = self.field("vocab_size", default=128)
        return torch.randint(min(4, high - 1), high, (self.batch, self.length), generator=self.random)

    def floats(self, *shape: int) -> torch.Tensor:
        return torch.randn(self.batch, *shape, generator=self.random)

    def image(self) -> torch.Tensor:
        size = self.field("image_size", default=32)
        height, width = size if isinstance(size, (list, tuple)) else (size, size)
        return self.floats(self.field("num_channels", default=3), height, width)

    def features(self) -> torch.Tensor:
        bins, frames = self.field("num_mel_bins", "feature_size", "input_feat_per_channel", default=80), 128
        positions = getattr(self.config, "max_source_positions", None)
        if positions and hasattr(self.config, "num_mel_bins"):
            return self.floats(bins, 2 * positions)
        return self.floats(frames, bins)

    def mask(self) -> torch.Tensor:
        """Ones, but for the last two positions of the last row, which are padding."""
        mask = torch.ones(self.batch, self.length, dtype=torch.long)
        mask[-1, -2:] = 0
        return mask

    def labels(self) -> torch.Tensor:
        if self.model.main_input_name == "pixel_values":
            return torch.randint(0, self.config.num_labels, (self.batch,), generator=self.random)
        return self.tokens()

    def boxes(self) -> torch.Tensor:
        corner = torch.randint(0, 16, (self.batch, self.length, 2), generator=self.random)
        return torch.cat([corner, corner + 8], dim=-1)

    def wanted(self) -> list[str]:
        """The main input, what `forward` cannot do without, and the decoder's tokens."""
        parameters = inspect.signature(self.model.forward).parameters.values()
        required = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        names = [self.model.main_input_name, *required]
        accepted = {p.name for p in parameters}
        if self.config.is_encoder_decoder and "decoder_input_ids" in accepted:
            names.append("decoder_input_ids")
        if "input_ids" in accepted and {"text_config", "vision_config"} <= set(vars(self.config)):
            names += {"pixel_values"} & accepted if self.field("image_token_id", "image_token_index") is None else ()
        return list(dict.fromkeys(names))

    def make(self, masked: bool = False, labels: bool = False) -> dict[str, torch.Tensor]:
        """The keyword arguments of one call. Raises KeyError for a required parameter nobody knows how to make."""
        names = self.wanted()
        if labels and "decoder_input_ids" in names:
            names.remove("decoder_input_ids")  # shifted from the labels by the model itself
        arguments = {name: MAKERS[name](self) for name in names}
        if masked and takes_mask(self.model):
            arguments["attention_mask"] = self.mask()
        if labels:
            arguments["labels"] = self.labels()
        return arguments


MAKERS: dict[str, Callable[[Inputs], torch.Tensor]] = {
    "input_ids": Inputs.tokens,
    "decoder_input_ids": Inputs.tokens,
    "bbox": Inputs.boxes,
    "pixel_values": Inputs.image,
    "input_features": Inputs.features,
    "input_values": lambda inputs: inputs.floats(inputs.field("max_length", default=1600)),
    "inputs_embeds": lambda inputs: inputs.floats(inputs.length, inputs.field("hidden_size", "d_model")),
    "hidden_states": lambda inputs: inputs.floats(inputs.length, inputs.field("hidden_size", "d_model")),
    "attention_mask": lambda inputs: torch.ones(inputs.batch, inputs.length, dtype=torch.long),
    "labels": Inputs.labels,
}


def takes_mask(model: torch.nn.Module) -> bool:
    """Whether `model` takes tokens and an attention mask over them."""
    return model.main_input_name == "input_ids" and "attention_mask" in inspect.signature(model.forward).parameters


def inputs_for(model: torch.nn.Module, *, masked: bool = False, labels: bool = False, batch: int = 2,
               length: int = 8, seed: int = 0) -> dict[str, torch.Tensor]:  # fmt: skip
    """The keyword arguments of one call of `model`: seeded tokens, images of 32x32 or audio features.

    `masked` adds an attention mask with padding where the model takes one; `labels` adds those of the task class.
    """
    return Inputs(model, batch, length, seed).make(masked, labels)
