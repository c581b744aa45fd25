"""Tensor subclasses, overrides, custom operators, NumPy."""
from __future__ import annotations

import numpy
import torch
from torch.utils._pytree import tree_map

from tests.pytorch.scripts.row import Wrap, called, row

GROUP = "extensions"


class Named(torch.Tensor):
    """A subclass without anything of its own."""


class Logged(torch.Tensor):
    LOG: list = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.LOG.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs)


class Unwrapped:
    """No tensor, but taken for one."""

    def __init__(self, inner: torch.Tensor) -> None:
        self.inner = inner

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        args = [a.inner if isinstance(a, cls) else a for a in args]
        return cls(function(*args, **(kwargs or {})))


class Pair(torch.Tensor):
    """A traceable wrapper."""

    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, meta, size, stride):
        return Pair(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        first = tree_map(lambda t: t.a if isinstance(t, Pair) else t, args)
        second = tree_map(lambda t: t.b if isinstance(t, Pair) else t, args)
        return Pair(function(*first, **(kwargs or {})), function(*second, **(kwargs or {})))


@row(GROUP)
def plain_subclass(wrap: Wrap):
    @wrap
    def f(x):
        y = x * 2
        return y, type(y).__name__

    return f(torch.arange(3.0).as_subclass(Named)), f(torch.arange(3.0))


@row(GROUP)
def logging_subclass(wrap: Wrap):
    Logged.LOG.clear()

    @wrap
    def f(x):
        return (x * 2).sin()

    result = f(torch.arange(3.0).as_subclass(Logged))
    return result.as_subclass(torch.Tensor), type(result).__name__, [name for name in Logged.LOG if name in ("mul", "sin")]


@called(GROUP)
def made_a_subclass(x):
    return (x.as_subclass(Named) + 1).as_subclass(torch.Tensor)


@row(GROUP)
def taken_for_a_tensor(wrap: Wrap):
    @wrap
    def f(x):
        return torch.add(x, 1).inner * 2

    return f(Unwrapped(torch.arange(3.0)))


@called(GROUP)
def taken_for_a_tensor_inside(x):
    return torch.mul(Unwrapped(x), 3).inner + 1


@row(GROUP)
def wrapper_subclass(wrap: Wrap):
    @wrap
    def f(x):
        return x * 2 + 1

    result = f(Pair(torch.arange(3.0), torch.ones(3)))
    return result.a, result.b


@row(GROUP)
def parameter_subclass(wrap: Wrap):
    class Own(torch.nn.Parameter):
        pass

    w = Own(torch.ones(3))

    @wrap
    def f(x):
        return (x * w).sum()

    f(torch.arange(3.0)).backward()
    return w.grad


@torch.library.custom_op("frameloom_rows::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.from_numpy(x.detach().numpy() * factor)


@scaled.register_fake
def _(x, factor):
    return torch.empty_like(x)


scaled.register_autograd(
    lambda ctx, grad: (grad * ctx.factor, None), setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1])
)


@torch.library.custom_op("frameloom_rows::bump", mutates_args=("x",))
def bump(x: torch.Tensor) -> None:
    x.add_(1)


@torch.library.custom_op("frameloom_rows::unknown", mutates_args=())
def unknown(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.triton_op("frameloom_rows::composed", mutates_args=())
def composed(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


@called(GROUP, grad=True)
def custom_operator(x):
    return scaled(x, 2.0).sin()


@called(GROUP, grad=True)
def custom_operator_by_name(x):
    return torch.ops.frameloom_rows.scaled(x, 3.0) + torch.ops.frameloom_rows.scaled.default(x, 1.0)


@called(GROUP)
def custom_operator_that_writes(x):
    y = x * 2
    bump(y)
    return y


@called(GROUP)
def custom_operator_without_fake(x):
    return unknown(x) + 1


@called(GROUP)
def custom_operator_of_operations(x):
    return composed(x) * 2


@called(GROUP)
def operators_of_aten(x):
    return torch.ops.aten.add.Tensor(x, x, alpha=2), torch.ops.aten.native_layer_norm(x, [3], None, None, 1e-5)[0]


@called(GROUP)
def numpy_arithmetic(x):
    a = x.numpy()
    return torch.from_numpy(a * 2 + 1)


@called(GROUP)
def numpy_functions(x):
    a = x.numpy()
    return torch.from_numpy(numpy.where(a > 0, a, 0)), float(numpy.float32(1.5) * 2)


@called(GROUP)
def numpy_schedule(x):
    return x * float(numpy.cos(0.5 * numpy.pi) + 1)


@called(GROUP)
def numpy_sum(x):
    return torch.as_tensor(x.numpy().sum())


@called(GROUP)
def allowed_in_graph(x):
    return torch.compiler.allow_in_graph(torch.sin)(x)
