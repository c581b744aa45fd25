"""What autocast does on this thread: which types of devices have their operations cast, and to what."""

from __future__ import annotations

import contextlib
from typing import Iterator

import torch

NAMES = ("cpu", "cuda", "xpu", "mps", "hpu", "xla", "mtia", "maia", "ipu", torch._C._get_privateuse1_backend_name())
KINDS = tuple(name for name in NAMES if torch._C._is_autocast_available(name))
"""The types of devices that have an autocast of their own."""


def casts() -> tuple:
    """The types of devices whose operations are cast now, each with its dtype."""
    return tuple([(kind, torch.get_autocast_dtype(kind)) for kind in KINDS if torch.is_autocast_enabled(kind)])


@contextlib.contextmanager
def casting(wanted: tuple) -> Iterator[None]:
    """Operations are cast just so, and no cast is kept: what is made inside is of no use to anybody else."""
    if not wanted and not torch._C._is_any_autocast_enabled():
        yield
        return
    found, cached = casts(), torch.is_autocast_cache_enabled()
    dtypes = [(kind, torch.get_autocast_dtype(kind)) for kind, _ in {**dict(found), **dict(wanted)}.items()]
    torch.set_autocast_cache_enabled(False)
    _cast_just(wanted)
    try:
        yield
    finally:
        _cast_just(found)
        for kind, dtype in dtypes:
            torch.set_autocast_dtype(kind, dtype)
        torch.set_autocast_cache_enabled(cached)


def _cast_just(wanted: tuple) -> None:
    active = dict(wanted)
    for kind in KINDS:
        if torch.is_autocast_enabled(kind) is not (kind in active):
            torch.set_autocast_enabled(kind, kind in active)
        if kind in active:
            torch.set_autocast_dtype(kind, active[kind])
