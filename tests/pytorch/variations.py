"""Other arguments for a program, made from the first ones: what a second call in the wild may differ in."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

Arguments = tuple[Any, ...]


def on_tensors(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Arguments], Arguments]:
    """Applies `change` to every plain dense tensor, in containers too."""

    def applied(value: Any) -> Any:
        plain = type(value) is torch.Tensor and value.layout is torch.strided and not value.is_quantized
        return change(value) if plain else value

    return lambda arguments: tree_map(applied, arguments)


def taller(tensor: torch.Tensor) -> torch.Tensor:
    """Twice as long in the first dimension."""
    return like(tensor, torch.cat([tensor.detach(), tensor.detach() + 1])) if tensor.ndim else tensor


def wider_type(tensor: torch.Tensor) -> torch.Tensor:
    return like(tensor, tensor.detach().double()) if tensor.dtype is torch.float32 else tensor


def other_grad(tensor: torch.Tensor) -> torch.Tensor:
    """Requires gradients where it did not, and not where it did."""
    able = tensor.is_floating_point() or tensor.is_complex()
    return tensor.detach().requires_grad_(not tensor.requires_grad) if able else tensor


def other_memory(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements with other strides."""
    if tensor.ndim < 2:
        return like(tensor, torch.stack([tensor.detach(), tensor.detach()], -1)[..., 0]) if tensor.ndim else tensor
    return like(tensor, tensor.detach().transpose(0, -1).contiguous().transpose(0, -1))


def shorter(tensor: torch.Tensor) -> torch.Tensor:
    """One row: a size that is never symbolic."""
    return like(tensor, tensor.detach()[:1].clone()) if tensor.ndim else tensor


def like(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    return new.requires_grad_() if old.requires_grad and new.is_floating_point() else new


def aliased(arguments: Arguments) -> Arguments:
    """The first tensor in place of every later one of its shape and type."""
    tensors = [value for value in arguments if type(value) is torch.Tensor]
    if len(tensors) < 2:
        return arguments
    first = tensors[0]
    return tuple(first if type(value) is torch.Tensor and value.shape == first.shape and value.dtype == first.dtype else value
                 for value in arguments)  # fmt: skip


VARIATIONS: dict[str, Callable[[Arguments], Arguments]] = {
    "first": lambda arguments: arguments,
    "again": lambda arguments: arguments,
    "taller": on_tensors(taller),
    "wider type": on_tensors(wider_type),
    "other grad": on_tensors(other_grad),
    "other memory": on_tensors(other_memory),
    "one row": on_tensors(shorter),
    "aliased": aliased,
    "first once more": lambda arguments: arguments,
}
