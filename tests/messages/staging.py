"""What has to be arranged around a page's program, for kinds that a plain program cannot bring about."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

STAGES: Mapping[str, Callable[[], contextlib.AbstractContextManager[None]]] = MappingProxyType({})
"""By code: a context in which the program of the page gives its message."""


@contextlib.contextmanager
def bare_stage() -> Iterator[None]:
    """The stage of a program that needs nothing."""
    yield


def stage(code: str) -> contextlib.AbstractContextManager[None]:
    """The context in which the program of `code` runs."""
    return STAGES.get(code, bare_stage)()
