"""Operations whose arguments share memory: what eager torch refuses is refused under every backend, and what it lets pass is captured."""
from __future__ import annotations

import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def nothing_captured():
    frameloom.reset()
    yield
    frameloom.reset()


def vector():
    return (torch.arange(6.0),)


def square():
    return (torch.arange(9.0).reshape(3, 3),)


def parts():
    base = torch.arange(6.0)
    return base[1:], base[:-1]


def added(x):
    return x[1:].add_(x[:-1])


def augmented(x):
    x[1:] += x[:-1]
    return x


def copied(x):
    x[1:].copy_(x[:-1])
    return x


def assigned(x):
    x[1:] = x[:-1]
    return x


def transposed(x):
    x.t().add_(x)
    return x


def written_out(x):
    torch.add(x[1:], 1, out=x[:-1])
    return x


def expanded(x):
    x.expand(3, 6).add_(1)
    return x


def written_out_of_place(x):
    """The result is another tensor: nothing is shared."""
    return torch.add(x[1:], x[:-1], out=torch.empty(5)) + x.expand(2, 6)[0, 1:]


def assigned_to_expanded(x):
    x.expand(3, 6)[:2] = 1.0
    return x


def broadcast(x):
    x.add_(x[0])
    return x


def after_other_views(x):
    first, second = x.view(2, 3).split(1)
    first.view(-1).add_(second.view(-1))
    x.view(2, 3).unbind(1)[0].mul_(x[1:3])
    return x


def inputs(x, y):
    y.mul_(x)
    return y


REFUSED = [
    (added, vector), (augmented, vector), (copied, vector), (assigned, vector), (transposed, square), (written_out, vector), (expanded, vector),
    (broadcast, vector), (inputs, parts),
]
EITHER_WAY = [(assigned_to_expanded, vector), (after_other_views, vector)]


def halves(x):
    x[:3].add_(x[3:])
    return x


def interleaved(x):
    x[::2].add_(x[1::2])
    return x


def columns(x):
    x[:, :1].mul_(x[:, 2:])
    return x


def rows_assigned(x):
    x[0] = x[1]
    x[:, 0] = x[:, 2]
    return x


def the_same(x):
    x.view(2, 3).add_(x.view(2, 3))
    x.add_(x)
    x[:] = x
    return x


def from_a_split(x):
    first, second = x.split(3)
    first.sub_(second)
    return x


PASSED = [(halves, vector), (interleaved, vector), (columns, square), (rows_assigned, square), (the_same, vector), (from_a_split, vector),
          (written_out_of_place, vector)]


def outcome(function, make):
    arguments = make()
    try:
        result = function(*arguments).clone()
    except RuntimeError as error:
        result = str(error).splitlines()[0]
    return result, [argument.clone() for argument in arguments]


def same(one, other):
    return (one[0] == other[0] if isinstance(one[0], str) else torch.equal(one[0], other[0])) and all(map(torch.equal, one[1], other[1]))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(("function", "make"), [*REFUSED, *EITHER_WAY], ids=lambda value: value.__name__)
def test_what_eager_decides(function, make, backend):
    expected = outcome(function, make)
    compiled = frameloom.compile(function, backend=backend)
    for _ in range(2):
        assert same(outcome(compiled, make), expected)
    assert isinstance(expected[0], str) or (function, make) in EITHER_WAY


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(("function", "make"), PASSED, ids=lambda value: value.__name__)
def test_what_eager_lets_pass(function, make, backend):
    expected = outcome(function, make)
    assert not isinstance(expected[0], str)
    compiled = frameloom.compile(function, backend=backend, fullgraph=True)
    for _ in range(2):
        assert same(outcome(compiled, make), expected)
