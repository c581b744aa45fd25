"""Operators of torch that are given functions: `cond`, `while_loop`, `scan`, `map`, `associative_scan`, `flex_attention`."""
from __future__ import annotations

import warnings
from typing import Any, Callable

import pytest
import torch
from torch import nn
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops import map as map_
from torch.nn import functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import frameloom
from frameloom.diagnostics.errors import GraphBreakError
from tests.pytorch.test_transforms import PARAMETER, SEEN, WEIGHT, assert_same, outcome

pytestmark = pytest.mark.torch
LINEAR = nn.Linear(3, 3)


def lifted_by_each_branch(x):
    y, z = x.exp(), x.cos()
    return torch.cond(x.sum() > 1, lambda t: t * y + WEIGHT, lambda t: t * PARAMETER - z + y, (x,))


def structured_results(x):
    return torch.cond(x.mean() > 0.5, lambda t: {"a": t.sin(), "b": (t.sum(),)}, lambda t: {"a": t.cos(), "b": (t.prod(),)}, (x,))


def nested_branches(x):
    return torch.cond(
        x.sum() > 1, lambda t: torch.cond(t.mean() > 1, torch.sin, torch.cos, (t,)), lambda t: t * 2, (x,)
    )


def decided_by_a_number(x):
    return torch.cond(x.shape[0] == 2, lambda t: t, lambda t: t * 2, (x,)), torch.cond(0, torch.sin, torch.cos, (x,))


def branches_of_modules(x):
    return torch.cond(x.sum() > 1, LINEAR, lambda t: LINEAR(t) * 2, (x,))


def branches_that_draw(x):
    return torch.cond(x.sum() > 1, lambda t: F.dropout(t, 0.5), lambda t: t + torch.rand(2, 3), (x,)) + torch.rand(1)


def unused_branches(x):
    torch.cond(x.sum() > 1, torch.sin, torch.cos, (x,))
    return x * 2


def branch_in_a_map(x):
    return torch.vmap(lambda row: torch.cond(row.sum() > 1, torch.sin, torch.cos, (row,)))(x)


def looped(x):
    limit = x.detach().abs().max()
    return while_loop(lambda i, d: i < limit * 4, lambda i, d: (i + 1, {"t": d["t"] * 2 + limit}), (torch.tensor(0), {"t": x.detach()}))


def never_looped(x):
    return while_loop(lambda t: t.sum() > 1e9, lambda t: (t * 2,), (x.detach(),))


def scanned(x):
    return scan(lambda carry, row: ({"s": carry["s"] + row}, (row * carry["s"], row * WEIGHT)), {"s": torch.ones(3)}, x)


def scanned_backwards(x):
    return scan(lambda carry, row: (carry * 0.5 + row, carry - row), torch.zeros(2), x, dim=1, reverse=True)


def mapped(x):
    return map_(lambda rows, y: (rows[0] * y + rows[1], rows[1].sum()), (x, x.exp()), WEIGHT)


def mapped_over_what_is_lifted(x):
    y = x.sum()
    return map_(lambda row: row * PARAMETER + y, x)


def combined(x):
    return associative_scan(lambda a, b: (a[0] * b[0], a[1] + b[1] * a[0]), (x, x.cos()), dim=1, reverse=True, combine_mode="generic")


def heads(x):
    return torch.stack([x, x.sin()]).view(1, 2, 2, 3)


def attended(x):
    q = heads(x)
    bias = torch.arange(4.0).view(2, 2)
    return flex_attention(q, q.exp(), q.cos(), score_mod=lambda score, b, h, i, j: score * (h + 1) + bias[i, j], scale=0.5)


def attended_in_groups(x):
    q = heads(x)
    return flex_attention(q, q[:, :1].exp(), q[:, :1].cos(), enable_gqa=True)


MASK = create_block_mask(lambda b, h, i, j: i >= j, None, None, 2, 2, device="cpu", BLOCK_SIZE=2)


def attended_by_mask(x):
    q = heads(x)
    return flex_attention(q, q.exp(), q.cos(), block_mask=MASK)


WHOLE = [
    lifted_by_each_branch, structured_results, nested_branches, decided_by_a_number, branches_of_modules, branches_that_draw, unused_branches,
    branch_in_a_map, looped, never_looped, scanned, scanned_backwards, mapped, mapped_over_what_is_lifted, combined, attended,
    attended_in_groups, attended_by_mask,
]


def branch_that_appends(x):
    return torch.cond(x.sum() > 1, lambda t: (SEEN.append(1), t.sin())[1], lambda t: t.cos(), (x,)), len(SEEN)


def branch_that_writes(x):
    return torch.cond(x.sum() > 1, lambda t: t.sin_(), lambda t: t.cos(), (x * 2,))


