"""What a trace says of an operation's result is what the real result has, and the graph gives that result."""
from __future__ import annotations

import operator

import pytest
import torch
import torch.nn.functional as F

from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.fakes import fact_of
from tests.pytorch.hand import Hand, nodes_of, tensors_of

pytestmark = pytest.mark.torch

X, W = torch.randn(2, 6), torch.randn(6, 6)
IDS = torch.tensor([[0, 3, 1], [5, 2, 4]])
Z = torch.randn(3, dtype=torch.complex64)

OPERATIONS = {
    "linear": (F.linear, (X, W)),
    "matmul": (operator.matmul, (X, W)),
    "add scalar": (operator.add, (X, 1)),
    "add double": (operator.add, (X, 1.5)),
    "int plus float": (operator.add, (IDS, 0.5)),
    "compare": (operator.lt, (X, 0)),
    "view": (torch.Tensor.view, (X, 3, -1)),
    "view of size": (torch.Tensor.view, (X, torch.Size([4, 3]))),
    "reshape": (torch.Tensor.reshape, (X, (12,))),
    "transpose": (torch.Tensor.transpose, (X, 0, 1)),
    "permute": (torch.Tensor.permute, (X, 1, 0)),
    "contiguous": (torch.Tensor.contiguous, (X,)),
    "to same": (torch.Tensor.to, (X, torch.float32)),
    "to double": (torch.Tensor.to, (X, torch.float64)),
    "eval dropout": (torch.dropout, (X, 0.5, False)),
    "detach": (torch.Tensor.detach, (X,)),
    "squeeze": (torch.Tensor.squeeze, (X,)),
    "expand": (torch.Tensor.expand, (X, 4, 2, 6)),
    "max": (torch.max, (X, 1)),
    "topk": (torch.topk, (X, 2)),
    "sort": (torch.sort, (X,)),
    "split": (torch.Tensor.split, (X, 2, 1)),
    "chunk": (torch.chunk, (X, 3, 1)),
    "unbind": (torch.unbind, (X,)),
    "cat": (torch.cat, ([X, X], 0)),
    "stack": (torch.stack, ([X, X],)),
    "embedding": (torch.embedding, (W, IDS)),
    "layer norm": (torch.layer_norm, (X, (6,))),
    "softmax": (torch.softmax, (X, -1)),
    "attention": (F.scaled_dot_product_attention, (torch.randn(1, 2, 3, 4),) * 3),
    "where": (torch.where, (X, X, W[:2])),
    "sum": (torch.sum, (X,)),
    "mean keepdim": (torch.mean, (X, -1, True)),
    "index row": (operator.getitem, (X, 0)),
    "index slices": (operator.getitem, (X, (slice(None), slice(1, None, 2)))),
    "index none": (operator.getitem, (X, (None, Ellipsis, 0))),
    "index tensor": (operator.getitem, (W, IDS)),
    "index list": (operator.getitem, (X, [1, 0])),
    "arange": (torch.arange, (5,)),
    "zeros": (torch.zeros, ((2, 3),)),
    "full like": (torch.full_like, (X, 2.0)),
    "tensor": (torch.tensor, ([[1, 2], [3, 4]],)),
    "new ones": (torch.Tensor.new_ones, (X, (2,))),
    "conj": (torch.conj, (Z,)),
    "conj imag": (lambda z: z.conj().imag, (Z,)),
    "real": (torch.real, (Z,)),
    "cumsum": (torch.cumsum, (IDS, -1)),
    "masked fill": (torch.Tensor.masked_fill, (X, X > 0, 0.0)),
    "overload": (torch.ops.aten.add.Tensor, (X, X)),
    "packet": (torch.ops.aten.mul, (X, X)),
}
NOT_RECORDED = ("split", "conj imag")


def given_of(args, found):
    """Names for the distinct tensors among the arguments."""
    for arg in args:
        for tensor in tensors_of(arg):
            if not any(tensor is known for known in found.values()):
                found[f"t{len(found)}"] = tensor
    return found


