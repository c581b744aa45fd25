"""Grad mode, leaves, gradients and hooks on tensors."""
import torch

from tests.pytorch.programs.program import floats, fresh, program


def leaf():
    return (floats(4, 3).requires_grad_(),)


@program(leaf)
def no_grad_context(x):
    with torch.no_grad():
        y = x * 2
    return y, x * 3, torch.is_grad_enabled()


@program(leaf)
def nested_grad_contexts(x):
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = x * 3
        c = torch.is_grad_enabled()
    return a, b, c


@fresh(leaf)
def no_grad_decorator():
    @torch.no_grad()
    def run(x):
        return x * 2

    return run


@fresh(leaf)
def decorated_callee():
    @torch.no_grad()
    def inner(x):
        return x * 2

    @torch.enable_grad()
    def outer(x):
        return inner(x) + x

    return outer


@program(leaf)
def set_grad_enabled_as_a_context(x):
    with torch.set_grad_enabled(x.shape[0] > 100):
        return x * 2


@program(leaf, graphs=None)
def set_grad_enabled_as_a_function(x):
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(True)
    return y, x * 3


@program(leaf, graphs=None)
def grad_mode_left_changed(x):
    torch.set_grad_enabled(False)
    return x * 2


@program(leaf, graphs=None)
def inference_mode(x):
    with torch.inference_mode():
        return x * 2


@program(leaf)
def detached(x):
    y = x.detach()
    return y * 2, x * y, y.requires_grad, (x * 2).detach()


@program(graphs=None)
def requires_grad_of_a_fresh_tensor(x):
    y = (x.detach() * 2).requires_grad_()
    return y, y.is_leaf, y * 3


@program(lambda: (floats(3),), graphs=None)
def requires_grad_of_an_argument(x):
    if x.is_leaf and x.is_floating_point():
        x.requires_grad_()
    return x * 2


@program(leaf, graphs=None)
def backward_inside(x):
    x.detach_()
    x.requires_grad_()
    (x * x).sum().backward()
    return x.grad * 2


@program(leaf, graphs=None)
def gradient_asked_for(x):
    y = (x**3).sum()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    return y, gradient


@program(leaf, graphs=None)
def hook_on_an_intermediate(x):
    seen = []
    y = x * 2
    y.register_hook(lambda gradient: seen.append(gradient.shape) or gradient * 10)
    return (y * 3).sum(), seen


@program(leaf, graphs=None)
def hook_on_an_argument(x):
    if x.requires_grad:
        handle = x.register_hook(lambda gradient: gradient * 2)
        result = (x * 3).sum()
        return result, type(handle).__name__
    return x


@program(leaf)
def in_place_on_an_intermediate(x):
    y = x * 2
    y.add_(1)
    y[0] = 0
    return y.sum()


@program(leaf)
def in_place_on_a_leaf(x):
    x.add_(1)
    return x


@program(leaf, graphs=None)
def retained_gradient(x):
    y = x * 2
    y.retain_grad()
    return y, (y * 3).sum()


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return gradient * 3 * x**2


@program(leaf, graphs=None)
def custom_function(x):
    return Cube.apply(x) + 1


@program()
def custom_function_without_gradient(x):
    return Cube.apply(x.detach()) + 1


@program(leaf, graphs=None)
def leaf_written_under_no_grad(x):
    with torch.no_grad():
        x.mul_(2)
    return x * 2


@fresh(leaf, graphs=None)
def one_step_of_an_optimiser():
    weight = torch.nn.Parameter(floats(3))
    optimiser = torch.optim.SGD([weight], lr=0.1)

    def run(x):
        optimiser.zero_grad()
        loss = (x.detach() * weight).sum()
        loss.backward()
        optimiser.step()
        return loss.detach(), weight

    return run
