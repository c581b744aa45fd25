"""The native tensor check and the reference agree, on every kind of tensor."""
from __future__ import annotations

import itertools

import pytest
import torch

from frameloom.compile.guard_program import lower
from frameloom.pytorch import guards, native_guards
from frameloom.pytorch.fakes import fact_of
from frameloom.pytorch.guards import tensor_payload
from frameloom.symbolic.guards import Guard
from frameloom.symbolic.source import Scope, Sources

pytestmark = pytest.mark.torch


def kinds():
    """Tensors that differ from one another in one thing at least."""
    z = torch.ones(2, 3, dtype=torch.complex64)
    with torch.inference_mode():
        inference = torch.ones(2, 3)
    return {
        "plain": torch.ones(2, 3),
        "taller": torch.ones(4, 3),
        "flat": torch.ones(6),
        "scalar": torch.ones(()),
        "empty": torch.ones(0, 3),
        "transposed": torch.ones(3, 2).T,
        "strided": torch.ones(2, 6)[:, :3],
        "double": torch.ones(2, 3, dtype=torch.float64),
        "half": torch.ones(2, 3, dtype=torch.float16),
        "ints": torch.ones(2, 3, dtype=torch.int64),
        "bools": torch.ones(2, 3, dtype=torch.bool),
        "graded": torch.ones(2, 3, requires_grad=True),
        "computed": torch.ones(2, 3, requires_grad=True) * 1,
        "parameter": torch.nn.Parameter(torch.ones(2, 3)),
        "frozen": torch.nn.Parameter(torch.ones(2, 3), requires_grad=False),
        "complex": z,
        "conj": z.conj(),
        "neg": z.conj().imag,
        "inference": inference,
        "meta": torch.ones(2, 3, device="meta"),
        "sparse": torch.eye(3).to_sparse(),
        "none": None,
        "number": 3,
    }


DENSE = [name for name in kinds() if name not in ("sparse", "none", "number")]
LOCALS = (lambda x: x).__code__


@pytest.mark.parametrize("with_grad", [False, True])
@pytest.mark.parametrize("wanted", DENSE)
def test_native_and_reference_agree(wanted, with_grad):
    found = kinds()
    source = Sources().local("x")
    for dynamic in (frozenset(), frozenset({0})) if found[wanted].dim() else (frozenset(),):
        guard = Guard("TENSOR", source, payload(found[wanted], dynamic, with_grad), None)
        lowered = lower([guard], LOCALS)
        for name, value in found.items():
            assert run(lowered, value) is guard.holds(Scope({"x": value}, {}, {}, {})), (wanted, name)
        assert guard.holds(Scope({"x": found[wanted]}, {}, {}, {}))


def payload(tensor, dynamic, with_grad):
    """What `tensor` itself meets; the dimensions of `dynamic` may have any size, and then all strides be any."""
    known = fact_of(tensor)
    if dynamic:
        sizes = [None if i in dynamic else size for i, size in enumerate(known.sizes)]
        known = known.replace(sizes=tuple(sizes), strides=(None,) * len(sizes))
    return tensor_payload(tensor, known, with_grad)


def run(lowered, value):
    """Whether the native program lets a call with this argument pass."""
    return lowered.program.check((value,)) == -1


def test_every_dense_kind_is_told_from_every_other():
    found = kinds()
    for one, other in itertools.permutations(DENSE, 2):
        if {one, other} == {"graded", "computed"}:
            continue  # leaf or not is guarded only where it is asked
        assert not guards.tensor_holds(found[other], payload(found[one], frozenset(), True)), (one, other)


def test_the_native_reader_is_calibrated():
    """Where it is not, every check of a tensor would run as Python: right, but slow."""
    assert native_guards.codes() is not None
    assert native_guards.native_facts(payload(torch.ones(2), frozenset(), True)) is not None


def test_questions_of_global_state():
    source = Sources().const(torch.is_grad_enabled)
    guard = Guard("RETURNS", source, True, None)
    lowered = lower([guard], LOCALS)
    assert run(lowered, None)
    with torch.no_grad():
        assert not run(lowered, None)
        assert not guard.holds(Scope({}, {}, {}, {}))
