"""Autocast, entered outside and inside: casts, gradients and what is left behind are eager's."""
from __future__ import annotations

from typing import Any, Callable

import pytest
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

import frameloom
from frameloom.diagnostics.errors import BackendError

pytestmark = pytest.mark.torch
BF16, F16 = torch.bfloat16, torch.float16


def settings() -> tuple:
    torch.autocast_increment_nesting()
    depth = torch.autocast_decrement_nesting()
    return torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled(), depth


@pytest.fixture(autouse=True)
def clean():
    frameloom.reset()
    before = settings()
    yield
    assert settings() == before
    frameloom.reset()


def nested(x, y):
    with torch.autocast("cpu", dtype=BF16):
        a = x @ y
        with torch.autocast("cpu", enabled=False):
            b = x @ y
        with torch.amp.autocast("cpu", dtype=BF16):
            c = x @ y, torch.get_autocast_dtype("cpu")
        d = torch.nn.functional.softmax(a, 0), torch.is_autocast_enabled("cpu")
    with torch.autocast("cpu", dtype=F16):
        return a, b, c, d, x @ y, torch.get_autocast_dtype("cpu")


@torch.autocast("cpu", dtype=BF16)
def decorated(x, y):
    return x @ y, torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")


@torch.autocast("cpu", dtype=BF16, cache_enabled=False)
def without_cache(x, y):
    return x @ y + x @ y.T, torch.is_autocast_cache_enabled()


def with_cache(x, y):
    with torch.autocast("cpu", dtype=BF16):
        return x @ y + x @ y.T


def off(x, y):
    with torch.autocast("cpu", dtype=BF16, enabled=False):
        return x @ y


def around_no_grad(x, y):
    with torch.autocast("cpu", dtype=BF16), torch.no_grad():
        a = x @ y
    return a, x @ y


def kept_object(x, y):
    region = torch.autocast("cpu", dtype=BF16)
    with region:
        a = x @ y
    with region:
        return a, x @ a, region


def caught(x, y):
    try:
        with torch.autocast("cpu", dtype=BF16):
            a = x @ y
            raise KeyError
    except KeyError:
        return a, x @ y


def broken(x, y):
    with torch.autocast("cpu", dtype=BF16):
        a = x @ y
        frameloom.graph_break()
        b = x @ y, torch.get_autocast_dtype("cpu"), torch.is_autocast_enabled("cpu"), settings()
    return a, b, x @ y, settings()


def half_open(x, y):
    region = torch.autocast("cpu", dtype=BF16)
    region.__enter__()
    return x @ y, region


def results(function: Callable, grad: bool) -> Any:
    """What a call gives, the settings that it leaves, and gradients."""
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randn(4, 4, generator=generator).requires_grad_(grad) for _ in range(2))
    result = function(x, y)
    left = settings()
    for leaf in tree_leaves(result):
        if isinstance(leaf, torch.autocast) and left[-1] > 0:
            leaf.__exit__(None, None, None)
    tensors = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    if grad and any(t.requires_grad for t in tensors):
        with torch.autocast("cpu", enabled=False):
            sum(t.float().sum() for t in tensors if t.requires_grad).backward()
        tensors += [x.grad, y.grad]
    others = [leaf for leaf in tree_leaves(result) if not isinstance(leaf, torch.Tensor)]
    plain = [sorted(vars(leaf).items()) if isinstance(leaf, torch.autocast) else leaf for leaf in others]
    return tensors, (plain, left)


def expected(function: Callable, grad: bool, backend: str) -> Any:
    """Eager's results.  Where a backend traces the graph again, each use of a parameter is a cast of its own."""
    tensors, plain = results(function, grad)
    if backend == "aot_eager":
        torch.set_autocast_cache_enabled(False)
        tensors, _ = results(function, grad)
        torch.set_autocast_cache_enabled(True)
    return tensors, plain


def assert_same(found: Any, expected: Any) -> None:
    assert found[1] == expected[1]
    assert [t.dtype for t in found[0]] == [t.dtype for t in expected[0]]
    assert all(torch.equal(one, other) for one, other in zip(found[0], expected[0]))


