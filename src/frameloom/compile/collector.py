"""The cyclic garbage collector during captures.

A capture allocates many objects that live to its end, which makes CPython look through every object of the process, again and
again: half of the time of a capture was spent so.  Nothing of the user's runs meanwhile, so nothing becomes garbage that could
not wait.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """No automatic collections inside; the collector is left as it was found."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
