"""Tensors read natively, against what torch says of them."""

import os

import pytest

torch = pytest.importorskip("torch")

from frameloom import native
from frameloom.native import GuardProgram, tensors
from frameloom.pytorch import native_guards

LIBRARY = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
TYPES = (torch.Tensor, torch.nn.Parameter)
REQUIRES_GRAD = torch.Tensor.requires_grad
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
          torch.uint8, torch.bool, torch.complex64, torch.complex128)


def probe(tensor):
    index = tensor.device.index
    return tensors.Probe(tensor, tensor._cdata, torch._C._dispatch_keys(tensor).raw_repr(), tensor.dtype, tensor.device.type,
                         -1 if index is None else index, tuple(tensor.shape), tuple(tensor.stride()))


def inference():
    with torch.inference_mode():
        return torch.zeros(2, 3)


def samples():
    made = [torch.zeros(2, 3, dtype=dtype) for dtype in DTYPES]
    made += [torch.zeros(()), torch.zeros(4, 3, 2, 1, 2, 1, 5), torch.zeros(3, 4).t(), torch.zeros(0, 2), torch.zeros(4)[::2],
             torch.zeros(2, 3, device="meta"), torch.zeros(2, 3, requires_grad=True), torch.nn.Parameter(torch.zeros(2, 3)),
             torch.zeros(2, dtype=torch.complex64).conj(), torch.zeros(2, dtype=torch.complex64).conj().imag, inference()]
    return made


@pytest.fixture(scope="module")
def codes():
    yield tensors.calibrate(LIBRARY, TYPES, REQUIRES_GRAD, tuple(map(probe, samples())))
    native.tensor_accept(None)
    native_guards.codes.cache_clear()  # the frontend calibrates again when it is asked next


def facts(tensor, codes, **other):
    seen = probe(tensor)
    fields = dict(types=(type(tensor),), keys=seen.keys, dtype=codes.dtypes[seen.dtype],
                  device_type=codes.devices[seen.device_type], device_index=seen.device_index, sizes=seen.sizes,
                  strides=seen.strides, requires_grad=tensor.requires_grad)
    return tensors.facts(**{**fields, **other})


def program(constant):
    return GuardProgram([("LOCAL", 0, 0, 0, 0), ("TENSOR", 0, 0, 0, 1)], (constant,))


def holds(constant, tensor):
    return program(constant).check((tensor,)) == -1


def test_readings(codes):
    for tensor in samples():
        keys, dtype, device, index, sizes, strides = native.tensor_read(tensor)
        assert (sizes, strides) == (tuple(tensor.shape), tensor.stride())
        assert codes.dtypes[tensor.dtype] == dtype and codes.devices[tensor.device.type] == device
        assert keys == torch._C._dispatch_keys(tensor).raw_repr() and index == -1


def test_facts_tell_tensors_apart(codes):
    made = samples()
    every = [facts(tensor, codes) for tensor in made]
    for i, tensor in enumerate(made):
        assert holds(every[i], tensor)
        for j, other in enumerate(made):
            alike = (type(tensor) is type(other) and probe(tensor)[2:] == probe(other)[2:]
                     and tensor.requires_grad == other.requires_grad)
            assert holds(every[j], tensor) == alike, (i, j)


@pytest.mark.parametrize("thing", [None, 1, "tensor", torch.Tensor, torch.zeros(2, 3).to_sparse(), torch.zeros(2, 3).numpy()])
def test_other_things(codes, thing):
    assert not holds(facts(torch.zeros(2, 3), codes), thing)
    with pytest.raises(TypeError):
        native.tensor_read(thing)


def test_subclasses_are_refused(codes):
    class Sub(torch.Tensor):
        pass

    sub = torch.zeros(2, 3).as_subclass(Sub)
    assert not holds(facts(torch.zeros(2, 3), codes), sub)
    with pytest.raises(ValueError):
        program(facts(sub, codes))
    assert holds(facts(torch.zeros(2, 3), codes, types=TYPES), torch.zeros(2, 3))


def test_key_sets_no_probe_had_are_refused(codes):
    sparse = torch.zeros(2, 3).to_sparse()
    with pytest.raises(ValueError):
        program(facts(torch.zeros(2, 3), codes, keys=probe_keys(sparse)))


def probe_keys(tensor):
    return torch._C._dispatch_keys(tensor).raw_repr()


