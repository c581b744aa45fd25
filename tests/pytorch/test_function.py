"""`autograd.Function.apply` without gradients is its forward; with them it is an operation of the graph."""
from __future__ import annotations

import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(context, x, factor=1):
        context.save_for_backward(x)
        context.factor = factor
        assert context.needs_input_grad[0] in (True, False)
        return x**3 * factor

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return gradient * 3 * x**2 * context.factor, None


class Apart(torch.autograd.Function):
    """Forward and context apart; two results."""

    @staticmethod
    def forward(x):
        return x * 2, x.view_as(x)

    @staticmethod
    def setup_context(context, inputs, output):
        context.save_for_backward(*inputs)

    @staticmethod
    def backward(context, first, second):
        return first * 2 + second


class Same(torch.autograd.Function):
    """Gives its argument back: autograd makes that a view."""

    @staticmethod
    def forward(context, x):
        return x + 1, x

    @staticmethod
    def backward(context, first, second):
        return first + second


def same(x):
    more, same = Same.apply(x)
    return more, same, same is x


def cube(x):
    return Cube.apply(x, 2) + 1


def apart(x):
    doubled, same = Apart.apply(x)
    return doubled, same, same is x


@pytest.mark.parametrize("function", [cube, apart, same])
def test_forward_is_inlined_without_gradients(function):
    compiled = frameloom.compile(function, backend="eager", fullgraph=True)
    for grad, x in ((False, torch.arange(3.0, requires_grad=True)), (True, torch.arange(3.0))):
        with torch.set_grad_enabled(grad):
            expected, actual = function(x), compiled(x)
        if function is cube:
            assert torch.equal(actual, expected) and actual.requires_grad == expected.requires_grad
        else:
            assert [torch.equal(a, e) for a, e in zip(actual[:2], expected[:2])] == [True, True]
            assert actual[2] is expected[2]
            assert [a.data_ptr() == x.data_ptr() for a in actual[:2]] == [e.data_ptr() == x.data_ptr() for e in expected[:2]]


class Marked(torch.autograd.Function):
    """One result without gradient; gradients may be missing."""

    @staticmethod
    def forward(ctx, x, y, mode="sum", pair=(1, 2)):
        largest, index = x.max(0)
        ctx.mark_non_differentiable(index)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, y)
        ctx.needs = ctx.needs_input_grad
        return x * y, index, y * 3

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, first, index, second):
        x, y = ctx.saved_tensors
        assert index is None and ctx.needs == ctx.needs_input_grad
        of_x = None if first is None else first * y
        of_y = None if second is None else second * 3
        return of_x, of_y, None, None


class InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(3)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3


class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = torch.rand_like(x)
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, gradient):
        (mask,) = ctx.saved_tensors
        return gradient * mask


class Viewed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.view(3)


class Vjp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.exp()

    @staticmethod
    def vjp(ctx, gradient):
        return gradient * 5


