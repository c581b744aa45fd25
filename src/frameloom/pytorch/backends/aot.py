"""The backend that runs AOTAutograd and then its graphs as they are: forward and backward graphs, functional inside."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._functorch import config
from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensorMode

from frameloom.pytorch.backends.fake_inputs import fake_inputs
from frameloom.pytorch.backends.sizes_as_inputs import compile_with_sizes


def aot_eager(gm: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable:
    """AOTAutograd without a compiler behind it."""
    mode, fakes = fake_inputs(gm, example_inputs)
    return made_by(_functional, gm, mode, fakes)


def _functional(gm: torch.fx.GraphModule, fakes: list) -> Callable:
    return aot_module_simplified(gm, fakes, fw_compiler=_as_is, bw_compiler=_as_is, keep_inference_input_mutations=True)


aot_eager.makes_backward = True  # type: ignore[attr-defined]


def _as_is(gm: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable:
    return make_boxed_func(gm.forward)


def made_by(compile_: Callable, gm: torch.fx.GraphModule, mode: FakeTensorMode, fakes: Sequence[Any]) -> Callable:
    """What a compiler of graphs makes of this one.  Where the program's own backward would fail, the graph runs as it is: nobody may
    ever ask for it, and if so, the failure is eager torch's."""
    try:
        with compiling(mode):
            return compile_with_sizes(gm, fakes, compile_)
    except RuntimeError:
        if own_backward_fails(gm, mode, fakes):
            return gm.forward
        raise


def own_backward_fails(gm: torch.fx.GraphModule, mode: FakeTensorMode, fakes: Sequence[Any]) -> bool:
    """Whether autograd refuses to go back through the graph's own operations, such as for a write to what one of them keeps."""
    leaves = [fake for fake in fakes if isinstance(fake, torch.Tensor) and fake.requires_grad]
    with mode, torch.enable_grad():
        results = [made for made in gm(*fakes) if isinstance(made, torch.Tensor) and made.requires_grad]
        seeds = [torch.ones_like(made) for made in results]
        try:
            torch.autograd.grad(results, leaves, seeds, allow_unused=True)
        except RuntimeError:
            return bool(results and leaves)
    return False


@contextlib.contextmanager
def compiling(mode: FakeTensorMode) -> Iterator[None]:
    """How compilers of graphs run, so that what they make means what eager torch does.

    Backward graphs are made for a `backward()` called outside autocast, where programs call it, not for what was set when the graph's
    part of the program began; and they leave what they are given as it is, since a program may keep it for another `backward()`.
    A number of a tensor that an operation reads (as the factor of an in-place one) is left to the graph.
    """
    environment = mode.shape_env
    before = environment.settings
    environment.settings = dataclasses.replace(before, allow_scalar_outputs=True)
    context = TracingContext(mode)
    try:
        with tracing(context), warnings.catch_warnings(), config.patch(backward_pass_autocast="off", donated_buffer=False):
            warnings.filterwarnings("ignore", message="Error detected in")  # autograd's, of a backward that nobody has asked for
            yield
        if context.fw_metadata is not None:
            context.fw_metadata.bw_donated_idxs = []  # said, since None is no answer where a graph is kept
    finally:
        environment.settings = before