def test_open_sizes(codes):
    batch = facts(torch.zeros(8, 3), codes, sizes=((">=", 2), 3), strides=(("of", 1), 1))
    for size in range(5):
        assert holds(batch, torch.zeros(size, 3)) == (size >= 2)
    assert not holds(batch, torch.zeros(3, 8).t()) and not holds(batch, torch.zeros(8, 4))
    last = facts(torch.zeros(2, 8), codes, sizes=(2, None), strides=(("of", 1), 1))
    assert all(holds(last, torch.zeros(2, size)) for size in (0, 1, 2, 50))
    assert not holds(last, torch.zeros(2, 50)[:, ::2])
    swapped = facts(torch.zeros(2, 3).t(), codes, sizes=(None, None), strides=(1, ("of", 0)))
    assert holds(swapped, torch.zeros(4, 5).t()) and not holds(swapped, torch.zeros(4, 5))
    assert holds(facts(torch.zeros(2, 8), codes, strides=None), torch.zeros(8, 2).t())
    assert holds(facts(torch.zeros(2, 8), codes, strides=(None, 1)), torch.zeros(2, 99)[:, :8])


def test_requires_grad(codes):
    tensor = torch.zeros(2, 3)
    plain, any_grad = facts(tensor, codes), facts(tensor, codes, requires_grad=None)
    assert holds(plain, tensor) and holds(any_grad, tensor)
    result = torch.zeros(2, 3, requires_grad=True) * 2
    assert not holds(plain, result) and holds(any_grad, result) and holds(facts(result, codes), result)


@pytest.mark.parametrize("change", [
    {"sizes": (-1, 3)}, {"sizes": (("<", 2), 3)}, {"strides": (1,)}, {"strides": (("of", 2), 1)}, {"strides": (-3, 1)},
    {"types": (int,)}, {"keys": 0},
])
def test_nonsense_is_refused(codes, change):
    with pytest.raises(ValueError):
        program(facts(torch.zeros(2, 3), codes, **change))


def test_sizes_against_each_other(codes):
    def check(name, constants, operand, *things):
        instructions = [("LOCAL", 0, i, i, 0) for i in range(len(things))]
        instructions.append((name, 0, 1 if len(things) > 1 else 0, operand, 1))
        return GuardProgram(instructions, constants).check(things) == -1

    a, b = torch.zeros(2, 5), torch.zeros(5, 7)
    assert check("SIZE_EQ", ((1, 0),), 0, a, b)
    assert not check("SIZE_EQ", ((0, 0),), 0, a, b)
    assert not check("SIZE_EQ", ((2, 0),), 0, a, b) and not check("SIZE_EQ", ((1, 0),), 0, a, "no tensor")
    assert not check("SIZE_EQ", ((0, 0),), 0, "no", "tensors")
    assert check("SIZE_EQ_INT", (), 1, a, 5) and not check("SIZE_EQ_INT", (), 1, a, 6)
    assert not check("SIZE_EQ_INT", (), 1, a, True) and not check("SIZE_EQ_INT", (), 9, a, 5)
    assert check("SIZE_IN", ((1, 2, 5),), 0, a) and not check("SIZE_IN", ((1, 2, 4),), 0, a)
    assert check("SIZE_IN", ((1, 5, None),), 0, a) and not check("SIZE_IN", ((1, 6, None),), 0, a)
    assert not check("SIZE_IN", ((0, 0, None),), 0, torch.zeros(2, 2).to_sparse())


def test_flags_by_calls(codes):
    enabled = GuardProgram([("CALL0_IS", 0, 0, 0, 3)], ((torch.is_grad_enabled, True),))
    assert enabled.check(()) == -1
    with torch.no_grad():
        assert enabled.check(()) == 3
    assert not enabled.runs


def test_calibration_that_disagrees_is_refused():
    good = tuple(map(probe, samples()))

    def refused(*probes):
        with pytest.raises(RuntimeError):
            tensors.calibrate(LIBRARY, TYPES, REQUIRES_GRAD, probes)
        with pytest.raises(ValueError):
            program(tensors.facts(TYPES, good[0].keys, 6, 0, -1, (2, 3)))

    try:
        refused(*good, good[0]._replace(sizes=(3, 2)))
        refused(*good, good[0]._replace(strides=(1, 2)))
        refused(*good, good[0]._replace(address=good[0].address + 8))
        refused(*good, good[0]._replace(keys=good[0].keys + 1))
        refused(*good, good[0]._replace(dtype=torch.float64))
        refused(*good, good[0]._replace(device_type="meta"))
        refused(good[0], good[0]._replace(dtype=torch.float64))
        with pytest.raises(RuntimeError):
            tensors.calibrate("libnothing.so", TYPES, REQUIRES_GRAD, good)
        with pytest.raises(TypeError):
            tensors.calibrate(LIBRARY, TYPES, "requires_grad", good)
    finally:
        tensors.calibrate(LIBRARY, TYPES, REQUIRES_GRAD, good)