def branches_of_different_sizes(x):
    return torch.cond(x.sum() > 1, lambda t: t[0], lambda t: t, (x,)) * 2


def branches_of_different_dtypes(x):
    return torch.cond(x.sum() > 1, lambda t: t.double(), lambda t: t.sin(), (x,))


def branch_that_gives_its_operand(x):
    return torch.cond(x.sum() > 1, lambda t: t, lambda t: t * 2, (x,))


def branch_that_gives_a_view(x):
    return torch.cond(x.sum() > 1, lambda t: t.t(), lambda t: (t * 2).t(), (x,))


def branch_that_gives_numbers(x):
    return torch.cond(x.sum() > 1, lambda t: (t.sin(), 1), lambda t: (t.cos(), 2), (x,))[0]


def condition_of_many(x):
    return torch.cond(x > 1, lambda t: t.sin(), lambda t: t.cos(), (x,))


def operand_that_is_a_number(x):
    return torch.cond(x.sum() > 1, lambda t, n: t * n, lambda t, n: t - n, (x, 2))


def branch_that_raises(x):
    return torch.cond(x.sum() > 1, lambda t: t.reshape(7), lambda t: t.cos(), (x,))


def loop_of_a_number(x):
    return while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * 2), (0, x.detach()))


def loop_that_grows(x):
    return while_loop(lambda t: t.sum() < 10, lambda t: (torch.cat([t, t]),), (x.detach(),))


def scan_of_another_structure(x):
    return scan(lambda carry, row: ((carry + row,), row * 2), torch.zeros(3), x)


def scan_that_gives_its_carry_twice(x):
    def step(carry, row):
        total = carry + row
        return total, total

    return scan(step, torch.zeros(3), x)


def scan_of_nothing(x):
    return scan(lambda carry, row: (carry + row, row * 2), torch.zeros(3), x[:0])


def map_of_unequal(x):
    return map_(lambda rows: rows[0] + rows[1], (x, x[:1]))


def attention_of_another_width(x):
    return flex_attention(heads(x), heads(x)[..., :2], heads(x))


def attention_that_appends(x):
    return flex_attention(heads(x), heads(x), heads(x), score_mod=lambda score, b, h, i, j: (SEEN.append(1), score)[1])


BREAKING = [
    branch_that_appends, branch_that_writes, branches_of_different_sizes, branches_of_different_dtypes, branch_that_gives_its_operand,
    branch_that_gives_a_view, branch_that_gives_numbers, condition_of_many, operand_that_is_a_number, branch_that_raises, loop_of_a_number, loop_that_grows,
    scan_of_another_structure, scan_that_gives_its_carry_twice, attention_that_appends,
]
RAISING = [scan_of_nothing, map_of_unequal, attention_of_another_width]


def first_lines(shown: list) -> list:
    return [(item[0], item[1].partition("\n")[0]) if type(item) is tuple else item for item in shown]


def shown(function: Callable, called: Callable, graded: bool) -> list:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = first_lines(outcome(function, called, graded))
    return [*found, torch.rand(1)]


@pytest.mark.parametrize("graded", [False, True], ids=["plain", "graded"])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", WHOLE)
def test_whole(function: Callable, backend: str, graded: bool) -> None:
    found = shown(function, frameloom.compile(function, backend=backend, fullgraph=True), graded)
    assert_same(found, shown(function, function, graded))


@pytest.mark.parametrize("function", [*BREAKING, *RAISING])
def test_left_to_torch(function: Callable) -> None:
    found = shown(function, frameloom.compile(function, backend="eager"), False)
    assert_same(found, shown(function, function, False))
    assert bool(frameloom.stats().breaks) is (function in BREAKING)


def test_the_line_is_named() -> None:
    with pytest.raises(GraphBreakError) as caught:
        frameloom.compile(branch_that_appends, backend="eager", fullgraph=True)(torch.ones(2, 3))
    text = str(caught.value)
    assert "torch.cond: its function changes something outside itself" in text
    assert f"line {branch_that_appends.__code__.co_firstlineno + 1}, in branch_that_appends.<locals>.<lambda>" in text


def test_sizes_vary() -> None:
    def f(x: torch.Tensor) -> Any:
        y = x.exp()
        return torch.cond(x.sum() > 6, lambda t: t * y + t.shape[0], lambda t: t - y, (x,)), map_(lambda row: row * 2, x)

    called = frameloom.compile(f, backend="eager", fullgraph=True)
    for size in (2, 3, 5, 7):
        x = torch.arange(float(size * 3)).view(size, 3)
        assert all(map(torch.equal, called(x), f(x)))