WHOLE = [nested, decorated, without_cache, with_cache, off, around_no_grad, kept_object, caught, half_open]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("function", [*WHOLE, broken], ids=lambda f: getattr(f, "__name__", "f"))
def test_inside(function: Callable, grad: bool, backend: str) -> None:
    compiled = frameloom.compile(function, backend=backend)
    for _ in range(2):
        assert_same(results(compiled, grad), expected(function, grad, backend))
    stats = frameloom.stats()
    assert stats.graphs == (2 if function is broken else 1), stats
    assert set(stats.breaks) == ({"FL401"} if function is broken else set()) and not stats.eager, stats


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_outside_is_guarded(backend: str) -> None:
    def inside(x, y):
        a = x @ y
        with torch.autocast("cpu", enabled=False):
            b = x.float() @ y
        return a, b, torch.get_autocast_dtype("cpu"), torch.is_autocast_enabled("cpu")

    compiled = frameloom.compile(inside, backend=backend, fullgraph=True)
    regions: list[dict] = [{"enabled": False}, {"dtype": BF16}, {"dtype": F16}, {"dtype": BF16}, {"enabled": False}]
    for given in regions:
        with torch.autocast("cpu", **given):
            for grad in (False, True):
                assert_same(results(compiled, grad), expected(inside, grad, backend))


def test_casts_of_parameters_are_dropped_with_the_last_region() -> None:
    """They are kept by running code while a region is open; a later call must not see what an earlier one cast."""
    layer = nn.Linear(3, 3)

    def step(x):
        with torch.autocast("cpu", dtype=BF16):
            first = layer(x)
            frameloom.graph_break()
            return first, layer(x)

    compiled = frameloom.compile(step, backend="aot_eager")
    x = torch.ones(2, 3)
    for _ in range(3):
        assert all(torch.equal(a, b) for a, b in zip(compiled(x), step(x)))
        with torch.no_grad():
            layer.weight.mul_(2)


def test_regions_of_different_dtypes_inside_one() -> None:
    """Eager takes what it cast in the outer region for the inner one's."""

    def inside(x, y):
        with torch.autocast("cpu", dtype=BF16):
            a = x @ y
            with torch.autocast("cpu", dtype=F16):
                return a, x @ y

    compiled = frameloom.compile(inside, backend="eager")
    for grad in (True, False, True):
        assert_same(results(compiled, grad), results(inside, grad))
    with torch.autocast("cpu", dtype=F16):
        for grad in (True, False):
            assert_same(results(compiled, grad), results(inside, grad))
    assert set(frameloom.stats().breaks) == {"FL302"}


def test_regions_inside_one_that_the_caller_opened() -> None:
    def same(x, y):
        return x @ y, x + y

    def enters(x, y):
        with torch.autocast("cpu", dtype=F16):
            return x @ y

    for function in (same, enters):
        compiled = frameloom.compile(function, backend="eager")
        for given in (BF16, F16):
            with torch.autocast("cpu", dtype=given), torch.autocast("cpu", dtype=F16):
                assert_same(results(compiled, True), results(function, True))
            with torch.autocast("cpu", dtype=given), torch.autocast("cpu", enabled=False):
                assert_same(results(compiled, True), results(function, True))
    assert frameloom.stats().eager["FL910"]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_graph_that_fails_leaves_the_settings_alone(backend: str) -> None:
    def look_up(table, index):
        with torch.autocast("cpu", dtype=BF16):
            return table @ table, nn.functional.embedding(index, table)

    compiled = frameloom.compile(look_up, backend=backend)
    table = torch.ones(3, 3)
    assert compiled(table, torch.tensor([1]))[0].dtype is BF16
    before = settings()
    with pytest.raises(IndexError):
        compiled(table, torch.tensor([7]))
    assert settings() == before


def test_a_backend_that_fails_leaves_the_settings_alone() -> None:
    def refuse(module, examples):
        torch.autocast_increment_nesting()
        torch.set_autocast_enabled("cpu", True)
        raise ValueError

    before = settings()
    with pytest.raises(BackendError):
        frameloom.compile(with_cache, backend=refuse)(torch.ones(2, 2), torch.ones(2, 2))
    assert settings() == before


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_training_step(backend: str) -> None:
    def train(wrap: Callable) -> list:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(5, 8), nn.LayerNorm(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x, y):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=BF16):
                loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        step = wrap(step)
        return [step(torch.randn(6, 5), torch.randint(3, (6,))) for _ in range(8)] + list(model.parameters())

    expected = train(lambda step: step)
    found = train(frameloom.compile(backend=backend))
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
    assert set(frameloom.stats().breaks) == {"FL306"}
