"""Grad mode, inference mode and the modes under which nothing is captured."""
from __future__ import annotations

import pytest
import torch

import frameloom
from frameloom.pytorch import modes
from tests.pytorch.hand import Hand

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def clean():
    frameloom.reset()
    before = torch.is_grad_enabled()
    yield
    torch.set_grad_enabled(before)
    frameloom.reset()


def both(function, *args):
    """Eager's result, and a compiled function's twice."""
    compiled = frameloom.compile(function, backend="eager")
    return function(*args), compiled(*args), compiled(*args)


def marks(result):
    return [(t.requires_grad, t.is_leaf, t.is_inference()) for t in result if isinstance(t, torch.Tensor)]


def contexts(x):
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = x * 3
    with torch.set_grad_enabled(False):
        c = x * 4
    return a, b, c, x * 5


@torch.no_grad()
def decorated(x):
    return x * 2, x * 3


def inference(x):
    with torch.inference_mode():
        a = x * 2
    return a, x * 3


@torch.inference_mode()
def decorated_inference(x):
    return x * 2, x.view(-1)


@pytest.mark.parametrize("function", [contexts, decorated, inference, decorated_inference])
@pytest.mark.parametrize("grad", [False, True])
def test_contexts_and_decorators(function, grad):
    x = torch.ones(2, 2, requires_grad=True)
    with torch.set_grad_enabled(grad):
        first, *others = both(function, x)
        for other in others:
            assert marks(other) == marks(first)
        assert torch.is_grad_enabled() is grad
        assert not torch.is_inference_mode_enabled()
    assert frameloom.stats().graphs == 1
    assert not frameloom.stats().breaks


def test_a_mode_left_changed_is_left_changed():
    def leave(x):
        torch.set_grad_enabled(False)
        return x * 2

    compiled = frameloom.compile(leave, backend="eager", fullgraph=True)
    x = torch.ones(2, requires_grad=True)
    assert not compiled(x).requires_grad
    assert not torch.is_grad_enabled()


def test_a_break_inside_keeps_the_mode():
    def broken(x):
        with torch.no_grad():
            y = x * 2
            frameloom.graph_break()
            inside = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
            z = y * 3 + x
        return z, inside, x * 2

    z, inside, after = frameloom.compile(broken, backend="eager")(torch.ones(2, requires_grad=True))
    assert (z.requires_grad, inside, after.requires_grad) == (False, (False, False), True)
    assert torch.is_grad_enabled()


def test_a_break_inside_inference_mode_moves_before_it():
    def broken(x):
        with torch.inference_mode():
            y = x * 2
            frameloom.graph_break()
            return y * 3

    result = frameloom.compile(broken, backend="eager")(torch.ones(2))
    assert result.is_inference()
    assert not torch.is_inference_mode_enabled()
    assert frameloom.stats().restarts == 1
    assert "FL319" in frameloom.stats().breaks


def test_grad_mode_is_guarded():
    hand = Hand(x=torch.ones(2))
    assert hand.guards_hold()
    with torch.no_grad():
        assert not hand.guards_hold()
    with torch.inference_mode():
        assert not hand.guards_hold()


def test_requires_grad_is_guarded_where_gradients_are_recorded():
    plain, graded = torch.ones(2), torch.ones(2, requires_grad=True)
    assert not Hand(x=plain).guards_hold(x=graded)
    with torch.no_grad():
        hand = Hand(x=plain)
        assert hand.guards_hold(x=graded)
        modes.set_grad(hand.session.torch, True)
        assert not hand.guards_hold(x=graded)


def test_default_dtype_is_guarded_and_told_apart():
    def make(x):
        return x + torch.ones(2), torch.zeros(1).dtype

    compiled = frameloom.compile(make, backend="eager")
    x = torch.ones(2, dtype=torch.float32)
    before = torch.get_default_dtype()
    try:
        for dtype in (torch.float32, torch.float64, torch.float32):
            torch.set_default_dtype(dtype)
            assert [type(v) for v in compiled(x)] == [type(v) for v in make(x)]
            assert compiled(x)[1] is dtype
            assert compiled(x)[0].dtype is make(x)[0].dtype
    finally:
        torch.set_default_dtype(before)
    assert frameloom.stats().graphs == 2


class Counting(torch.overrides.TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append(function)
        return function(*args, **(kwargs or {}))


def test_a_mode_sees_every_operation():
    def two(x):
        return (x + 1) * 2

    compiled = frameloom.compile(two, backend="eager")
    x = torch.ones(2)
    compiled(x)
    with Counting() as mode:
        compiled(x)
    assert len(mode.seen) == 2
    assert frameloom.stats().eager["FL910"] >= 1
    assert modes.reason_for_eager() is None


def test_functional_transforms_see_the_program_itself():
    compiled = frameloom.compile(lambda x: (x * x).sum(), backend="eager")
    x = torch.arange(3.0)
    compiled(x)
    assert torch.func.grad(compiled)(x).tolist() == [0.0, 2.0, 4.0]
    assert torch.vmap(compiled)(torch.ones(2, 3)).tolist() == [3.0, 3.0]


def test_a_mode_change_is_taken_back():
    with torch.enable_grad():
        hand = Hand(x=torch.ones(2, requires_grad=True))
        mark = hand.session.mark()
        modes.set_grad(hand.session.torch, False)
        assert not hand.operate("+", hand.nodes["x"], 1).fact.requires_grad
        hand.session.rollback(mark)
        assert hand.operate("+", hand.nodes["x"], 1).fact.requires_grad
        assert not [op for op in hand.session.operations if op.kind == modes.EFFECT]