@pytest.mark.parametrize("grad", [False, True], ids=["no_grad", "grad"])
@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in NOT_RECORDED])
def test_facts_and_results(name, grad):
    function, args = OPERATIONS[name]
    if name == "where":
        args = (X > 0, *args[1:])
    tensors = given_of(args, {})
    if grad:
        fresh = {key: t.clone().requires_grad_(t.is_floating_point()) for key, t in tensors.items()}
        args = replaced(args, {id(t): fresh[key] for key, t in tensors.items()})
        tensors = fresh
    with torch.set_grad_enabled(grad):
        hand = Hand(**tensors)
        result = hand.call(function, *args)
        nodes = nodes_of(result)
        expected = function(*args)
        real = tensors_of(expected)
        assert [node.fact for node in nodes] == [fact_of(t) for t in real]
        assert [node.cls for node in nodes] == [type(t) for t in real]
        for node, tensor in zip(nodes, real):
            same = [key for key, known in tensors.items() if known is tensor]
            assert same == [key for key, known in hand.nodes.items() if known is node]
        made = hand.run(*[node for node in nodes if node.real is None])
        for got, tensor in zip(made or (), real):
            assert torch.equal(got, tensor)
            assert fact_of(got) is fact_of(tensor)
        assert result.cls is type(expected) if not nodes or len(nodes) > 1 else True


def replaced(tree, table):
    if isinstance(tree, torch.Tensor):
        return table.get(id(tree), tree)
    if type(tree) in (list, tuple):
        return type(tree)(replaced(item, table) for item in tree)
    return tree


@pytest.mark.parametrize("grad", [False, True])
def test_an_operation_that_gives_its_argument_is_that_argument(grad):
    hand = Hand(x=torch.randn(2, 3, requires_grad=grad))
    x = hand.nodes["x"]
    for function, args in [(torch.Tensor.contiguous, ()), (torch.Tensor.to, (torch.float32,)), (torch.dropout, (0.1, False))]:
        assert hand.call(function, x, *args) is x
    assert hand.run() is None


def test_a_repeated_operation_is_measured_once():
    from frameloom.pytorch import record

    hand = Hand(x=torch.randn(2, 17), w=torch.randn(17, 17))
    value = hand.call(F.linear, hand.nodes["x"], hand.nodes["w"])
    before = record.COUNTS.measured
    for _ in range(5):
        value = hand.call(F.linear, value, hand.nodes["w"])
    assert record.COUNTS.measured == before
    other = Hand(x=torch.randn(2, 17), w=torch.randn(17, 17))
    other.call(F.linear, other.nodes["x"], other.nodes["w"])
    assert record.COUNTS.measured == before


def test_the_same_node_twice_is_not_two_nodes():
    """Which arguments are one object is part of what an outcome is remembered by."""
    x, y = torch.randn(4), torch.randn(4)
    hand = Hand(x=x, y=y)
    assert hand.call(torch.Tensor.expand_as, hand.nodes["x"], hand.nodes["y"]) is not hand.nodes["y"]
    pick = torch.broadcast_tensors
    first, second = (hand.call(pick_one, hand.nodes[a], hand.nodes[b]) for a, b in (("x", "y"), ("x", "x")))
    assert first is hand.nodes["y"]
    assert second is hand.nodes["x"]
    del pick


def pick_one(first, second):
    return second


def test_numbers_of_equal_value_and_other_class_are_told_apart():
    hand = Hand(x=torch.tensor([1, 2]))
    dtypes = [hand.operate("*", hand.nodes["x"], factor).fact.dtype for factor in (1, 1.0, True)]
    assert dtypes == [torch.int64, torch.float32, torch.int64]


def test_queries_are_answered_without_the_graph():
    hand = Hand(x=torch.randn(2, 3))
    x = hand.nodes["x"]
    assert hand.call(torch.Tensor.dim, x).value == 2
    assert hand.call(torch.Tensor.size, x, -1).value == 3
    assert [item.value for item in hand.call(torch.Tensor.size, x).body.items] == [2, 3]
    assert hand.call(torch.Tensor.numel, x).value == 6
    assert hand.call(torch.is_floating_point, x).value is True
    assert hand.call(torch.Tensor.is_contiguous, x).value is True
    assert hand.call(torch.result_type, x, 1).value is torch.float32
    assert hand.run() is None


def test_facts_are_interned():
    first, second = fact_of(torch.randn(2, 3)), fact_of(torch.zeros(2, 3))
    assert first is second
    assert first is not fact_of(torch.zeros(3, 2).T)
    assert isinstance(first, TensorFact)
