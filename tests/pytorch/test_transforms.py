"""torch.func: functions are captured as bodies of one operation each, and what does more than compute tensors breaks."""
from __future__ import annotations

from typing import Any, Callable

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.utils._pytree import tree_leaves

import frameloom
from frameloom.diagnostics.errors import GraphBreakError

pytestmark = pytest.mark.torch
WEIGHT = torch.tensor([0.5, -1.0, 2.0])
PARAMETER = nn.Parameter(torch.tensor([0.5, -1.0, 2.0]))
SEEN: list = []
LINEAR = nn.Linear(3, 3)


def lifted(x):
    y = x.exp()
    return vmap(lambda row: row * WEIGHT + y.sum() + PARAMETER)(x)


def structured(x):
    return vmap(lambda d: {"a": d["x"] + d["k"], "b": [d["x"].sum(), (d["y"],)]}, in_dims=({"x": 0, "y": 1, "k": None},))(
        {"x": x, "y": x.t(), "k": 2.0}
    )


def mapped_to_a_later_dimension(x):
    return vmap(lambda row: (row * 2, row.sum()), out_dims=(1, 0))(x)


def keywords(x):
    return vmap(lambda row, *, scale: row * scale)(x, scale=x[0])


def chunked(x):
    return vmap(torch.sin, chunk_size=1)(x)


def nested(x):
    return vmap(lambda a: vmap(lambda b: a * b.sum())(x))(x)


def by_each_argument(x):
    return grad(lambda p, k: (p["w"] * p["b"]).sum() * k.sum(), argnums=(0, 1))({"w": x, "b": x + 1}, x)


def with_others(x):
    return grad_and_value(lambda t: ((t * WEIGHT).sum(), {"rows": t.sum(0), "more": (t,)}), has_aux=True)(x)


def without_gradients_around(x):
    with torch.no_grad():
        return grad(lambda t: (t.sin() * x).sum())(x)


def modes_inside(x):
    def loss(t):
        with torch.no_grad():
            scale = t.abs().max()
        return (t / scale).sum() * float(torch.is_grad_enabled())

    return grad(loss)(x)


def three_deep(x):
    return vmap(grad(grad(grad(torch.sin))))(x[0])


def pulled_twice(x):
    value, back = vjp(lambda a, b: (a * b, a.sin()), x, x + 1)
    return value, back((x, x)), back((x + 1, x))


def pulled_with_others(x):
    value, back, other = vjp(lambda a: (a * a, a.sum()), x, has_aux=True)
    return value, back(x), other


def pushed(x):
    return jvp(lambda a, b: {"p": a * b, "q": a.sin()}, (x, x + 1), (x, x))


def jacobians(x):
    f = lambda a, b: (a * b.sum(), a.sin())  # noqa: E731
    return jacrev(f, argnums=(0, 1))(x[0], x[1]), jacfwd(f, argnums=1)(x[0], x[1])


def jacobian_in_chunks(x):
    return jacrev(lambda a: a ** 3, chunk_size=2)(x[0])


def hessians(x):
    return hessian(lambda a: (a ** 3 * WEIGHT).sum())(x[0]), hessian(lambda a, b: (a * b).sin().sum(), argnums=1)(x, x)


def hessians_of_rows(x):
    return vmap(hessian(lambda a: a.sin().sum()))(x)


def of_a_module(x):
    parameters = {name: p.detach() * 2 for name, p in LINEAR.named_parameters()}
    return vmap(grad(lambda p, row: functional_call(LINEAR, p, (row,)).square().sum()), in_dims=(None, 0))(parameters, x)


def written_inside(x):
    def body(row):
        total = torch.zeros_like(row)
        total += row
        total[0] = 1
        return total

    return vmap(body)(x)


WHOLE = [
    lifted, structured, mapped_to_a_later_dimension, keywords, chunked, nested, by_each_argument, with_others, without_gradients_around,
    modes_inside, three_deep, pulled_twice, pulled_with_others, pushed, jacobians, jacobian_in_chunks, hessians, of_a_module, written_inside,
]


def list_outside(x):
    return grad(lambda t: (SEEN.append("called"), t.sum())[1])(x), len(SEEN)


def list_inside(x):
    seen = []
    result = vmap(lambda row: (seen.append(1), row * 2)[1])(x)
    return result, seen


def variable(x):
    count = 0

    def body(t):
        nonlocal count
        count += 1
        return t.sum()

    return grad(body)(x), count


def attribute(x):
    found = nn.Module()
    grad(lambda t: (setattr(found, "size", t.shape[0]), t.sum())[1])(x)
    return x, found.size


def printed(x):
    return vmap(lambda row: (print("row"), row)[1])(x)


def level_asked(x):
    return grad(lambda t: t.sum() * (2.0 if t.requires_grad else 3.0))(x)


