"""Why calls with tensors fitted no entry: what is told of the guards that only torch has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from frameloom.compile.recompiles import DESCRIPTIONS, EXPLAINERS, Miss, Told, explains, shown
from frameloom.codegen.written import written
from frameloom.pytorch import shapes
from frameloom.pytorch.guards import StoragePayload, TensorPayload


class Aspect(NamedTuple):
    """One thing that a tensor guard checks: its name, its values in the payload and of a tensor, and what to do."""

    name: str
    wanted: Callable[[TensorPayload], Any]
    found: Callable[[torch.Tensor], Any]
    help: str


ASPECTS = (
    Aspect("class", lambda wanted: wanted.cls, type, "give it the same class at each call"),
    Aspect("dtype", lambda wanted: wanted.dtype, lambda tensor: tensor.dtype, "convert it before the call; each dtype gets an entry of its own"),
    Aspect("device", lambda wanted: wanted.device, lambda tensor: tensor.device, "move it before the call; each device gets an entry of its own"),
    Aspect("number of dimensions", lambda wanted: len(wanted.sizes), lambda tensor: tensor.dim(), "bring it to one number of dimensions before the call"),
    Aspect("shape", lambda wanted: wanted.sizes, lambda tensor: tuple(tensor.shape),
           "a size that changed becomes symbolic in this capture, unless dynamic=False was asked for or it is 0 or 1"),
    Aspect("strides", lambda wanted: wanted.strides, lambda tensor: tensor.stride(), "call .contiguous() before the call"),
    Aspect("requires_grad", lambda wanted: wanted.requires_grad, lambda tensor: tensor.requires_grad,
           "call under torch.no_grad() where no gradient is needed; each of the two gets an entry"),
)


@explains("TENSOR")
def _tensor(path: str, wanted: TensorPayload, miss: Miss) -> Told:
    tensor = miss.found
    if not isinstance(tensor, torch.Tensor):
        return Told(f"{path} is no tensor any more", _described(wanted), shown(tensor), "pass a tensor at each call")
    for aspect in ASPECTS:
        was, now = aspect.wanted(wanted), aspect.found(tensor)
        if not _fits(now, was):
            return Told(f"{aspect.name} of {path} changed", _value(was), _value(now), aspect.help)
    return Told(f"kind of tensor {path} changed", _described(wanted), "conjugate, negative, inference or other special state differs")


def _fits(now: Any, was: Any) -> bool:
    if isinstance(was, tuple):
        return len(now) == len(was) and all(w is None or n == w for n, w in zip(now, was))
    return was is None or now == was


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return str(value).replace("None", "any")
    return shown(value) if isinstance(value, type) else str(value)


def _described(wanted: TensorPayload) -> str:
    sizes = ", ".join("any" if n is None else str(n) for n in wanted.sizes)
    return f"a {wanted.cls.__name__}, {str(wanted.dtype).removeprefix('torch.')}[{sizes}] on {wanted.device}"


def _shown_tensor(tensor: torch.Tensor) -> str:
    sizes = ", ".join(map(str, tensor.shape))
    return f"a {type(tensor).__name__}, {str(tensor.dtype).removeprefix('torch.')}[{sizes}] on {tensor.device}"


DESCRIPTIONS[torch.Tensor] = _shown_tensor
DESCRIPTIONS[torch.nn.Parameter] = _shown_tensor


HOOKS = {
    "_forward_hooks": "forward hooks", "_forward_pre_hooks": "forward pre-hooks", "_backward_hooks": "backward hooks",
    "_backward_pre_hooks": "backward pre-hooks",
}
_length = EXPLAINERS["LENGTH"]


@explains("LENGTH")
def _hooks(path: str, payload: Any, miss: Miss) -> Told:
    """As for other lengths, but for the tables of hooks that a module keeps."""
    told = _length(path, payload, miss)
    owner, _, name = path.rpartition(".")
    if name not in HOOKS:
        return told
    return Told(f"{HOOKS[name]} of {owner} changed", told.old, told.new, "register hooks before the first call; a hook runs as a part of the graph")


@explains("STORAGES")
def _storages(path: str, payload: StoragePayload, miss: Miss) -> Told:
    return Told("inputs share memory in another way", _groups(payload.groups), "another partition of the inputs",
                "pass tensors that share memory always, or never: the graph writes to one of them")


def _groups(groups: tuple[int, ...]) -> str:
    return "no two share memory" if len(set(groups)) == len(groups) else f"{len(groups)} inputs in {len(set(groups))} storages"


@explains("SIZES")
def _sizes(path: str, payload: Any, miss: Miss) -> Told:
    names = [path, *[written(other, miss.guard.where) for other in payload.others]]
    measured = list(map(shapes.measured_of, (miss.found, *miss.others)))
    failing = payload.failing(measured) if None not in measured else None
    if failing is None:
        return Told("a condition on symbolic sizes does not hold", "all held", "one is false for this call", SIZES_HELP)
    asked = [(place.tell(names), place) for place in failing.places(payload.places)]
    if not asked:
        return Told("a number is of another class", "int or float", "the other", SIZES_HELP)
    old = ", ".join(f"{text} == {place.hint}" for text, place in asked)
    new = ", ".join(f"{text} == {place.read(measured)}" for text, place in asked)
    return Told(f"{payload.tell(names, failing)} does not hold", old, new, SIZES_HELP, failing.where)


SIZES_HELP = "the program asks something of a size; sizes that answer differently get entries of their own"


@explains("RETURNS")
def _returns(path: str, wanted: Any, miss: Miss) -> Told:
    now = miss.found() if callable(miss.found) else miss.found
    return Told(f"{path}() changed", str(wanted), str(now), "set the mode the same way around each call, or accept an entry for each")
