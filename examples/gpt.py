"""A small GPT with random weights that continues a prompt, compiled by frameloom.

    python examples/gpt.py [--backend inductor] [--tokens 32] [--prompt FILE]

The model knows nothing, so the text is noise; it is the same noise with and without the compiler.
"""
from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

PROMPT = Path(__file__).parent / "prompt.txt"
CONTEXT = 64


class Vocabulary:
    """The characters of a text, as numbers."""

    def __init__(self, text: str) -> None:
        self.characters = sorted(set(text))
        self.numbers = {character: number for number, character in enumerate(self.characters)}

    def encode(self, text: str) -> torch.Tensor:
        return torch.tensor([[self.numbers[character] for character in text]])

    def decode(self, tokens: torch.Tensor) -> str:
        return "".join(self.characters[token] for token in tokens.flatten().tolist())


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.project(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before_attention(x))
        return x + self.mlp(self.before_mlp(x))


class GPT(nn.Module):
    """Tokens `(batch, length)` in, logits `(batch, length, vocabulary)` out; `length` at most CONTEXT."""

    def __init__(self, vocabulary: int, width: int = 64, heads: int = 4, layers: int = 3) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(places)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def small_gpt(vocabulary: Vocabulary, seed: int = 0) -> GPT:
    """A GPT in eval mode; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return GPT(len(vocabulary.characters)).eval()


@torch.no_grad()
def continued(model: nn.Module, prompt: torch.Tensor, count: int) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The prompt and `count` tokens more, each the likeliest after the last CONTEXT; and the logits of each step."""
    tokens, logits = prompt, []
    for _ in range(count):
        logits.append(model(tokens[:, -CONTEXT:])[:, -1])
        tokens = torch.cat([tokens, logits[-1].argmax(dim=-1, keepdim=True)], dim=1)
    return tokens, logits


def main() -> None:
    import frameloom

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--prompt", type=Path, default=PROMPT)
    asked = parser.parse_args()
    text = asked.prompt.read_text(encoding="utf-8")
    vocabulary = Vocabulary(text)
    model = frameloom.compile(small_gpt(vocabulary), backend=asked.backend)
    tokens, _ = continued(model, vocabulary.encode(text), asked.tokens)
    print(vocabulary.decode(tokens))
    print()
    print(frameloom.stats())


if __name__ == "__main__":
    main()
