"""Inputs that overlap in memory and are written to in place: each backend sees them as they are, whatever was seen before."""
from __future__ import annotations

import itertools

import pytest
import torch

import frameloom
from frameloom import config

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def nothing_captured():
    frameloom.reset()
    yield
    frameloom.reset()


def writes(a, b):
    a.add_(1.0)
    return b * 2.0


def writes_through_a_view(a, b):
    part = a[1:]
    part.mul_(b[1:] + 3.0)
    return a + b, part


def writes_both(a, b):
    a.add_(b.sum())
    b.mul_(a.sum())
    return a - b


def apart(n):
    return torch.arange(1.0, n + 1), torch.arange(2.0, n + 2)


def overlapping(n):
    base = torch.arange(1.0, n + 3)
    return base[0:n], base[2:]


def more_overlapping(n):
    base = torch.arange(1.0, n + 2)
    return base[0:n], base[1:]


def the_other_way_round(n):
    return overlapping(n)[::-1]


def in_a_larger_storage(n):
    base = torch.arange(1.0, 3 * n)
    return base[0:n], base[2 : n + 2]


def side_by_side(n):
    base = torch.arange(1.0, 2 * n + 1)
    return base[:n], base[n:]


def one_tensor(n):
    same = torch.arange(1.0, n + 1)
    return same, same


def two_views_of_all(n):
    same = torch.arange(1.0, n + 1)
    return same[:], same[:]


WAYS = [apart, overlapping, more_overlapping, the_other_way_round, in_a_larger_storage, side_by_side, one_tensor, two_views_of_all]


def outcome(function, arguments):
    results = function(*arguments)
    flat = results if isinstance(results, tuple) else (results,)
    return [[tensor.tolist() for tensor in (*flat, *arguments)], [r._base is not None or r is arguments[0] for r in flat]]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [writes, writes_through_a_view, writes_both], ids=lambda f: f.__name__)
def test_overlap_changes_between_calls(backend, function):
    with torch.no_grad(), config.patch(recompile_limit=100):
        for first in WAYS[:: len(WAYS) // 3]:
            compiled = frameloom.compile(function, backend=backend, fullgraph=function is not writes_through_a_view)
            for way in (first, *WAYS, first):
                assert outcome(compiled, way(4)) == outcome(function, way(4)), (first.__name__, way.__name__)
            frameloom.reset()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("dynamic", [True, None])
def test_symbolic_sizes_of_overlapping_inputs(backend, dynamic):
    with torch.no_grad(), config.patch(recompile_limit=100):
        for ways in itertools.permutations([apart, overlapping, one_tensor], 2):
            compiled = frameloom.compile(writes, backend=backend, fullgraph=True, dynamic=dynamic)
            for way, n in itertools.product(ways, (4, 5, 7)):
                assert outcome(compiled, way(n)) == outcome(writes, way(n)), (ways, way.__name__, n)
            frameloom.reset()


@pytest.mark.slow
def test_inductor():
    """Whose caches, kept between processes, are by a key that leaves overlap out."""
    with torch.no_grad(), config.patch(recompile_limit=100):
        compiled = frameloom.compile(writes, fullgraph=True)
        for way in (overlapping, one_tensor, apart):
            assert outcome(compiled, way(4)) == outcome(writes, way(4)), way.__name__


def test_no_guard_on_places_where_nothing_shared_is_written():
    with torch.no_grad():
        compiled = frameloom.compile(lambda a, b, c: (c.add_(1.0), a + b), backend="eager")
        for way in (overlapping, in_a_larger_storage, more_overlapping):
            compiled(*way(4), torch.zeros(4))
        assert frameloom.stats().graphs == 1
