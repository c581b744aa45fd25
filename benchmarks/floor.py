"""The fake-tensor pass alone: the model run eagerly on fake tensors, without and with torch's own cache of them.

No capture that asks torch for every shape can take less.

    python -m benchmarks.floor NAME
"""
from __future__ import annotations

import sys
import time

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from benchmarks.row import show
from benchmarks.subjects import MODELS, Subject
from tests.models.reference import reference

TURNS = 5


def fake_pass(subject: Subject, cached: bool) -> float:
    """Seconds of one run on fake tensors; making the fakes of weights and inputs is not counted."""
    mode = FakeTensorMode()
    mode.cache_enabled = cached
    model = subject.function
    weights = {name: mode.from_tensor(tensor) for name, tensor in [*model.named_parameters(), *model.named_buffers()]}
    given = {name: mode.from_tensor(value) if isinstance(value, torch.Tensor) else value
             for name, value in subject.keywords.items()}  # fmt: skip
    with mode, reference():
        start = time.perf_counter()
        torch.func.functional_call(model, weights, (), given)
        return time.perf_counter() - start


def measure(name: str) -> None:
    subject = MODELS[name]()
    for group, cached in (("fake-tensor pass", False), ("fake-tensor pass, cached", True)):
        fake_pass(subject, cached)
        show(group, name, {"floor": [fake_pass(subject, cached) for _ in range(TURNS)]})


if __name__ == "__main__":
    torch.set_num_threads(1)
    with torch.no_grad():
        measure(sys.argv[1])
