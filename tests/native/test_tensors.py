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


def graded():
    leaf, parameter = torch.zeros(3, requires_grad=True), torch.nn.Parameter(torch.ones(2))
    once = torch.zeros(5).requires_grad_().requires_grad_(False)
    return [tensors.Graded(torch.zeros(2), False, False, False), tensors.Graded(leaf, True, True, False),
            tensors.Graded(parameter, True, True, False), tensors.Graded(once, True, False, False),
            tensors.Graded(leaf * 2, True, True, True), tensors.Graded(parameter.exp(), True, True, True)]


@pytest.fixture(scope="module", params=["shim", "direct", "direct, of five dimensions", "direct, no grad"])
def codes(request):
    probes = samples() + ([torch.zeros(1, 2, 1, 3, 2)] if "five" in request.param else [])
    grads = () if "no grad" in request.param else tuple(graded())
    found = tensors.calibrate(LIBRARY, TYPES, REQUIRES_GRAD, tuple(map(probe, probes)), grads)
    looked = native._native.tensor_look_past(tuple(probes) if "direct" in request.param else (), grads)
    assert looked == ("direct" in request.param, "direct" in request.param and bool(grads))
    yield found
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


def extent(tensor, row, dimension, number, doubted=False):
    """Whether a program of arithmetic says that a size or stride is this number."""
    rows = [(row, 0, dimension, 0), ("EQ", 0, -1, 0), ("HOLDS", 1, 0, 0)]
    if doubted:
        rows = [("POS", -2, 0, 0), (row, 0, dimension, 0), ("EQ", 1, -1, 0), ("HOLDS", 2, 0, 0)]
    constant = (0,), (number, 2**70), tuple(rows)
    instructions = [("LOCAL", 0, 0, 0, 0), ("ARITHMETIC", 0, 0, 0, 1), ("EXACTLY", 0, 0, 0, 1)]
    return GuardProgram(instructions, (constant,)).check((tensor,)) == -1


@pytest.mark.parametrize("doubted", [False, True])
def test_arithmetic_reads_sizes_and_strides(codes, doubted):
    for tensor in samples():
        for dimension in range(tensor.dim()):
            for row, number in (("SIZE", tensor.shape[dimension]), ("STRIDE", tensor.stride(dimension))):
                assert extent(tensor, row, dimension, number, doubted)
                assert not extent(tensor, row, dimension, number + 1, doubted)
        assert not extent(tensor, "SIZE", tensor.dim(), 1, doubted)
    for other in (None, 3, torch.zeros(2).to_sparse(), torch.nn.Linear(1, 1), [2]):
        assert not extent(other, "SIZE", 0, 2, doubted)


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


def many_shapes():
    sizes = [(), (3,), (2, 3), (2, 3, 4), (1, 2, 3, 4), (1, 2, 1, 3, 2), (1, 2, 1, 3, 2, 1), (2, 1, 1, 1, 1, 1, 1, 2)]
    return [torch.zeros(size, dtype=dtype) for size in sizes for dtype in (torch.float32, torch.int64)]


def test_every_number_of_dimensions(codes):
    made = many_shapes()
    every = [facts(tensor, codes) for tensor in made]
    for i, tensor in enumerate(made):
        assert [holds(each, tensor) for each in every] == [i == j for j in range(len(made))]
        turned = tensor.transpose(0, -1) if tensor.dim() else tensor
        assert holds(every[i], turned) == (turned.shape == tensor.shape and turned.stride() == tensor.stride())


def under_no_grad(act, *arguments):
    with torch.no_grad():
        act(*arguments)


WAYS = {
    "data": lambda d: setattr(d["w"], "data", torch.zeros(3, 2)),
    "data of the same kind": lambda d: setattr(d["w"], "data", torch.zeros(2, 3)),
    "data of another dtype": lambda d: setattr(d["w"], "data", torch.zeros(2, 3, dtype=torch.float64)),
    "data of another layout": lambda d: setattr(d["w"], "data", torch.zeros(3, 2).t()),
    "data of more dimensions": lambda d: setattr(d["w"], "data", torch.zeros(1, 1, 1, 1, 1, 2, 3)),
    "set": lambda d: under_no_grad(d["w"].set_, torch.zeros(5)),
    "resize": lambda d: (d["w"].requires_grad_(False), d["w"].resize_(6, 1)),
    "turn": lambda d: under_no_grad(d["w"].t_),
    "unsqueeze": lambda d: setattr(d["w"], "data", d["w"].data.unsqueeze(0)),
    "no grad": lambda d: d["w"].requires_grad_(False),
    "no grad and again": lambda d: d["w"].requires_grad_(False).requires_grad_(),
    "class": lambda d: setattr(d["w"], "__class__", type("Sub", (torch.nn.Parameter,), {})),
    "swapped": lambda d: torch.utils.swap_tensors(d["w"], torch.nn.Parameter(torch.zeros(4))),
    "swapped for its like": lambda d: torch.utils.swap_tensors(d["w"], torch.nn.Parameter(torch.zeros(2, 3))),
    "another": lambda d: d.update(w=torch.nn.Parameter(torch.zeros(2))),
    "another like it": lambda d: d.update(w=torch.nn.Parameter(torch.zeros(2, 3))),
    "none": lambda d: d.update(w=None),
    "a plain tensor": lambda d: d.update(w=torch.zeros(2, 3)),
    "used": lambda d: (d["w"] * 2).sum().backward(),
    "gone": lambda d: d.pop("w"),
}


@pytest.mark.parametrize("with_grad", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_snapshots_over_tensors(codes, way, with_grad):
    made = {"w": torch.nn.Parameter(torch.zeros(2, 3))}
    constant = facts(made["w"], codes, **({} if with_grad else {"requires_grad": None}))
    rows = [("DICT_ITEM", 0, 1, 0, 1), ("TENSOR", 1, 0, 1, 2), ("DICT_ITEM", 0, 2, 0, 3), ("SAME", 1, 2, 0, 4), ("TENSOR", 2, 0, 1, 5)]
    length = len(rows) + 1
    told = GuardProgram([("LOCAL", 0, 0, 0, 0), ("SNAPSHOT", 0, 0, length, 0), *rows, ("TAKEN", 0, 0, length, 0)], ("w", constant), (1,))
    read = GuardProgram([("LOCAL", 0, 0, 0, 0), *rows], ("w", constant), (1,))
    for change in (None, WAYS[way], None):
        if change is not None:
            change(made)
        for _ in range(4):
            assert told.check((made,)) == read.check((made,)), way
            assert told.gather((made,)) is None or told.gather((made,))[0] is made["w"]
    assert change is None and told.snapshots[0][2] > 0


def test_views_and_results_tell_whether_they_require_grad(codes):
    leaf = torch.zeros(2, 3, requires_grad=True)
    with torch.no_grad():
        quiet = leaf[:]
    late = torch.zeros(2, 3)[:]
    late.requires_grad_()
    base = torch.zeros(2, 3)
    view = base[:]
    kinds = [leaf, quiet, late, view, leaf[:], leaf * 2, leaf.detach(), (leaf * 2).detach(), torch.zeros(2, 3).mul_(leaf)]
    kinds.append((leaf * 1).requires_grad_())
    for round in range(2):
        for tensor in kinds:
            wanted = tensor.requires_grad
            assert holds(facts(tensor, codes, requires_grad=wanted), tensor)
            assert not holds(facts(tensor, codes, requires_grad=not wanted), tensor)
        base.mul_(leaf)  # the view of it requires grad from now on
    assert view.requires_grad
