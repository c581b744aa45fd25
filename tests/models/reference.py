"""What a compiled program is compared with: the eager one, told that it is being compiled."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def reference() -> Iterator[None]:
    """Eager execution in which `torch.compiler.is_compiling()` is True, as it is below every compiled callable.

    Libraries choose another way through their own code when it is; the choice is theirs, not an error of the compiler.
    """
    before = torch.compiler._is_compiling_flag
    torch.compiler._is_compiling_flag = True
    try:
        yield
    finally:
        torch.compiler._is_compiling_flag = before
