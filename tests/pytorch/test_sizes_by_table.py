"""Programs called with values that vary: how many graphs each sequence of calls needs, and which sizes are symbolic in the last of them."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest
import torch

import frameloom
from tests.models.compare import assert_same

pytestmark = pytest.mark.torch


functional = torch.nn.functional


class Symbolic:
    """A backend that runs the graph as it is, and keeps which sizes of each tensor it was shown are symbolic."""

    takes_numbers = True

    def __init__(self) -> None:
        self.graphs: list[set[tuple[int, int]]] = []

    def __call__(self, gm: Any, examples: list) -> Callable:
        tensors = [example for example in examples if isinstance(example, torch.Tensor)]
        self.graphs.append(
            {(place, i) for place, tensor in enumerate(tensors) for i, n in enumerate(tensor.shape) if isinstance(n, torch.SymInt)}
        )
        return gm.forward


class Row(NamedTuple):
    """function is called with each of `calls`; symbolic: (tensor among the graph's inputs, dimension) of the last graph."""

    function: Callable
    calls: Iterable[tuple]
    graphs: int
    symbolic: set[tuple[int, int]] | None = None


def ones(*sizes: int) -> torch.Tensor:
    return torch.arange(1.0, 1 + math.prod(sizes)).view(sizes)


CONVOLUTION = torch.nn.Conv2d(3, 4, 3, padding=1)
LINEAR = torch.nn.Linear(4, 4)
COUNTS = (6, 7, 8, 9, 11, 16)


def rows(*counts: int) -> list[tuple]:
    return [(ones(n, 2),) for n in counts or COUNTS]


def nothing(function: Callable) -> Row:
    """A program whose graph for one number of rows serves all others."""
    return Row(function, rows(), 2)


class Counter:
    """An object that counts its calls."""

    def __init__(self) -> None:
        self.step = 0

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.step += 1
        return x * self.step


TABLE: dict[str, Row] = {
    # sizes of one call's own inputs are learnt together, those of parameters are not
    "batch and length": Row(
        lambda ids, mask: (ids * mask).sum(), [(ones(b, n), ones(b, n)) for b, n in ((2, 8), (2, 11), (3, 8), (3, 17), (5, 11))], 2,
        {(0, 0), (0, 1), (1, 0), (1, 1)},
    ),
    "one input varies, then another": Row(
        lambda x, y: x.sum() + y.sum(), [(ones(4, 3), ones(5)), (ones(6, 3), ones(5)), (ones(6, 3), ones(9))], 2, {(0, 0), (0, 1), (1, 0)}
    ),
    "in a list and a dict": Row(
        lambda xs, named: xs[0].sum() + named["y"].sum(),
        [([ones(4, 3)], {"y": ones(5)}), ([ones(6, 3)], {"y": ones(5)}), ([ones(6, 3)], {"y": ones(9)})], 2, {(0, 0), (0, 1), (1, 0)},
    ),
    "a size that one call had as 1": Row(lambda x: x * 2, [(ones(1, 8),), (ones(1, 11),), (ones(5, 8),), (ones(7, 9),)], 3, {(0, 0), (0, 1)}),
    "batch of images as many as channels": Row(CONVOLUTION, [(ones(n, 3, 8, 8),) for n in (2, 3, 5, 4)], 2),
    "images of several sizes": Row(CONVOLUTION, [(ones(2, 3, h, w),) for h, w in ((8, 9), (10, 12), (7, 16), (16, 9))], 2),
    "rows as many as features": Row(LINEAR, [(ones(n, 4),) for n in (3, 4, 5, 9)], 2),
    "the last batch is short": Row(lambda x: torch.nn.functional.relu(LINEAR(x)), [(ones(n, 4),) for n in (8, 8, 8, 3, 8, 8, 3)], 2),
    # what Python alone computes of a size is given to the graph
    "power": nothing(lambda x: torch.zeros(x.shape[0] ** 2)),
    "power of a number": nothing(lambda x: torch.full((2,), 2 ** x.shape[0])),
    "square viewed": nothing(lambda x: torch.arange(x.shape[0] ** 2).view(x.shape[0], x.shape[0])),
    "floor": nothing(lambda x: torch.zeros(math.floor(x.shape[0] * 1.5)) + 1),
    "ceil": nothing(lambda x: x + math.ceil(x.shape[0] / 2)),
    "trunc": nothing(lambda x: torch.zeros(math.trunc(x.shape[0] / 2))),
    "int of a quotient": nothing(lambda x: x[: int(x.shape[0] * 0.75)]),
    "round": nothing(lambda x: torch.zeros(round(x.shape[0] / 3))),
    "round to digits": nothing(lambda x: x * round(x.shape[0] / 3, 1)),
    "isqrt": nothing(lambda x: torch.zeros(math.isqrt(x.shape[0]))),
    "gcd": nothing(lambda x: x * math.gcd(x.shape[0], 6)),
    "shifts and bits": nothing(lambda x: torch.zeros((x.shape[0] << 1) + (x.shape[0] >> 1)) + (x.shape[0] & ~1)),
    "divmod": nothing(lambda x: x + divmod(x.shape[0], 3)[1]),
    "bytes": nothing(lambda x: x * x.nbytes),
    "interpolation": nothing(lambda x: torch.nn.functional.interpolate(x[None, None], scale_factor=1.5)),
    "computed of two": Row(
        lambda x, y: torch.zeros(x.shape[0] ** 2 + int(y.shape[0] * 0.5)), [(ones(n, 2), ones(m)) for n, m in ((3, 4), (5, 7), (6, 9))], 2
    ),
    "computed of a number and a size": Row(lambda x, k: x[: int(x.shape[0] * k)], [(ones(n, 2), k) for n, k in ((9, 0.5), (7, 0.9), (8, 0.3))], 2),
    # numbers
    "step counter": Row(Counter(), [(ones(3),)] * 6, 2),
    "rate that decays": Row(lambda p, g, lr: p.add(g, alpha=-lr), [(ones(3), ones(3), 0.1 / (i + 1)) for i in range(6)], 2),
    "temperature": Row(lambda x, t: (x / t).softmax(-1), [(ones(2, 5), 0.5 + i / 10) for i in range(6)], 2),
    "classes": Row(lambda x, n: functional.one_hot(x.long(), n), [(ones(2), n) for n in (3, 4, 7, 9)], 2),
    "steps": Row(lambda x, n: torch.linspace(0, 1, n).sum() + torch.logspace(0.0, 1.0, steps=n), [(ones(2), n) for n in (3, 4, 7, 9)], 2),
    "window": Row(lambda x, n: torch.hann_window(n) + torch.kaiser_window(n, periodic=False), [(ones(2), n) for n in (3, 4, 7, 9)], 2),
    "tensor of a number": Row(lambda x, n: x + torch.tensor(n) + torch.tensor([n, 2])[0], [(ones(2), n) for n in (3, 4, 0, 1)], 2),
    "tensor of a float": Row(lambda x, n: x + torch.tensor(n) + torch.tensor([n, 2])[0], [(ones(2), n) for n in (0.5, 0.25, 1.0, -3.0)], 2),
    "finite": Row(lambda x, n: x * n if math.isfinite(n) and not math.isnan(n) else x, [(ones(2), n) for n in (0.5, 2.5, -1.0, 7.0)], 2),
    "infinite": Row(lambda x, n: x * n if not math.isinf(n) else x - 1, [(ones(2), n) for n in (0.5, 2.5, math.inf, -math.inf, 7.0)], 3),
    # what needs the very number is captured for each
    "rows of a loop": Row(lambda x: [row * i for i, row in enumerate(x)], rows(3, 4, 5), 3),
    "a range": Row(lambda x: sum([x[i] for i in range(x.shape[0])]), rows(3, 4, 5), 3),
    "a key": Row(lambda x: {3: 1, 4: 2, 5: 7}[x.shape[0]] * x, rows(3, 4, 5), 3),
}


@pytest.mark.parametrize("name", TABLE)
def test_graphs_and_symbolic_sizes(name):
    row, backend = TABLE[name], Symbolic()
    reference = Counter() if type(row.function) is Counter else row.function
    compiled = frameloom.compile(row.function, backend=backend)
    for args in row.calls:
        assert_same(reference(*args), compiled(*args))
    assert len(backend.graphs) == row.graphs
    if row.symbolic is not None:
        assert backend.graphs[-1] == row.symbolic
    assert not frameloom.stats().breaks
    assert not frameloom.stats().eager


COMPILED = ("batch and length", "power", "square viewed", "int of a quotient", "computed of a number and a size", "shifts and bits")


@pytest.mark.parametrize("name", COMPILED)
def test_by_a_backend_that_traces_again(name):
    row = TABLE[name]
    compiled = frameloom.compile(row.function, backend="aot_eager", fullgraph=True)
    for args in row.calls:
        torch.testing.assert_close(compiled(*args), row.function(*args))
    assert frameloom.stats().graphs <= 3


def test_sizes_of_a_module_are_learnt_one_at_a_time():
    class Holds(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", ones(6, 2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sum() + self.table.sum()

    module, backend = Holds(), Symbolic()
    compiled = frameloom.compile(module, backend=backend)
    for n in (3, 4):
        assert_same(module(ones(n, 5)), compiled(ones(n, 5)))
    shown = sorted(backend.graphs[-1])
    assert {dimension for _, dimension in shown} == {0, 1} and len({place for place, _ in shown}) == 1


def test_a_condition_on_a_computed_number_is_told_as_the_program_writes_it(caplog):
    def halves(x):
        return x[: int(x.shape[0] * 0.5)] if int(x.shape[0] * 0.5) < 6 else x

    compiled = frameloom.compile(halves, backend="eager")
    with frameloom.config.patch(logs="recompiles"), caplog.at_level("INFO", "frameloom.recompiles"):
        for n in (6, 8, 9, 20):
            assert_same(halves(ones(n)), compiled(ones(n)))
    assert frameloom.stats().graphs == 2
    assert "int(x.shape[0] * 0.5)" in caplog.text


def test_a_step_of_training() -> None:
    """A rate that changes at every step, a counter, a batch whose last one is short: two graphs."""

    def step(counter, weight, x, target, rate):
        counter.step += 1
        loss = functional.mse_loss(x @ weight, target)
        (gradient,) = torch.autograd.grad(loss, weight)
        with torch.no_grad():
            weight.sub_(gradient * (rate / counter.step))
        return loss.detach()

    results = []
    for call in (step, frameloom.compile(step, backend="eager")):
        weight, counter, losses = (ones(4, 2) / 8).requires_grad_(), Counter(), []
        for index, rows in enumerate((6, 6, 6, 3, 6, 6, 3)):
            losses.append(call(counter, weight, ones(rows, 4) / 8, ones(rows, 2) / 8, 0.1 / (1 + index)))
        results.append((weight.detach(), counter.step, losses))
    assert_same(*results)
    # the sizes that vary first show at the fourth step: the rate and the counter, at the second
    assert frameloom.stats().graphs == 3
    assert not frameloom.stats().eager


def test_data_of_a_tensor_set_to_itself_is_left_as_it_is() -> None:
    """`Module.to` does that where there is nothing to convert."""
    module = torch.nn.Linear(2, 3)

    def converted(x):
        return module.to(x.dtype)(x) * 2

    version = module.weight._version
    compiled = frameloom.compile(converted, backend="eager", fullgraph=True)
    with torch.no_grad():
        assert_same(converted(ones(4, 2)), compiled(ones(4, 2)))
    assert module.weight._version == version and module.weight.requires_grad
