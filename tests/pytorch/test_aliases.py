"""Views and in-place operations: after any sequence of them, each node's fact is what the real tensor is, and so is its data."""
from __future__ import annotations

import operator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from frameloom.pytorch import guards
from frameloom.pytorch.fakes import fact_of
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from tests.pytorch.hand import Hand

pytestmark = pytest.mark.torch

BASE = torch._C.TensorBase
VIEWS = [
    (BASE.view, (-1,)), (BASE.t, ()), (operator.getitem, (slice(0, 2),)), (BASE.detach, ()), (BASE.view_as, None),
    (BASE.unsqueeze, (0,)), (BASE.squeeze, (0,)),
]
PURE = [(operator.add, (1.0,)), (operator.mul, None), (BASE.clone, ()), (BASE.sum, ())]
WRITES = [
    (BASE.add_, (1.0,)), (BASE.mul_, None), (operator.iadd, None), (BASE.zero_, ()), (BASE.unsqueeze_, (0,)), (BASE.t_, ()),
    (operator.setitem, (slice(0, 1), 2.0)), (BASE.copy_, None), (torch.relu_, ()),
]
MODES = ["grad", "no_grad"]

STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(VIEWS + PURE + WRITES), st.integers(0, 9), st.integers(0, 9)),
        st.tuples(st.sampled_from(MODES), st.just(0), st.just(0)),
    ),
    min_size=1, max_size=8,
)


@settings(max_examples=300)
@given(STEPS, st.booleans(), st.booleans())
def test_facts_follow_writes(steps, first_grad, entry_grad):
    with torch.set_grad_enabled(entry_grad):
        follow(steps, first_grad)


def follow(steps, first_grad):
    from frameloom.pytorch import modes

    made = [torch.ones(2, 2), torch.full((2, 2), 3.0)]
    reals = [t.requires_grad_(first_grad and i == 0) for i, t in enumerate(made)]
    inputs = [t.detach().clone().requires_grad_(t.requires_grad) for t in reals]
    hand = Hand(x=inputs[0], y=inputs[1])
    nodes = [hand.nodes["x"], hand.nodes["y"]]
    for what, i, j in steps:
        if what in MODES:
            modes.set_grad(hand.session.torch, what == "grad")
            torch.set_grad_enabled(what == "grad")
            continue
        function, args = what
        i, j = i % len(nodes), j % len(nodes)
        given_args = (reals[j],) if args is None else args
        node_args = (nodes[j],) if args is None else args
        mark = hand.session.mark()
        try:
            node = hand.call(function, nodes[i], *node_args)
        except GraphBreak:
            hand.session.rollback(mark)
            break
        except SymbolicRaise as signal:
            hand.session.rollback(mark)
            with pytest.raises(signal.value.cls) as raised:
                function(reals[i], *given_args)
            assert str(raised.value) == signal.value.body.args.body.items[0].value
            break
        try:
            real = function(reals[i], *given_args)
        except RuntimeError as error:  # told by addresses: the graph raises the same when it runs
            assert "single memory location" in str(error)
            return
        if isinstance(real, torch.Tensor):
            known = [k for k, tensor in enumerate(reals) if tensor is real]
            assert known == [k for k, other in enumerate(nodes) if other is node]
            if not known:
                reals.append(real)
                nodes.append(node)
        for n, r in zip(nodes, reals):
            wanted = fact_or_refusal(hand, n, r)
            assert wanted is None or n.fact is wanted or loose(n.fact) == loose(wanted)
    outputs = [n for n in nodes if n.real is None]
    torch.set_grad_enabled(hand.session.torch.entry_grad)
    results = hand.run(*outputs) or ()
    for got, r in zip(results, [r for n, r in zip(nodes, reals) if n.real is None]):
        assert torch.equal(got, r)
        assert got.requires_grad == r.requires_grad
    for tensor, r in zip(inputs, reals):
        assert torch.equal(tensor, r)


def fact_or_refusal(hand, node, real):
    """The fact of a real tensor; None where autograd itself refuses to tell, and then a trace that asks must break."""
    try:
        return fact_of(real)
    except RuntimeError:
        with pytest.raises(GraphBreak):
            hand.attribute(node, "is_leaf")
        return None


def loose(fact):
    """A fact without the strides of dimensions of one element, which are not told."""
    strides = tuple(0 if size < 2 else stride for size, stride in zip(fact.sizes, fact.strides))
    return fact.replace(strides=strides)


