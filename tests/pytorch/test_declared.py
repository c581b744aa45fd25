"""What a program says of sizes beforehand: by argument name, and by marks."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch

import frameloom
from frameloom.diagnostics.errors import GraphBreakError, SizeFixed, WrongOption

pytestmark = pytest.mark.torch


def ones(*sizes: int) -> torch.Tensor:
    return torch.ones(sizes)


class Named(torch.nn.Module):
    """A module whose arguments are met in three places: by position, by name, and in a container."""

    def forward(self, x, others=(), *, scale=2, named=None):
        made = x * scale + sum(each.sum() for each in others)
        return made if named is None else made + named["y"].sum()


def handed_on(*args, **kwargs):
    return Named.forward(None, *args, **kwargs)


handed_on.__wrapped__ = lambda x, others=(), *, scale=2, named=None: None


@pytest.mark.parametrize("make", [Named, lambda: Named().forward, lambda: handed_on], ids=["module", "method", "wrapper"])
def test_by_argument_name(make) -> None:
    target = make()
    said = {"x": {0: True, -1: (2, 8)}, "others": [(True,)], "scale": True, "named": {"y": [True]}}
    compiled = frameloom.compile(target, backend="eager", dynamic_shapes=said)
    for n in (3, 4, 5):
        args, kwargs = (ones(n, n + 2), [ones(n + 1)]), {"scale": n, "named": {"y": ones(n + 3)}}
        assert compiled(*args, **kwargs).equal(target(*args, **kwargs))
    assert frameloom.stats().graphs == 1
    frameloom.reset()
    for n in (3, 4, 5):
        assert compiled(x=ones(n, 4), scale=n).equal(target(x=ones(n, 4), scale=n))
    assert frameloom.stats().graphs == 1


def test_what_is_fixed_and_what_nothing_is_said_of() -> None:
    compiled = frameloom.compile(lambda x, n: x * n, backend="eager", dynamic_shapes={"x": (False, None), "n": False})
    for args in ((ones(3, 4), 2), (ones(3, 5), 2), (ones(3, 6), 2)):
        compiled(*args)
    assert frameloom.stats().graphs == 2  # the second dimension is learnt as always
    for args in ((ones(4, 6), 2), (ones(5, 6), 2), (ones(5, 6), 3), (ones(5, 6), 4)):
        compiled(*args)
    assert frameloom.stats().graphs == 6


def test_sizes_outside_the_bounds_are_captured_for_themselves() -> None:
    compiled = frameloom.compile(lambda x: x * 2, backend="eager", dynamic_shapes={"x": {0: (2, 6)}})
    for n, graphs in ((3, 1), (6, 1), (2, 1), (8, 2), (5, 2), (8, 2)):
        assert compiled(ones(n)).equal(ones(n) * 2)
        assert frameloom.stats().graphs == graphs


def test_the_program_fixes_what_varies() -> None:
    compiled = frameloom.compile(lambda x: x.view(4, 3), backend="eager", dynamic_shapes={"x": {0: True}})
    with pytest.raises(SizeFixed, match=r"^x.shape\[0\] is marked dynamic, and the program fixes it to 4(.|\n)*x.view\(4, 3\)"):
        compiled(ones(4, 3))


def test_behind_a_break_too() -> None:
    def broken(x):
        x = x + 1
        frameloom.graph_break()
        return x * 2

    compiled = frameloom.compile(broken, backend="eager", dynamic_shapes={"x": {0: True}})
    for n in (3, 4, 5):
        assert compiled(ones(n)).equal(ones(n) * 4)
    assert frameloom.stats().graphs == 2


@pytest.mark.parametrize("said, message", [
    ([True], "a dict by argument name"),
    ({0: True}, "a dict by argument name"),
    ({"y": True}, "something of 'y'; the arguments are 'x'"),
    ({"x": 5}, "dynamic_shapes['x'] is True, False, None or (least, most)"),
    ({"x": {0: {"a": "b"}}}, "dynamic_shapes['x'][0]['a'] is True"),
    ({"x": [(5, 3)]}, "dynamic_shapes['x'][0] varies between 5 and 3"),
])
def test_what_cannot_be_said(said, message) -> None:
    with pytest.raises(WrongOption) as caught:
        frameloom.compile(lambda x: x, backend="eager", dynamic_shapes=said)
    assert message in str(caught.value)


def test_not_beside_dynamic_and_not_of_a_dimension_that_is_not_there() -> None:
    with pytest.raises(WrongOption, match="one of them"):
        frameloom.compile(lambda x: x, backend="eager", dynamic=True, dynamic_shapes={})
    with pytest.raises(WrongOption, match="dimension 2 of x, which has 2"):
        frameloom.compile(lambda x: x * 2, backend="eager", dynamic_shapes={"x": {2: True}})(ones(3, 4))


def test_copies_of_a_module_are_compiled_alike() -> None:
    compiled = frameloom.compile(torch.nn.Linear(2, 3), backend="eager", dynamic_shapes={"input": {0: True}})
    for made in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        frameloom.reset()
        for n in (3, 4, 5):
            made(ones(n, 2))
        assert frameloom.stats().graphs == 1


# -- marks ---------------------------------------------------------------------------------------------------------------


def unbacked(*sizes: int) -> torch.Tensor:
    made = torch.arange(float(torch.Size(sizes).numel())).view(sizes)
    frameloom.mark_unbacked(made, 0)
    return made


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [
    lambda x: x * 2 + x.shape[0], lambda x: x.sum(0), lambda x: torch.cat([x, x]).relu(), lambda x: (x + x, x.numel()), lambda x: x.t() @ x,
], ids=["size", "sum", "cat", "two", "product"])
def test_a_size_that_is_not_known_may_be_nought_or_one(function, backend) -> None:
    compiled = frameloom.compile(function, backend=backend, fullgraph=True)
    for n in (3, 1, 0, 4):
        torch.testing.assert_close(compiled(unbacked(n, 2)), function(unbacked(n, 2)), rtol=0, atol=0)
    assert frameloom.stats().graphs == 1


def test_what_is_asked_of_a_size_that_is_not_known_breaks() -> None:
    def asks(x):
        return x * 2 if x.shape[0] > 3 else x - 1

    compiled = frameloom.compile(asks, backend="eager")
    for n in (2, 5, 0):
        assert compiled(unbacked(n, 2)).equal(asks(unbacked(n, 2)))
    assert frameloom.stats().breaks == {"FL209": 1}
    with pytest.raises(GraphBreakError, match="FL209"):
        frameloom.compile(asks, backend="eager", fullgraph=True)(unbacked(2, 2))


def test_what_is_assumed_of_a_size_that_is_not_known_is_asserted() -> None:
    compiled = frameloom.compile(lambda x, y: x + y, backend="eager", fullgraph=True)
    assert compiled(unbacked(3, 2), unbacked(3, 2)).equal(unbacked(3, 2) * 2)
    assert compiled(unbacked(1, 2), unbacked(3, 2)).equal(unbacked(1, 2) + unbacked(3, 2))
    with pytest.raises(RuntimeError, match="must match the size"):
        compiled(unbacked(4, 2), unbacked(3, 2))
    assert frameloom.stats().graphs == 1


def test_a_fixed_dimension_stays_fixed_whatever_else_is_marked() -> None:
    backend_sizes = []

    def backend(gm, examples):
        backend_sizes.append([type(size) for size in examples[0].shape])
        return gm.forward

    compiled = frameloom.compile(lambda x: x * 2, backend=backend)
    for mark in (frameloom.mark_dynamic, frameloom.maybe_mark_dynamic, frameloom.mark_unbacked):
        x = ones(3, 4)
        mark(x, 0)
        mark(x, 1)
        frameloom.mark_static(x, 1)
        compiled(x)
        assert [cls is int for cls in backend_sizes[-1]] == [False, True]
        frameloom.reset()


def test_a_static_address() -> None:
    told = []

    def backend(gm, examples):
        told.append([node.meta.get("static_address", False) for node in gm.graph.find_nodes(op="placeholder")])
        return gm.forward

    compiled = frameloom.compile(lambda x, y: x + y, backend=backend)
    fixed, others = ones(3), [ones(3) for _ in range(3)]
    frameloom.mark_static_address(fixed)
    for other in others:
        assert compiled(fixed, other).equal(fixed + other)
    assert told == [[True, False]]
    moved = ones(3)
    frameloom.mark_static_address(moved)
    compiled(moved, fixed)
    assert len(told) == 2  # at another address
    frameloom.reset()
    told.clear()
    for _ in range(2):
        other = ones(3)
        frameloom.mark_static_address(other, guard=False)
        others.append(other)
        compiled(other, fixed * 2)
    assert told == [[True, False]]


@pytest.mark.parametrize("mark", [frameloom.mark_unbacked, lambda t, d: frameloom.mark_static_address(t)])
def test_marks_are_of_tensors(mark) -> None:
    with pytest.raises(TypeError, match="marks are put on a tensor"):
        mark(3, 0)
    with pytest.raises(TypeError, match="True or False"):
        frameloom.mark_static_address(ones(2), guard=1)
    with pytest.raises(IndexError):
        frameloom.mark_unbacked(ones(2), 1)
