"""Backends that other packages registered with torch.  The one look-up of torch's own compiler front end, by name only."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

OURS = frozenset({"eager", "aot_eager", "inductor"})


def _registry() -> Any:
    return importlib.import_module("torch._dynamo.backends.registry")


def names() -> Iterable[str]:
    """The names that torch's registry lists."""
    return frozenset(_registry().list_backends()) - OURS


def find(name: str) -> Callable | None:
    """The backend of torch's registry with this name, or None."""
    registry = _registry()
    if name not in registry.list_backends(exclude_tags=()):
        return None
    return registry.lookup_backend(name)
