"""How checks on tensors and on global state are lowered to the native program.

Reading a tensor natively is calibrated once, against tensors of every kind of key set, dtype and device that can be made here;
where that fails, or for a key set that no probe had, the check runs as the Python reference.
"""

from __future__ import annotations

import functools
import itertools
import operator
import pathlib
import sys
from typing import Any, Iterator

import torch

from frameloom.compile.arithmetic import READERS_OF_NUMBERS, Reading, arithmetic
from frameloom.compile.guard_rows import GuardProgram, PythonCheck, lowers, python_check
from frameloom.compile.running import Codes, Graded, Probe, calibrate, facts
from frameloom.pytorch import guards
from frameloom.pytorch.guards import TensorPayload
from frameloom.pytorch.shapes import Place
from frameloom.symbolic.guards import Guard
from frameloom.symbolic.mortal import OWNED_KEYS

TYPES = (torch.Tensor, torch.nn.Parameter)
OWNED_KEYS.update(TYPES)  # optimisers key their state by parameters
DTYPES = tuple(
    dict.fromkeys(
        [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8]
        + [torch.uint8, torch.bool, torch.complex64, torch.complex128]
    )
)


@functools.cache
def codes() -> Codes | None:
    """The numbers of a calibrated native reader, or None where there is none."""
    library = pathlib.Path(torch.__file__).with_name("lib") / LIBRARIES.get(sys.platform, "libtorch_cpu.so")
    try:
        with torch.inference_mode(False):
            return _calibrate(library)
    except (RuntimeError, OSError):
        return None


def _calibrate(library: pathlib.Path) -> Codes:
    return calibrate(str(library), TYPES, torch._C.TensorBase.__dict__["requires_grad"], tuple(_probes()), tuple(_graded()))


LIBRARIES = {"linux": "libtorch_cpu.so", "darwin": "libtorch_cpu.dylib"}


def _probes() -> Iterator[Probe]:
    """Tensors of all kinds that dense inputs come in."""
    kinds = [torch.zeros(2, 3, dtype=dtype) for dtype in DTYPES]
    kinds += [torch.zeros(1, 2, 3, 1, 2), torch.zeros(3, 1, 2, 1, 1, 2, 1).movedim(0, 3)]
    grown = [torch.zeros(3, 1, 2).requires_grad_(), torch.nn.Parameter(torch.ones(4)), torch.zeros(()), torch.zeros(0, 5).T]
    flags = [torch.zeros(3, dtype=torch.complex64).conj(), torch.zeros(3, dtype=torch.complex64).conj().imag]
    with torch.inference_mode():
        flags.append(torch.ones(2, 2))
    meta = [torch.empty(2, 5, device="meta")]
    accelerated = [torch.zeros(2, 3, device="cuda")] if torch.cuda.is_available() else []
    for tensor in itertools.chain(kinds, grown, flags, meta, accelerated):
        yield Probe(
            tensor, tensor._cdata, guards.dispatch_keys(tensor), tensor.dtype, tensor.device.type,
            -1 if tensor.device.index is None else tensor.device.index, tuple(tensor.shape), tuple(tensor.stride()),
        )


def _graded() -> Iterator[Graded]:
    """Tensors of which autograd knows nothing, that require grad or once did, and that operations made of such."""
    leaves = [torch.zeros(3, requires_grad=True), torch.nn.Parameter(torch.ones(2, 2)), torch.zeros((), dtype=torch.float64).requires_grad_()]
    for tensor in (torch.zeros(2), torch.ones(4, 4), torch.zeros(2, dtype=torch.int64)):
        yield Graded(tensor, False, False, False)
    for leaf in leaves:
        yield Graded(leaf, True, True, False)
        yield Graded(torch.zeros_like(leaf).requires_grad_().requires_grad_(False), True, False, False)
    with torch.enable_grad():
        for made in (leaves[0] * 2, leaves[1] @ leaves[1], leaves[2].exp()):
            yield Graded(made, True, True, True)


def native_facts(wanted: TensorPayload) -> tuple | None:
    """The constant of a native TENSOR instruction, or None where the native reader cannot be used for such tensors."""
    known = codes()
    if known is None or wanted.keys not in known.keys:
        return None
    dtype, device = known.dtypes.get(wanted.dtype), known.devices.get(wanted.device.type)
    if dtype is None or device is None:
        return None
    index = -1 if wanted.device.index is None else wanted.device.index
    return facts((wanted.cls,), wanted.keys, dtype, device, index, wanted.sizes, wanted.strides, wanted.requires_grad)


@lowers("TENSOR")
def _tensor(writer: Any, index: int, guard: Guard) -> None:
    register = writer.register(guard.source, index)
    constant = native_facts(guard.payload)
    if constant is None:
        writer.emit("PY_CHECK", register, 0, writer.constant(PythonCheck(guard, guard.payload)), index)
    else:
        shared = writer.alike.setdefault(constant, constant)  # facts of one constant are looked at in one place
        writer.emit("TENSOR", register, 0, writer.constant(shared), index)


@lowers("SIZES")
def _sizes(writer: Any, index: int, guard: Guard) -> None:
    """Conditions on sizes, of tensors that are read natively."""
    payload = guard.payload
    sources = (guard.source, *payload.others)
    readings = [Reading(_row_of(place), sources[place.source], place.dimension) for place in payload.places]
    tensors = {reading.source for reading in readings if reading.row in EXTENTS.values()}
    told = [writer.payload("TENSOR", source) for source in tensors]
    native = None not in told and all(native_facts(wanted) is not None for wanted in told)
    if not native or not arithmetic(writer, index, readings, [condition.expression for condition in payload.conditions]):
        python_check(writer, index, guard)


EXTENTS = {"size": "SIZE", "stride": "STRIDE"}


def _row_of(place: Place) -> str:
    return EXTENTS.get(place.kind) or READERS_OF_NUMBERS[type(place.hint)]


@lowers("RETURNS")
def _returns(writer: Any, index: int, guard: Guard) -> None:
    """A question about global state, asked without running Python where the answer is a singleton."""
    function, wanted = guard.source.key, guard.payload
    if not _is_singleton(wanted):
        register = writer.register(guard.source, index)
        writer.emit("PY_CHECK", register, 0, writer.constant(PythonCheck(guard, wanted)), index)
    elif takes_nothing(function):
        writer.emit("CALL0_IS", 0, 0, writer.constant((function, wanted)), index)
    else:
        answer = writer.step("PY_STEP", writer.register(guard.source, index), writer.constant(operator.call), index)
        writer.emit("IS", answer, 0, writer.constant(wanted), index)


def _is_singleton(answer: Any) -> bool:
    """Whether equal answers are one object: small ints are cached."""
    return type(answer) in SINGLETONS or type(answer) is int and 0 <= answer < 256


SINGLETONS = (type(None), bool, torch.dtype)


@functools.cache
def takes_nothing(function: Any) -> bool:
    """Whether a function is a built-in of no argument, which the native program calls directly."""
    try:
        GuardProgram((("CALL0_IS", 0, 0, 0, 0),), ((function, None),))
    except (TypeError, ValueError):
        return False
    return True
