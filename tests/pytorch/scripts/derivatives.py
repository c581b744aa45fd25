"""Autograd: modes, leaves, derivatives of derivatives, saved tensors, custom functions."""
from __future__ import annotations

import torch
from torch.autograd import forward_ad
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
from torch.nn import functional as F

from tests.pytorch.scripts.row import Wrap, called, row

GROUP = "autograd"


@called(GROUP, grad=True)
def no_grad_inside(x):
    with torch.no_grad():
        scale = x.abs().max()
    return x / scale


@called(GROUP, grad=True)
def enable_grad_inside(x):
    with torch.no_grad():
        with torch.enable_grad():
            y = x.sin()
        z = y * 2
    return y, z


@called(GROUP)
def inference_mode(x):
    with torch.inference_mode():
        return (x * 2).sum()


@called(GROUP, grad=True)
def set_grad_enabled(x):
    previous = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(previous)
    return y * x


@called(GROUP, grad=True)
def detached(x):
    return x * x.detach() + x.detach().exp()


@called(GROUP, grad=True)
def stop_gradient_trick(x):
    hard = (x > 0).float()
    return hard + torch.sigmoid(x) - torch.sigmoid(x).detach()


@called(GROUP)
def made_a_leaf(x):
    leaf = x.detach().requires_grad_()
    return (leaf * 2).sum()


@called(GROUP, grad=True)
def gradient_penalty(x):
    y = (x ** 3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    return y + g.square().sum()


@called(GROUP, grad=True)
def gradient_of_a_part(x):
    y = x.sin()
    (g,) = torch.autograd.grad(y.sum(), y, retain_graph=True)
    return y + g


@called(GROUP, grad=True)
def unused_gradient(x):
    z = torch.ones(2, requires_grad=True)
    found = torch.autograd.grad(x.sum(), [x, z], allow_unused=True)
    return x * 2, found[1] is None


@called(GROUP, grad=True)
def backward_with_inputs(x):
    w = torch.ones(3, requires_grad=True)
    (x * w).sum().backward(inputs=[w])
    return x * w.grad


@row(GROUP)
def double_backward_outside(wrap: Wrap):
    @wrap
    def f(x):
        return (x ** 3).sin()

    x = torch.linspace(0, 1, 4, requires_grad=True)
    (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    return g, h


@row(GROUP)
def accumulated(wrap: Wrap):
    w = torch.ones(3, requires_grad=True)

    @wrap
    def f(x):
        return (x * w).sum()

    for number in range(3):
        f(torch.full((3,), float(number))).backward()
    return w.grad


@row(GROUP)
def gradient_set_to_none_and_zero(wrap: Wrap):
    w = torch.ones(3, requires_grad=True)
    shown = []

    @wrap
    def f(x):
        if w.grad is not None:
            w.grad.zero_()
        return (x * w).exp().sum()

    for number in range(4):
        f(torch.full((3,), float(number))).backward()
        shown.append(w.grad.clone())
        if number == 1:
            w.grad = None
    return shown


@called(GROUP, grad=True)
def saved_tensors_hooked(x):
    with saved_tensors_hooks(lambda t: t * 1, lambda t: t):
        y = x.exp()
    return y * 2


@called(GROUP, grad=True)
def saved_on_cpu(x):
    with save_on_cpu():
        return (x * x).sin()


@row(GROUP)
def saved_tensors_hooked_outside(wrap: Wrap):
    log = []

    def pack(t):
        log.append(("pack", tuple(t.shape)))
        return t

    def unpack(t):
        log.append(("unpack", tuple(t.shape)))
        return t

    @wrap
    def f(x):
        return (x.exp() * 2).sin()

    x = torch.arange(3.0, requires_grad=True)
    with saved_tensors_hooks(pack, unpack):
        y = f(x)
    y.sum().backward()
    return x.grad, len(log) > 0


@called(GROUP, grad=True)
def anomaly_mode(x):
    with torch.autograd.set_detect_anomaly(True):
        return x.sin()


@called(GROUP)
def dual_numbers(x):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones_like(x))
        return forward_ad.unpack_dual(dual.sin()).tangent


@called(GROUP, grad=True)
def in_place_on_a_result(x):
    y = x * 2
    y.add_(1).relu_()
    y[0] = 0
    return y


@row(GROUP)
def in_place_on_a_leaf(wrap: Wrap):
    w = torch.ones(3, requires_grad=True)

    @wrap
    def f(x):
        with torch.no_grad():
            w.mul_(2)
        return (x * w).sum()

    for number in range(3):
        f(torch.arange(3.0)).backward()
    return w, w.grad


@row(GROUP)
def error_of_a_leaf(wrap: Wrap):
    w = torch.ones(3, requires_grad=True)

    @wrap
    def f(x):
        try:
            w.mul_(2)
        except RuntimeError as error:
            return x + 1, str(error)

    return f(torch.arange(3.0)), w


@called(GROUP, grad=True)
def asked_of_leaves(x):
    y = x * 2
    return y if (x.is_leaf, y.is_leaf, y.requires_grad, x.grad is None) == (True, False, True, True) else x


@called(GROUP, grad=True)
def asked_of_grad_fn(x):
    y = x * 2
    return y + 1 if x.grad_fn is None and y.grad_fn is not None else y


@called(GROUP, grad=True)
def checkpoint_reentrant(x):
    return torch.utils.checkpoint.checkpoint(lambda t: t.sin().exp(), x, use_reentrant=True)


@called(GROUP, grad=True)
def multi_grad_hook(x):
    y, z = x * 2, x * 3
    seen = []
    torch.autograd.graph.register_multi_grad_hook((y, z), lambda grads: seen.append(len(grads)))
    (y.sin() + z.cos()).sum().backward(retain_graph=True)
    return y + z, list(seen)


@row(GROUP)
def pre_hook_of_an_optimizer(wrap: Wrap):
    w = torch.nn.Parameter(torch.ones(3))
    optimizer, log = torch.optim.SGD([w], 0.1), []
    optimizer.register_step_pre_hook(lambda *args: log.append("before"))
    optimizer.register_step_post_hook(lambda *args: log.append("behind"))

    @wrap
    def step(x):
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return [step(torch.arange(3.0)) for _ in range(3)], w, log


@row(GROUP)
def optimizer_in_backward(wrap: Wrap):
    w = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([w], 0.1)

    def fused(parameter):
        optimizer.step()
        optimizer.zero_grad()

    w.register_post_accumulate_grad_hook(fused)

    @wrap
    def f(x):
        return (w * x).sin().sum()

    for number in range(3):
        f(torch.arange(3.0)).backward()
    return w, w.grad


@called(GROUP, grad=True)
def straight_through(x):
    class Round(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t.round()

        @staticmethod
        def backward(ctx, g):
            return g

    return Round.apply(x) * 2


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t, factor):
        ctx.factor = factor
        ctx.save_for_backward(t)
        return t * factor

    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return g * ctx.factor + t, None


@called(GROUP, grad=True)
def function_with_a_number(x):
    return Scaled.apply(x, 3.0) + Scaled.apply(x, 2)


@called(GROUP, grad=True)
def loss_with_labels(x):
    return F.cross_entropy(x, torch.tensor([0, 2]), label_smoothing=0.1)


@called(GROUP, grad=True)
def functional_jacobian(x):
    return torch.autograd.functional.jacobian(torch.sin, x.detach()).sum() + x


@called(GROUP, grad=True)
def functional_vjp(x):
    value, cotangent = torch.autograd.functional.vjp(torch.sin, x.detach(), torch.ones_like(x))
    return x * cotangent
