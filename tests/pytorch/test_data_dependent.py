"""Numbers and sizes that follow from data, captured where the settings ask for it: equal to eager for data that differs, and no guess anywhere."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch

import frameloom
from frameloom.diagnostics.errors import GraphBreakError
from tests.models.compare import assert_same

pytestmark = pytest.mark.torch


def whole(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers)


def floats(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float)


def checked(x):
    n = x.sum().item()
    torch._check(n >= 0)
    torch._check(n < 100)
    return torch.zeros(n) + 1


def written_between(x):
    first = x * x[0].item()
    x.add_(1)
    return first, x * x[0].item()


def table(x):
    return x[:, None] * torch.ones(3)


class Row(NamedTuple):
    function: Callable
    data: list


ROWS: dict[str, Row] = {
    "item": Row(lambda x: x * x[0].item() + x[1].item(), [whole(1, 2, 3), whole(4, 5, 6), whole(0, 7, 0)]),
    "int()": Row(lambda x: x * int(x[1]), [whole(1, 2, 3), whole(4, 5, 6)]),
    "one tensor, two numbers": Row(written_between, [whole(1, 2, 3), whole(4, 5, 6)]),
    "number as a size": Row(checked, [whole(1, 2, 3), whole(3, 0, 0), whole(0, 0, 0)]),
    "number as a bound": Row(lambda x: x[: x[0].item()], [whole(1, 2, 3), whole(2, 5, 4), whole(-1, 3, 3)]),
    "number as an index": Row(lambda x: x[x[0].item()], [whole(1, 2, 3), whole(2, 5, 4), whole(-1, 3, 3)]),
    "number given back": Row(lambda x: (x.sum().item(), x.nonzero().shape), [whole(1, 2, 2), whole(1, 0, 1)]),
    "tolist": Row(lambda x: [n + 1 for n in x.tolist()], [whole(1, 2, 3), whole(4, 5, 6)]),
    "split by data": Row(lambda x: torch.cat([t * 2 for t in torch.arange(6).split(x.tolist())]), [whole(1, 2, 3), whole(6, 0, 0)]),
    "nonzero": Row(lambda x: x.nonzero() * 2, [floats(1, 0, 3), floats(0, 0, 0), floats(0, 1, 0)]),
    "two of one fact": Row(lambda x: (x.nonzero().sum(), (x - 1).nonzero()), [floats(1, 0, 3), floats(1, 1, 1), floats(0, 0, 0)]),
    "nonzero by columns": Row(lambda x: (table(x).nonzero(), table(x).nonzero().t().contiguous().view(-1)), [floats(1, 0, 3), floats(0, 4, 0)]),
    "how many": Row(lambda x: x.nonzero().shape[0] * x, [floats(1, 0, 3), floats(0, 0, 0)]),
    "mask": Row(lambda x: x[x > 1] * 2, [floats(1, 0, 3), floats(2, 3, 4), floats(0, 0, 0)]),
    "where": Row(lambda x: x[torch.where(x > 1)], [floats(1, 0, 3), floats(2, 3, 4), floats(0, 0, 0)]),
    "rows of a mask": Row(
        lambda x: torch.nn.functional.linear(x[x[:, 0] > 0], torch.ones(5, 2)).relu(),
        [torch.tensor([[1.0, 2], [-1, 2], [3, 4]]), torch.tensor([[-1.0, 2], [-1, 2], [-3, 4]])],
    ),
    "masked_select": Row(lambda x: torch.masked_select(x, x > 1) + 1, [floats(1, 0, 3), floats(2, 3, 4), floats(0, 0, 0)]),
    "unique": Row(lambda x: torch.unique(x, return_inverse=True, return_counts=True), [whole(1, 2, 2), whole(1, 1, 1), whole(3, 1, 2)]),
    "unique_consecutive": Row(torch.unique_consecutive, [whole(1, 2, 2), whole(1, 1, 1), whole(3, 1, 2)]),
    "bincount": Row(lambda x: torch.bincount(x) * 2, [whole(1, 2, 2), whole(1, 1, 1), whole(3, 1, 2)]),
    "repeat_interleave": Row(lambda x: torch.repeat_interleave(torch.arange(3), x) * 2, [whole(1, 2, 3), whole(0, 1, 0)]),
    "reshaped": Row(lambda x: x[x > 1].view(2, -1), [floats(2, 2, 3, 3), floats(2, 3, 1, 0)]),
}


def both(function: Callable, data: torch.Tensor, compiled: Callable) -> tuple[Any, Any]:
    found = []
    for call in (function, compiled):
        try:
            found.append(call(data.clone()))
        except RuntimeError as error:
            found.append(type(error))
    return found[0], found[1]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", ROWS)
def test_one_graph_for_all_data(name, backend):
    def program(x):
        return ROWS[name].function(x)

    compiled = frameloom.compile(program, fullgraph=True, backend=backend)
    for data in ROWS[name].data:
        expected, found = both(program, data, compiled)
        if backend == "eager":
            assert_same(expected, found)
        else:  # AOTAutograd notes varying sizes on its results
            torch.testing.assert_close(found, expected, rtol=0, atol=0, check_stride=True)
    assert frameloom.stats().graphs == 1
    assert not frameloom.stats().eager


@pytest.mark.parametrize("name", ["item", "tolist", "nonzero", "mask", "unique"])
def test_a_break_where_nobody_asks_for_it(name):
    def program(x):
        return ROWS[name].function(x)

    compiled = frameloom.compile(program, backend="eager")
    for data in ROWS[name].data:
        assert_same(*both(program, data, compiled))
    assert set(frameloom.stats().breaks) <= {"FL202", "FL203"} and frameloom.stats().breaks


@pytest.mark.parametrize("setting", ["capture_scalar_outputs", "capture_dynamic_output_shape_ops"])
def test_each_setting_for_itself(setting):
    def program(x):
        return x * x[0].item(), x.nonzero()

    with frameloom.config.patch(**{setting: True}):
        compiled = frameloom.compile(program, backend="eager")
        for data in (whole(1, 2, 0), whole(3, 0, 0)):
            assert_same(program(data), compiled(data))
    assert list(frameloom.stats().breaks) == ["FL203" if setting == "capture_scalar_outputs" else "FL202"]


BRANCHES = {
    "of a size": lambda x: x * 2 if x.nonzero().shape[0] > 1 else x,
    "of a number": lambda x: x * 2 if x[0].item() > 1 else x,
    "loop over rows": lambda x: sum(row for row in x.nonzero()),
    "key": lambda x: {1: 2, 4: 3, 0: 5}[x[0].item()] * x,
    "text": lambda x: f"{x[0].item()}",
    "index of a list": lambda x: [10, 20, 30][x.argmax()] * x,
}


@pytest.mark.parametrize("name", BRANCHES)
def test_what_needs_the_value_breaks(name):
    program = BRANCHES[name]
    with frameloom.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        compiled = frameloom.compile(program, backend="eager")
        for data in (whole(1, 0, 3), whole(4, 0, 0), whole(0, 0, 2)):
            assert_same(program(data), compiled(data))
    assert "FL209" in frameloom.stats().breaks
    with pytest.raises(GraphBreakError) as caught:
        frameloom.compile(program, fullgraph=True, backend="eager")(whole(1, 0, 3))
    assert caught.value.code == "FL209"


def test_what_was_assumed_is_asserted_by_the_graph():
    """The sum has two elements only if the mask picks two or one: what else eager says comes out, and one picked is eager's too."""

    def program(x):
        return x[x > 1] + torch.arange(2.0)

    compiled = frameloom.compile(program, fullgraph=True, backend="eager")
    for data in (floats(1, 2, 3), floats(0, 3, 1), floats(2, 3, 0), floats(2, 3, 4)):
        assert_same(*both(program, data, compiled))
    assert frameloom.stats().graphs == 1


