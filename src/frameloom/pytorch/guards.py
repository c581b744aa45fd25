"""Guards on tensors and on torch's global state: the reference, and what the native program needs of them."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import torch

from frameloom.pytorch.facts import TensorFact, is_dense
from frameloom.symbolic.guards import CHECKS, Check
from frameloom.symbolic.source import Missing


class TensorPayload(NamedTuple):
    """What a tensor input must be.

    `keys` is the raw dispatch key set; `sizes` and `strides` have None where any number will do (further conditions are a
    guard of their own); `requires_grad` is None where it does not matter.
    """

    cls: type
    keys: int
    dtype: torch.dtype
    device: torch.device
    sizes: tuple
    strides: tuple
    requires_grad: bool | None


def dispatch_keys(tensor: torch.Tensor) -> int:
    """The dispatch key set as a number: conj, neg, sparse, quantised, inference, functorch wrappers, Python."""
    return torch._C._dispatch_keys(tensor).raw_repr()


def tensor_payload(tensor: torch.Tensor, known: TensorFact, with_grad: bool) -> TensorPayload:
    """The payload that `tensor` itself meets; the sizes and strides that are symbolic in what is known of it may be any."""
    grad = tensor.requires_grad if with_grad else None
    return TensorPayload(
        type(tensor), dispatch_keys(tensor), tensor.dtype, tensor.device, _numbers(known.sizes), _numbers(known.strides), grad
    )


def _numbers(extents: tuple) -> tuple:
    return tuple([extent if type(extent) is int else None for extent in extents])


def tensor_holds(found: Any, wanted: TensorPayload, scope: Any = None) -> bool:
    """The reference check."""
    return (
        type(found) is wanted.cls
        and found.dtype is wanted.dtype
        and found.device == wanted.device
        and _fits(found.shape, wanted.sizes)
        and _fits(found.stride(), wanted.strides)
        and dispatch_keys(found) == wanted.keys
        and (wanted.requires_grad is None or found.requires_grad is wanted.requires_grad)
    )


def _fits(found: tuple, wanted: tuple) -> bool:
    return len(found) == len(wanted) and all(w is None or f == w for f, w in zip(found, wanted))


def tensor_text(source: str, wanted: TensorPayload) -> str:
    dtype = str(wanted.dtype).removeprefix("torch.")
    sizes = ", ".join("any" if n is None else str(n) for n in wanted.sizes)
    grad = "" if wanted.requires_grad is None else f", requires_grad={wanted.requires_grad}"
    return f"{source} is a {wanted.cls.__name__} {dtype}[{sizes}] on {wanted.device}{grad}"


# -- further checks on one tensor, payloads of CALL ---------------------------------------------------------------------


def requires_grad_is(tensor: torch.Tensor, wanted: bool) -> bool:
    return tensor.requires_grad is wanted


def is_dense_is(tensor: torch.Tensor, wanted: bool) -> bool:
    return is_dense(tensor) is wanted


def draws_for(generator: torch.Generator, device: torch.device) -> bool:
    return generator.device == device


def is_leaf_is(tensor: torch.Tensor, wanted: bool) -> bool:
    return tensor.is_leaf is wanted


def is_view_is(tensor: torch.Tensor, wanted: bool) -> bool:
    return tensor._is_view() is wanted


def address_is(tensor: torch.Tensor, wanted: int) -> bool:
    return tensor.data_ptr() == wanted


def grad_is_none(tensor: torch.Tensor, _: None) -> bool:
    return tensor.grad is None


def grad_fn_is_none(tensor: torch.Tensor, wanted: bool) -> bool:
    return (tensor.grad_fn is None) is wanted


def hooks_are_none(tensor: torch.Tensor, wanted: bool) -> bool:
    return (tensor._backward_hooks is None) is wanted


NONE_CHECKS: dict[str, Callable] = {"grad_fn": grad_fn_is_none, "_backward_hooks": hooks_are_none}


# -- storages of several tensors --------------------------------------------------------------------------------------


def storage_of(tensor: torch.Tensor) -> int:
    """The identity of a tensor's storage."""
    return tensor.untyped_storage()._cdata


def place_of(tensor: torch.Tensor) -> tuple[int, int]:
    """Where in its storage a tensor begins, and how large the storage is: with sizes and strides, what overlaps follows."""
    return tensor.storage_offset(), tensor.untyped_storage().nbytes()


class StoragePayload(NamedTuple):
    """The inputs besides the guarded one; for each of all of them the number of its storage group, and its place in a storage
    that is written to and shared (else None)."""

    others: tuple
    groups: tuple[int, ...]
    places: tuple[tuple[int, int] | None, ...]


def grouping(storages: list[int]) -> tuple[int, ...]:
    """Storages as numbers in order of appearance: equal where the storages are one."""
    seen: dict[int, int] = {}
    return tuple([seen.setdefault(storage, len(seen)) for storage in storages])


def storages_hold(first: Any, payload: StoragePayload, scope: Any) -> bool:
    """Whether the inputs fall into the same groups by storage as they did, and overlap in those as they did."""
    try:
        found = [first, *[source.read(scope) for source in payload.others]]
    except Missing:
        return False
    if not all(isinstance(tensor, torch.Tensor) for tensor in found) or grouping(list(map(storage_of, found))) != payload.groups:
        return False
    return all(place is None or place_of(tensor) == place for tensor, place in zip(found, payload.places))


def storages_text(source: str, payload: StoragePayload, *others: str) -> str:
    return f"{source} and {len(payload.others)} other tensors share storage as before"


# -- global state -----------------------------------------------------------------------------------------------------


def returns(function: Callable[[], Any], wanted: Any, scope: Any = None) -> bool:
    """Whether calling a function of no argument still gives the same answer; the source is the function itself."""
    return function() == wanted


CHECKS["TENSOR"] = Check(tensor_holds, tensor_text)
CHECKS["STORAGES"] = Check(storages_hold, storages_text, several=True)
CHECKS["RETURNS"] = Check(returns, lambda source, wanted: f"{source}() is {wanted}")
