"""What the ratios aim at, as frameloom over torch.compile; ceilings in seconds a unit."""
from __future__ import annotations

RATIOS = {
    ("call", "one operation"): 0.07,
    ("call", "ten tensors"): 0.10,
    ("call", "keywords"): 0.10,
    ("call", "defaults"): 0.10,
    ("call", "method"): 0.10,
    ("call", "closure"): 0.10,
    ("call", "dataclass"): 0.10,
    ("call", "nested dict"): 0.10,
    ("call", "fifty dicts"): 0.10,
    ("call", "MLP 1"): 0.08,
    ("call", "MLP 10"): 0.08,
    ("call", "MLP 100"): 0.05,
    ("call", "MLP 1000"): 0.05,
    ("call", "BERT 12"): 0.05,
    ("call", "GPT-2 12"): 0.05,
    ("call", "Llama 12"): 0.05,
    ("call", "Llama 12, cache"): 0.05,
    ("call", "T5 6"): 0.05,
    ("call", "Mixtral 4"): 0.05,
    ("call", "Qwen3 36"): 0.03,
    ("call", "BERT 12, grad"): 0.10,
    ("call", "GPT-2 12, grad"): 0.10,
    ("call", "Llama 12, grad"): 0.10,
    ("first capture", "geometric mean"): 0.25,
    ("second capture", "geometric mean"): 0.20,
}
GROUPS = {"dynamic call": 0.10, "dynamic over static call": 1.5, "training step": 1.05, "step capture": 0.25}
"""what every row of a group aims at"""
CEILINGS = {
    "instruction": 4e-6,
    "inlined call": 25e-6,
    "attribute read": 2e-6,
    "node": 10e-6,
}


def aim(group: str, name: str) -> str:
    """The aim of a row as text, empty where there is none."""
    if group == "unit":
        return f"{CEILINGS[name] * 1e6:g} us"
    ratio = RATIOS.get((group, name), GROUPS.get(group))
    return f"{ratio:.2f}" if ratio else ""