def test_a_failing_check_raises_what_eager_raises():
    compiled = frameloom.compile(checked, fullgraph=True, backend="eager")
    assert_same(checked(whole(1, 2)), compiled(whole(1, 2)))
    with pytest.raises(RuntimeError) as expected:
        checked(whole(-1, 0))
    with pytest.raises(RuntimeError) as found:
        compiled(whole(-1, 0))
    assert str(found.value) == str(expected.value)


@pytest.mark.models
@pytest.mark.parametrize("name", ["jetmoe", "qwen2_moe"])
def test_mixtures_of_experts_are_whole(name):
    from tests.models.reference import reference
    from tests.models.tiny import inputs_for, model_for

    model = model_for(name)
    compiled = frameloom.compile(model, fullgraph=True, backend="eager")
    for seed in range(2):
        given = inputs_for(model, seed=seed)
        with torch.no_grad(), reference():
            expected = model(**given)
        with torch.no_grad():
            assert_same(expected, compiled(**given))
    assert frameloom.stats().graphs == 1


def test_a_mask_that_decides_no_size_leaves_the_examples_real():
    """Backends are shown this call's inputs as long as nothing in the graph is symbolic."""
    shown = []

    def backend(gm, examples):
        shown.extend(map(type, examples))
        return gm.forward

    def program(x):
        x = x.clone()
        x[x > 1] = 5.0
        return torch.where(x > 2, x, 0.0)

    compiled = frameloom.compile(program, fullgraph=True, backend=backend)
    assert_same(program(floats(1, 2, 3)), compiled(floats(1, 2, 3)))
    assert shown == [torch.Tensor]
