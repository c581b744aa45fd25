"""What has to be arranged around a page's program, for kinds that a plain program cannot bring about."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from frameloom import config

Stage = Callable[[], contextlib.AbstractContextManager[object]]


@contextlib.contextmanager
def _users_settings() -> Iterator[None]:
    """The tests run with `strict`; a user does not."""
    with config.patch(strict=False):
        yield


STAGES: Mapping[str, Stage] = MappingProxyType({"FL901": _users_settings})
"""By code: a context in which the program of the page gives its message."""


def stage(code: str) -> contextlib.AbstractContextManager[object]:
    """The context in which the program of `code` runs."""
    return STAGES.get(code, contextlib.nullcontext)()
