"""Comparable pictures of values: what a case observed, with types, dtypes and bits, but without addresses."""
from __future__ import annotations

import types
from collections import deque
from collections.abc import Mapping, Set
from typing import Any

import torch

DEEPEST = 8
PLAIN = (bool, int, str, bytes, complex)
CALLABLES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)


def picture(value: Any, depth: int = 0, seen: Mapping[int, int] | None = None) -> Any:
    """A deep, immutable picture of `value`; an object met again on the way down is named by its place."""
    seen = seen or {}
    if depth > DEEPEST:
        return "..."
    if value is None or (isinstance(value, PLAIN) and not _is_member(value)):
        return type(value).__name__, value
    if isinstance(value, float):
        return "float", repr(value)
    if id(value) in seen:
        return "seen", seen[id(value)]
    deeper = {**seen, id(value): len(seen)}
    return _of_object(value, lambda part: picture(part, depth + 1, deeper))


def _is_member(value: Any) -> bool:
    """Whether a number is a member of an enumeration, which is more than its value."""
    return hasattr(value, "name") and not isinstance(value, (str, bytes))


def _of_object(value: Any, of) -> Any:
    name = type(value).__name__
    if isinstance(value, torch.Tensor):
        return _of_tensor(value)
    if isinstance(value, PLAIN):
        return name, repr(value)
    if isinstance(value, BaseException):
        return "exception", name
    if isinstance(value, (list, tuple, deque)):
        return name, [of(part) for part in value]
    if isinstance(value, dict):
        return name, [(of(key), of(part)) for key, part in value.items()]
    if isinstance(value, Set):
        return name, sorted(repr(of(part)) for part in value)
    if isinstance(value, CALLABLES):
        return "callable", getattr(value, "__qualname__", repr(value)).rpartition(".")[2]
    if isinstance(value, torch.nn.Module):
        return "module", name
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return name, str(value.dtype), tuple(value.shape), repr(value.tolist())
    if hasattr(value, "__next__"):
        return "iterator", name
    return (name, of(dict(vars(value)))) if hasattr(value, "__dict__") else (name,)


def _of_tensor(tensor: torch.Tensor) -> Any:
    with torch.no_grad():
        items = [repr(item) for item in tensor.detach().reshape(-1).tolist()]
    return "tensor", type(tensor).__name__, str(tensor.dtype), tuple(tensor.shape), bool(tensor.requires_grad), items
