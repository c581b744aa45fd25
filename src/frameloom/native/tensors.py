"""Whether tensors can be read natively: the offsets are found and every reading is compared with what torch says.

Nothing here imports torch; the caller brings the tensors. See tensor.c for what is read and how.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _native


class Probe(NamedTuple):
    """A tensor and what torch says of it. `address` is its `_cdata`, `keys` the raw dispatch key set, `device_index` -1
    where the device has none."""

    tensor: Any
    address: int
    keys: int
    dtype: Any
    device_type: str
    device_index: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]


class Codes(NamedTuple):
    """The numbers that stand for dtypes and device types in the facts of a TENSOR instruction."""

    dtypes: dict[Any, int]
    devices: dict[str, int]
    keys: frozenset[int]


class Graded(NamedTuple):
    """A tensor, whether autograd keeps anything about it, what its `requires_grad` says, and whether an operation made it of others."""

    tensor: Any
    known: bool
    requires_grad: bool
    made: bool


def calibrate(
    library: str, types: tuple[type, ...], requires_grad: Any, probes: tuple[Probe, ...], graded: tuple[Graded, ...] = ()
) -> Codes:
    """Makes TENSOR instructions usable for objects of exactly `types` with the key set of a probe.

    `library` is the path of the loaded library that exports the shim, `requires_grad` the C getset descriptor of that
    attribute. Where all probes have what the shim says at one place, it is read there from then on, and so is requires_grad where
    all of `graded` say where. Raises RuntimeError where anything read differs from what a probe says: then use PY_CHECK.
    """
    _native.tensor_accept(None)
    _native.tensor_scan(library, types, requires_grad, tuple((p.tensor, p.address, p.keys) for p in probes))
    dtypes: dict[Any, int] = {}
    devices: dict[str, int] = {}
    for probe in probes:
        keys, dtype, device, index, sizes, strides = _native.tensor_read(probe.tensor)
        expected = (probe.keys, probe.device_index, probe.sizes, probe.strides)
        if (keys, index, sizes, strides) != expected:
            raise RuntimeError(f"read {(keys, index, sizes, strides)} of a tensor that has {expected}")
        if dtypes.setdefault(probe.dtype, dtype) != dtype or devices.setdefault(probe.device_type, device) != device:
            raise RuntimeError("one dtype or device was read as two")
    if len(set(dtypes.values())) != len(dtypes) or len(set(devices.values())) != len(devices):
        raise RuntimeError("two dtypes or devices were read as one")
    accepted = frozenset(probe.keys for probe in probes)
    _native.tensor_look_past(tuple(probe.tensor for probe in probes), tuple(map(tuple, graded)))
    _native.tensor_accept(accepted)
    return Codes(dtypes, devices, accepted)


def facts(types, keys, dtype, device_type, device_index, sizes, strides=None, requires_grad=None) -> tuple:
    """The constant of a TENSOR instruction.

    `types`: exact types, any of them. `keys`, `dtype`, `device_type`, `device_index`: numbers as `tensor_read` and `Codes`
    give them. A size is an int, None (any) or ('>=', n). `strides` is None (not looked at), or has for each dimension an
    int, None (any) or ('of', j): size j, or 1 if that is 0, times stride j. `requires_grad` is a bool, or None (not looked at).
    """
    return (tuple(types), keys, dtype, device_type, device_index, tuple(sizes),
            None if strides is None else tuple(strides), requires_grad)
