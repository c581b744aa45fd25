"""The backend that runs AOTAutograd and then its graphs as they are: forward and backward graphs, functional inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._functorch import config
from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func
from torch._guards import TracingContext, tracing

from frameloom.pytorch.backends.fake_inputs import fake_inputs
from frameloom.pytorch.backends.sizes_as_inputs import compile_with_sizes


def aot_eager(gm: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable:
    """AOTAutograd without a compiler behind it."""
    mode, fakes = fake_inputs(gm, example_inputs)
    with tracing(TracingContext(mode)), backward_as_outside():
        return compile_with_sizes(gm, fakes, _functional)


def _functional(gm: torch.fx.GraphModule, fakes: list) -> Callable:
    return aot_module_simplified(gm, fakes, fw_compiler=_as_is, bw_compiler=_as_is, keep_inference_input_mutations=True)


aot_eager.makes_backward = True  # type: ignore[attr-defined]


def _as_is(gm: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable:
    return make_boxed_func(gm.forward)


def backward_as_outside() -> Any:
    """Backward graphs are made for a `backward()` called outside autocast, where programs call it, not for what was set when the
    graph's part of the program began."""
    return config.patch(backward_pass_autocast="off")
