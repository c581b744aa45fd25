"""Settings of torch that a program asks and sets: default dtype, kernels of attention, precision, flags of libraries."""
from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import frameloom
from frameloom.pytorch.settings import SETTINGS

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def restored():
    found = [(setting, setting.read()) for setting in SETTINGS]
    yield
    for setting, value in found:
        setting.set(value)


def held():
    return [setting.read() for setting in SETTINGS]


def shown(function, *args):
    """What a call gives, and what it leaves set; then all is set back."""
    before = held()
    try:
        result = function(*args)
    except Exception as error:
        result = type(error)
    left = held()
    for setting, value in zip(SETTINGS, before):
        setting.set(value)
    return result, left


def by_one_kernel(x):
    with sdpa_kernel(SDPBackend.MATH):
        return F.scaled_dot_product_attention(x, x, x)


def by_kernels_nested(x):
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        y = F.scaled_dot_product_attention(x, x, x)
        with sdpa_kernel([SDPBackend.MATH]):
            y = y + F.scaled_dot_product_attention(y, y, y)
    return y.transpose(1, 2) if torch.backends.cuda.flash_sdp_enabled() else y


def dtype_for_a_while(x):
    torch.set_default_dtype(torch.float64)
    try:
        y = torch.ones(3), torch.tensor(1.5), torch.get_default_dtype().itemsize
    finally:
        torch.set_default_dtype(torch.float32)
    return x.sum() + y[0], y, torch.ones(2)


def dtype_left(x):
    torch.set_default_dtype(torch.float64)
    return x.sum(), torch.ones(2)


def precision_as_it_is(x):
    torch.set_float32_matmul_precision(torch.get_float32_matmul_precision())
    torch.backends.cudnn.benchmark = torch.backends.cudnn.benchmark
    return x @ x.mT


def fails_inside(x):
    with sdpa_kernel(SDPBackend.MATH):
        y = F.scaled_dot_product_attention(x, x, x)
        return F.embedding(torch.tensor([7]), x[0, 0]) + y.sum()


def breaks_inside(x):
    with sdpa_kernel(SDPBackend.MATH):
        y = F.scaled_dot_product_attention(x, x, x)
        frameloom.graph_break()
        return F.scaled_dot_product_attention(y, y, y)


def changes_precision(x):
    torch.set_float32_matmul_precision("medium")
    return x @ x.mT


WHOLE = [by_one_kernel, by_kernels_nested, dtype_for_a_while, dtype_left, precision_as_it_is]


def same(one, other):
    torch.testing.assert_close(one[0], other[0], rtol=0, atol=0) if not isinstance(one[0], type) else None
    return [str(t) for t in (one[0], one[1])] == [str(t) for t in (other[0], other[1])]


@pytest.mark.parametrize("function", [*WHOLE, fails_inside, breaks_inside, changes_precision])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_results_and_what_is_left_set_are_eager_s(function, backend):
    x = torch.arange(24.0).view(1, 2, 3, 4) / 24
    expected = shown(function, x)
    compiled = frameloom.compile(function, backend=backend)
    for _ in range(2):
        assert same(shown(compiled, x), expected)


@pytest.mark.parametrize("function", WHOLE)
def test_they_are_whole(function):
    compiled = frameloom.compile(function, backend="eager", fullgraph=True)
    shown(compiled, torch.ones(1, 2, 3, 4))


def test_a_setting_that_was_asked_is_guarded():
    def f(x):
        return F.scaled_dot_product_attention(x, x, x), torch.ones(1).dtype, torch.backends.cudnn.benchmark

    compiled = frameloom.compile(f, backend="eager")
    x = torch.randn(2, 4, 8, 16).transpose(1, 2)
    strides = []
    for change in (lambda: None, lambda: torch._C._set_sdp_use_flash(False), lambda: torch.set_default_dtype(torch.float64),
                   lambda: torch._C._set_cudnn_benchmark(True)):
        change()
        (result, *others), (expected, *known) = compiled(x), f(x)
        assert result.stride() == expected.stride() and torch.equal(result, expected) and others == known
        strides.append(result.stride())
    assert len(set(strides)) == 2


def test_compilers_leave_the_default_dtype_to_factories():
    compiled = frameloom.compile(dtype_for_a_while, backend="aot_eager")
    compiled(torch.ones(2, 2))
    assert frameloom.stats().breaks["FL317"]
