"""torch.func, and operators that take functions."""
from __future__ import annotations

import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, stack_module_state, vjp, vmap
from torch.nn.attention.flex_attention import flex_attention

from tests.pytorch.scripts.row import Wrap, called, row

GROUP = "torch.func"


@called(GROUP)
def vmap_plain(x):
    return vmap(lambda row: row.sin() / row.sum())(x)


@called(GROUP)
def vmap_dimensions(x):
    return vmap(lambda a, b: a @ b, in_dims=(1, None), out_dims=1)(x, torch.ones(2, 4))


@called(GROUP)
def vmap_of_two(x):
    return vmap(vmap(torch.mul, in_dims=(None, 0)), in_dims=(0, None))(x[0], x[1])


@called(GROUP)
def vmap_random(x):
    return vmap(lambda row: row + torch.rand(3), randomness="different")(x)


@called(GROUP, grad=True)
def vmap_with_gradients(x):
    w = torch.arange(3.0)
    return vmap(lambda row: (row * w).sum())(x)


@called(GROUP)
def grad_plain(x):
    return grad(lambda t: (t ** 3).sum())(x)


@called(GROUP)
def grad_of_two(x):
    return grad(lambda a, b: (a * b.sin()).sum(), argnums=(0, 1))(x, x + 1)


@called(GROUP)
def grad_with_value(x):
    gradient, (value, other) = grad_and_value(lambda t: (t.exp().sum(), t * 2), has_aux=True)(x)
    return gradient, value, other


@called(GROUP)
def grad_of_grad(x):
    return vmap(grad(grad(lambda t: t.sin())))(x[0])


@called(GROUP)
def per_sample_gradients(x):
    w = torch.arange(3.0)

    def loss(w, row):
        return (w * row).sum().tanh()

    return vmap(grad(loss), in_dims=(None, 0))(w, x)


@called(GROUP)
def jvp_plain(x):
    return jvp(lambda t: t.sin() * 2, (x,), (torch.ones_like(x),))


@called(GROUP)
def vjp_plain(x):
    value, back = vjp(lambda t: t.sin() * 2, x)
    return value, back(torch.ones_like(x))


@called(GROUP)
def jacobian_backward(x):
    return jacrev(lambda t: t ** 2)(x[0])


@called(GROUP)
def jacobian_forward(x):
    return jacfwd(lambda t: t ** 2)(x[0])


@called(GROUP)
def hessian_plain(x):
    return hessian(lambda t: (t ** 3).sum())(x[0])


@called(GROUP)
def linearized(x):
    value, push = linearize(lambda t: t.sin(), x)
    return value, push(torch.ones_like(x))


@called(GROUP, grad=True)
def grad_inside_a_loss(x):
    penalty = grad(lambda t: (t ** 3).sum())(x)
    return (x * 2 + penalty).sum()


@row(GROUP)
def ensemble(wrap: Wrap):
    models = [nn.Linear(3, 2) for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    base = models[0]

    @wrap
    def f(x):
        return vmap(lambda p, b: functional_call(base, (p, b), (x,)))(parameters, buffers)

    return [f(torch.arange(6.0).view(2, 3) + number) for number in range(2)]


@row(GROUP)
def outside(wrap: Wrap):
    @wrap
    def f(t):
        return (t.sin() ** 2).sum()

    x = torch.arange(6.0).view(2, 3)
    return grad(f)(x), vmap(f)(x), f(x)


HIGHER = "operators with bodies"


@called(HIGHER)
def cond(x):
    return torch.cond(x.sum() > 3, lambda t: t.sin(), lambda t: t.cos(), (x,))


@called(HIGHER)
def cond_with_closure(x):
    w = x.abs()
    return torch.cond(x.sum() > 3, lambda: w * 2, lambda: w - 1)


@called(HIGHER, grad=True)
def cond_with_gradients(x):
    return torch.cond(x.sum() > 3, lambda t: t.sin(), lambda t: t.cos(), (x,))


@called(HIGHER)
def while_loop(x):
    from torch._higher_order_ops import while_loop as loop

    return loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * 2), (torch.tensor(0), x))


@called(HIGHER)
def mapped(x):
    from torch._higher_order_ops import map as map_

    return map_(lambda row, y: row * y, x, torch.arange(3.0))


@called(HIGHER)
def scanned(x):
    from torch._higher_order_ops import scan

    return scan(lambda carry, row: (carry + row, carry * row), torch.zeros(3), x)


@called(HIGHER)
def scanned_associatively(x):
    from torch._higher_order_ops import associative_scan

    return associative_scan(torch.add, x, dim=0, combine_mode="generic")


@called(HIGHER)
def flex_attention_plain(x):
    q = x.reshape(1, 1, 2, 3)
    return flex_attention(q, q, q)


@called(HIGHER)
def flex_attention_with_score(x):
    q = x.reshape(1, 1, 2, 3)
    return flex_attention(q, q, q, score_mod=lambda score, b, h, i, j: score + (i - j))