def test_storage_of_inputs_is_guarded_where_one_is_written():
    base = torch.zeros(6)
    hand = Hand(x=torch.zeros(4), y=torch.zeros(4))
    hand.call(BASE.add_, hand.nodes["x"], 1.0)
    result = hand.operate("*", hand.nodes["y"], 2.0)
    hand.run(result)
    assert hand.guards_hold(x=torch.zeros(4), y=torch.zeros(4))
    assert not hand.guards_hold(x=base[0:4], y=base[2:6])


def test_the_overlap_of_inputs_is_guarded_where_one_is_written():
    base = torch.zeros(6)
    hand = Hand(x=base[0:4], y=base[2:6])
    hand.call(BASE.add_, hand.nodes["x"], 1.0)
    hand.run(hand.operate("*", hand.nodes["y"], 2.0))
    other, larger = torch.zeros(6), torch.zeros(8)
    assert hand.guards_hold(x=other[0:4], y=other[2:6])
    assert not hand.guards_hold(x=other[0:4], y=other[0:4])
    assert not hand.guards_hold(x=other[1:5], y=other[2:6])
    assert not hand.guards_hold(x=larger[0:4], y=larger[2:6])


def test_storage_is_not_guarded_where_nothing_is_written():
    base = torch.zeros(6)
    hand = Hand(x=torch.zeros(4), y=torch.zeros(4))
    hand.run(hand.operate("+", hand.nodes["x"], hand.nodes["y"]))
    assert hand.guards_hold(x=base[0:4], y=base[2:6])


def test_grouping():
    assert guards.grouping([7, 9, 7, 3]) == (0, 1, 0, 2)


def test_a_write_nobody_sees_is_dropped():
    hand = Hand(x=torch.zeros(4))
    copy = hand.call(BASE.clone, hand.nodes["x"])
    hand.call(BASE.add_, copy, 1.0)
    result = hand.operate("+", hand.nodes["x"], 1.0)
    call = hand.domain.finish(hand.session, [result])
    assert call.operations == 1


def test_a_write_to_an_input_runs_though_nothing_is_returned():
    x = torch.zeros(4)
    hand = Hand(x=x)
    hand.call(BASE.add_, hand.nodes["x"], 1.0)
    hand.run()
    assert x.tolist() == [1.0] * 4


def test_running_statistics_count_as_written():
    mean, variance = torch.zeros(3), torch.ones(3)
    hand = Hand(x=torch.randn(5, 3), mean=mean, variance=variance)
    x, m, v = hand.nodes.values()
    hand.call(torch.batch_norm, x, None, None, m, v, True, 0.1, 1e-5, False)
    assert hand.session.torch.written
    hand.run()
    assert not torch.equal(mean, torch.zeros(3))


def test_an_operation_that_may_refuse_values_runs_though_nobody_reads_it():
    hand = Hand(w=torch.randn(4, 2), i=torch.tensor([7]))
    hand.call(torch.embedding, hand.nodes["w"], hand.nodes["i"])
    with pytest.raises(IndexError):
        hand.run()


def test_random_operations_run_in_order_though_nobody_reads_them():
    hand = Hand(x=torch.zeros(2))
    hand.call(torch.rand, 3)
    drawn = hand.call(torch.rand, 2)
    torch.manual_seed(5)
    (got,) = hand.run(drawn)
    torch.manual_seed(5)
    torch.rand(3)
    assert torch.equal(got, torch.rand(2))


def test_an_operation_that_writes_without_saying_so_is_found_out():
    from frameloom.pytorch import record

    record.forget()
    with torch.enable_grad():
        hand = Hand(x=torch.tensor([-1.0, 2.0], requires_grad=True))
        y = hand.operate("*", hand.nodes["x"], 3)
        assert hand.call(torch.nn.functional.relu, y, True) is y
        assert torch.nn.functional.relu in record.WRITERS
        (got,) = hand.run(y)
    assert got.tolist() == [0.0, 6.0]


def test_an_operation_that_fails_is_not_taken_for_one_that_writes():
    from frameloom.pytorch import record

    record.forget()
    with torch.enable_grad():
        hand = Hand(x=torch.ones(2, requires_grad=True), y=torch.ones(3))
        with pytest.raises(SymbolicRaise):
            hand.operate("+", hand.nodes["x"], hand.nodes["y"])
    assert not record.WRITERS