def strides_asked(x):
    return vmap(lambda row: row * row.stride()[0])(x.t())


def generator_advanced(x):
    numbers = (n for n in range(5))
    return grad(lambda t: t.sum() * next(numbers))(x), next(numbers)


def iterator_advanced(x):
    numbers = iter([1.0, 2.0, 3.0])
    return grad(lambda t: t.sum() * next(numbers))(x), next(numbers)


def caller_written(x):
    kept = x.clone()
    return grad(lambda t: (kept.mul_(2), t.sum())[1])(x), kept


def pulled_by_the_caller(x):
    return vjp(torch.sin, x)[1]


def written_before_it_is_pulled(x):
    y = x.clone()
    value, back = vjp(lambda a: a * a, y)
    y.mul_(2)
    return value, back(x)


def decided_by_data(x):
    return grad(lambda t: t.sum() if t.sum() > 0 else t.prod())(x)


def refused(x):
    return vmap(lambda row: row.reshape(7))(x)


def no_scalar(x):
    return grad(torch.sin)(x)


def with_text(x):
    return grad(lambda t: (t.sum(), "text"), has_aux=True)(x)


def drawn(x):
    return vmap(lambda row: row + torch.rand(3))(x)


BREAKING = [
    list_outside, list_inside, variable, attribute, printed, level_asked, strides_asked, generator_advanced, iterator_advanced, caller_written,
    pulled_by_the_caller, written_before_it_is_pulled, decided_by_data, refused, no_scalar, with_text,
    drawn, hessians_of_rows,
]


def outcome(function: Callable, called: Callable, graded: bool) -> list:
    """What two calls give, with the gradients."""
    shown: list = []
    SEEN.clear()
    for number in range(2):
        PARAMETER.grad = None
        x = (torch.arange(6.0).view(2, 3) * 0.3 - 0.5 + number).requires_grad_(graded)
        try:
            found = called(x)
        except (RuntimeError, ValueError) as error:
            shown.append((type(error), str(error)))
            continue
        if callable(found):
            found = found(x * 2)
        leaves = tree_leaves(found)
        derived = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
        if derived:
            sum(leaf.sum() for leaf in derived).backward()
        shown += [leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        shown += [len(derived), x.grad, PARAMETER.grad]
    return shown


def assert_same(found: list, expected: list) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert type(one) is type(other)
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


@pytest.mark.parametrize("graded", [False, True], ids=["plain", "graded"])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", WHOLE)
def test_whole(function: Callable, backend: str, graded: bool) -> None:
    assert_same(outcome(function, frameloom.compile(function, backend=backend, fullgraph=True), graded), outcome(function, function, graded))


@pytest.mark.parametrize("function", BREAKING)
def test_broken(function: Callable) -> None:
    assert_same(outcome(function, frameloom.compile(function, backend="eager"), False), outcome(function, function, False))
    assert frameloom.stats().breaks


def test_the_line_is_named() -> None:
    with pytest.raises(GraphBreakError) as caught:
        frameloom.compile(list_outside, backend="eager", fullgraph=True)(torch.ones(2, 3))
    assert f"line {list_outside.__code__.co_firstlineno + 1}, in list_outside.<locals>.<lambda>" in str(caught.value)


def test_what_a_body_reads_is_guarded() -> None:
    @frameloom.compile(backend="eager")
    def f(x: torch.Tensor) -> Any:
        return vmap(lambda row: row * FACTOR["n"])(x)

    x = torch.ones(2, 3)
    for factor in (2, 3, 2):
        FACTOR["n"] = factor
        assert torch.equal(f(x), x * factor)


FACTOR = {"n": 1}


def test_a_transform_that_fails_at_capture_leaves_no_trace() -> None:
    x = torch.ones(2, 3)
    frameloom.compile(hessians_of_rows, backend="eager")(x)
    assert torch.equal(frameloom.compile(lambda x: vmap(torch.zeros_like)(x), backend="eager", fullgraph=True)(x), x * 0)


def test_sizes_of_the_caller_vary() -> None:
    def f(x: torch.Tensor) -> Any:
        n = x.shape[0] + 1
        return vmap(lambda row: row * n)(x)

    called = frameloom.compile(f, backend="eager", fullgraph=True)
    for size in (2, 3, 5, 7):
        x = torch.arange(float(size * 3)).view(size, 3)
        assert torch.equal(called(x), f(x))


def test_sizes_vary() -> None:
    called = frameloom.compile(lambda x: vmap(lambda row: row * row.shape[0] + row.sum())(x), backend="eager", fullgraph=True)
    for size in (2, 3, 5, 7):
        x = torch.arange(float(size * 3)).view(size, 3)
        assert torch.equal(called(x), x * 3 + x.sum(1, keepdim=True))
