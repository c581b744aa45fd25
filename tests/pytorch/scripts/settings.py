"""Global state of torch: default dtype and device, flags, kernels, contexts, modes."""
from __future__ import annotations

import contextlib
import warnings

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.profiler import record_function
from torch.utils._python_dispatch import TorchDispatchMode

from tests.pytorch.scripts.row import Wrap, called, row

GROUP = "settings"


@row(GROUP)
def default_dtype(wrap: Wrap):
    @wrap
    def f(x):
        return x + torch.ones(3), torch.tensor(1.5).dtype

    shown = [f(torch.zeros(3))]
    torch.set_default_dtype(torch.float64)
    try:
        shown.append(f(torch.zeros(3)))
    finally:
        torch.set_default_dtype(torch.float32)
    return [*shown, f(torch.zeros(3))]


@called(GROUP)
def default_dtype_set_inside(x):
    torch.set_default_dtype(torch.float64)
    try:
        y = torch.ones(3)
    finally:
        torch.set_default_dtype(torch.float32)
    return x + y


@called(GROUP)
def device_context(x):
    with torch.device("meta"):
        y = torch.ones(3)
    return x, y.device.type, tuple(y.shape)


@row(GROUP)
def default_device(wrap: Wrap):
    @wrap
    def f(x):
        return torch.ones(3).device.type, torch.zeros_like(x).device.type

    shown = [f(torch.zeros(3))]
    torch.set_default_device("meta")
    try:
        shown.append(f(torch.zeros(3, device="cpu")))
    finally:
        torch.set_default_device(None)
    return [*shown, f(torch.zeros(3))]


@called(GROUP)
def matmul_precision(x):
    torch.set_float32_matmul_precision(torch.get_float32_matmul_precision())
    return x @ x.T


@called(GROUP)
def deterministic(x):
    return x * 2 if torch.are_deterministic_algorithms_enabled() else x * 3


@called(GROUP)
def flags_of_backends(x):
    if torch.backends.cudnn.enabled and not torch.backends.cuda.matmul.allow_tf32:
        return x + 1
    return x


@called(GROUP)
def no_cuda(x):
    return x.to("cuda" if torch.cuda.is_available() else "cpu") * 2


@called(GROUP, grad=True)
def attention_kernel(x):
    q = x.view(1, 1, 2, 3)
    with sdpa_kernel([SDPBackend.MATH]):
        return F.scaled_dot_product_attention(q, q, q)


@called(GROUP)
def attention_causal(x):
    q = x.view(1, 1, 2, 3)
    return F.scaled_dot_product_attention(q, q, q, is_causal=True)


@called(GROUP, grad=True)
def labelled_region(x):
    with record_function("forward"):
        return x.sin()


@row(GROUP)
def profiled(wrap: Wrap):
    @wrap
    def f(x):
        with record_function("forward"):
            return x.sin()

    with torch.profiler.profile() as profile:
        shown = f(torch.ones(3))
    names = {event.key for event in profile.key_averages()}
    return shown, "forward" in names, "aten::sin" in names


@row(GROUP)
def profiled_now_and_then(wrap: Wrap):
    @wrap
    def f(x):
        with record_function("outer"):
            with record_function("inner", "with a note"):
                x = x.sin()
            return x.cos()

    shown = []
    for number in range(4):
        with torch.profiler.profile() if number % 2 else contextlib.nullcontext() as profile:
            shown.append(f(torch.ones(3)))
        if profile is not None:
            shown.append({event.key for event in profile.key_averages()} >= {"outer", "inner", "aten::sin", "aten::cos"})
    return shown


@called(GROUP)
def no_grad_on_a_method(x):
    class Plain:
        @torch.no_grad()
        def __call__(self, t):
            return t * 2

    return Plain()(x)


class Counting(TorchFunctionMode):
    def __init__(self) -> None:
        self.count = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.count += 1
        return function(*args, **(kwargs or {}))


class Doubling(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        return result * 2 if function is torch.sin else result


class Seeing(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.append(str(function))
        return function(*args, **(kwargs or {}))


@called(GROUP)
def function_mode_inside(x):
    with Doubling():
        y = torch.sin(x)
    return y, torch.sin(x)


@row(GROUP)
def function_mode_outside(wrap: Wrap):
    @wrap
    def f(x):
        return torch.sin(x) + x.cos()

    mode = Counting()
    with mode:
        shown = f(torch.ones(3))
    return shown, f(torch.ones(3)), mode.count


@called(GROUP)
def dispatch_mode_inside(x):
    with Seeing() as mode:
        y = x.sin() + 1
    return y, list(mode.seen)


@row(GROUP)
def dispatch_mode_outside(wrap: Wrap):
    @wrap
    def f(x):
        return x.sin() + 1

    with Seeing() as mode:
        shown = f(torch.ones(3))
    return shown, f(torch.ones(3)), list(mode.seen)


@called(GROUP)
def warns(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.warn("odd", stacklevel=1)
    return x + 1, [str(w.message) for w in seen]


@called(GROUP)
def threads(x):
    return x * torch.get_num_threads()


@called(GROUP)
def asks_whether_it_is_compiled(x):
    return x + 1 if torch.compiler.is_compiling() else x + 2