class Mixed(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return gradient * y, gradient * x


class Twice(torch.autograd.Function):
    """A function that applies another, in both directions."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return Cube.apply(x, 2)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return Cube.apply(gradient, 3) * x


SCALE = 2.0


class Global(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * SCALE

    @staticmethod
    def backward(ctx, gradient):
        return gradient * SCALE * 10


def marked(x):
    product, index, tripled = Marked.apply(x, x + 1, "sum", (1, 2))
    return product, index, tripled.detach(), index.requires_grad


def in_place(x):
    y = x * 2
    z = InPlace.apply(y)
    return z, y, z is y


def noisy(x):
    return Noisy.apply(x) + Noisy.apply(x), torch.rand(1)


def viewed(x):
    return (Viewed.apply(x) + 1,)


def vjp(x):
    return Vjp.apply(x), Vjp.apply(x.detach())


def mixed(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = torch.outer(x, x) @ torch.outer(x, x)
        return Mixed.apply(y, y.float()), Mixed.apply(x, x)


def twice(x):
    return (Twice.apply(x),)


def reads_a_global(x):
    return Global.apply(x), Global.apply(x * 2)


def in_a_loop(x):
    for _ in range(3):
        x = Cube.apply(x, 0.5).tanh()
    return (x,)


def unused(x):
    Cube.apply(x, 2)
    return (x * 2,)


WHOLE = [cube, apart, same, marked, in_place, noisy, viewed, vjp, mixed, twice, reads_a_global, in_a_loop, unused]


def outcome(function, wrap, make=lambda: torch.arange(3.0, requires_grad=True)):
    """Everything of a call that shows, gradients included."""
    torch.manual_seed(0)
    x = make()
    result = wrap(function)(x)
    result = result if isinstance(result, tuple) else (result,)
    graded = [t for t in result if isinstance(t, torch.Tensor) and t.requires_grad]
    sum(t.float().sum() for t in graded).backward()
    facts = [(t.dtype, t.requires_grad, t.is_leaf, t.stride()) if isinstance(t, torch.Tensor) else t for t in result]
    return [t for t in result if isinstance(t, torch.Tensor)] + [x.grad], facts, torch.get_rng_state().tolist()


def assert_same(found, expected):
    assert found[1:] == expected[1:]
    assert all(torch.equal(one, other) for one, other in zip(found[0], expected[0], strict=True))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", WHOLE)
def test_gradients_are_eagers(function, backend):
    compiled = frameloom.compile(function, backend=backend, fullgraph=True)
    for _ in range(2):
        assert_same(outcome(function, lambda f: compiled), outcome(function, lambda f: f))
    assert frameloom.stats().graphs == 1


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_what_backward_looks_at_is_guarded(backend, monkeypatch):
    compiled = frameloom.compile(reads_a_global, backend=backend)
    for scale in (2.0, 3.0, 2.0):
        monkeypatch.setitem(globals(), "SCALE", scale)
        assert_same(outcome(reads_a_global, lambda f: compiled), outcome(reads_a_global, lambda f: f))


def function_of(name, forward, backward=lambda ctx, gradient: gradient):
    return type(name, (torch.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


SEEN: list = []
WEIGHT = torch.ones(3, requires_grad=True)
PARTIAL = [
    function_of("Writes", lambda ctx, x: SEEN.append(1) or x * 2),
    function_of("WritesBackward", lambda ctx, x: x * 2, lambda ctx, g: SEEN.append(2) or g),
    function_of("Prints", lambda ctx, x: print("forward") or x * 2),
    function_of("Reads", lambda ctx, x: x * WEIGHT),
    function_of("Decides", lambda ctx, x: x * 2, lambda ctx, g: g if g.sum() > 0 else -g),
    function_of("Breaks", lambda ctx, x: frameloom.graph_break() or x * 2),
    function_of("Derives", lambda ctx, x: x * 2, lambda ctx, g: torch.autograd.grad(torch.ones(1, requires_grad=True) * 2, [], g) or g),
    function_of("Asks", lambda ctx, x: x * len(ctx.metadata) + x),
]


@pytest.mark.parametrize("cls", PARTIAL, ids=lambda cls: cls.__name__)
def test_what_does_more_than_compute_is_left_to_eager(cls, capsys):
    def applied(x):
        y = x + 1
        return cls.apply(y) * 2, y

    def seen(wrap):
        SEEN.clear()
        return (*attempt(lambda: outcome(applied, wrap)), list(SEEN), capsys.readouterr().out)

    compiled = frameloom.compile(applied, backend="aot_eager")
    for _ in range(2):
        found, expected = seen(lambda f: compiled), seen(lambda f: f)
        assert found[1:] == expected[1:]
        if expected[0] is not None:
            assert_same(found[0], expected[0])
    assert "FL301" in frameloom.stats().breaks


def attempt(run):
    try:
        return run(), None
    except Exception as error:  # what a program raises is part of what shows
        return None, (type(error), str(error))


def test_a_function_of_captured_code_and_written_state():
    state = {"scale": 1.0}

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * state["scale"]

        @staticmethod
        def backward(ctx, gradient):
            return gradient * state["scale"]

    def write(x):
        state["scale"] = 4.0
        return (Scaled.apply(x),)

    assert_same(outcome(write, frameloom.compile(backend="eager")), outcome(write, lambda f: f))


def test_a_forward_that_fails_by_value_fails_in_the_program():
    look_up = function_of("LookUp", lambda ctx, x, index: x.take(index), lambda ctx, g: (g.expand(3), None))

    def safe(x, index):
        try:
            return look_up.apply(x, index)
        except IndexError as error:
            return str(error)

    compiled = frameloom.compile(safe, backend="eager")
    x = torch.ones(3, requires_grad=True)
    assert torch.equal(compiled(x, torch.tensor([1])), safe(x, torch.tensor([1])))
    assert compiled(x, torch.tensor([9])) == safe(x, torch.tensor([9]))


def test_a_view_that_a_function_made_is_written_to():
    def write(x):
        y = Viewed.apply(x * 2)
        return y.add_(1)

    x = torch.ones(3, requires_grad=True)
    assert attempt(lambda: frameloom.compile(write, backend="eager")(x)) == attempt(lambda: write(x))


@pytest.mark.parametrize("grad", [False, True])
def test_needs_input_grad(grad):
    def asks(x, y):
        needs = []

        class Asks(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                needs.append(ctx.needs_input_grad)
                return x + y

            @staticmethod
            def backward(ctx, gradient):
                return gradient, gradient

        return Asks.apply(x, y), needs

    class Needs(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * (10 if ctx.needs_input_grad[0] else 1) + y * (10 if ctx.needs_input_grad[1] else 1)

        @staticmethod
        def backward(ctx, gradient):
            return gradient, gradient

    def known(x, y):
        return Needs.apply(x, y), None

    for function in (known, asks):
        compiled = frameloom.compile(function, backend="eager")
        with torch.set_grad_enabled(grad):
            for first, second in ((True, False), (False, True), (True, True), (False, False)):
                x, y = torch.ones(2, requires_grad=first), torch.ones(2, requires_grad=second)
                found, expected = compiled(x, y), function(x, y)
                assert torch.equal(found[0], expected[0]) and found[1] == expected[1]


def test_tensors_reached_otherwise_get_no_gradient_either():
    """Only arguments count: what forward reaches by other ways is used without gradients."""
    weight = torch.ones(3, requires_grad=True)

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x * weight

        @staticmethod
        def backward(context, gradient):
            return gradient

    def scale(x):
        return Scale.apply(x), weight * x

    expected, actual = scale(torch.ones(3)), frameloom.compile(scale, backend="eager", fullgraph=True)(torch.ones(3))
    assert [t.requires_grad for t in actual] == [t.requires_grad for t in expected] == [False, True]
