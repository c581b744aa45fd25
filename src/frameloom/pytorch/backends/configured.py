"""A backend with the mode and the options that `compile` was given."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from frameloom.diagnostics.errors import WrongOption
from frameloom.pytorch.backends.registry import find_backend, name_of


def configured_backend(backend: Any, mode: str | None, options: Mapping[str, Any] | None) -> Callable:
    """The callable `(gm, example_inputs)` for a backend.  Raises UnknownBackend, and WrongOption where the backend takes no mode
    or no options."""
    found = find_backend(backend)
    given = {name: value for name, value in (("mode", mode), ("options", options)) if value is not None}
    if not given:
        return found
    taken = inspect.signature(found).parameters
    for name in given:
        if name not in taken and not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in taken.values()):
            raise WrongOption(f"backend {backend!r} takes no {name}")
    check = getattr(found, "check", None)  # a backend may look at its options before there is a graph
    if check is not None:
        check(mode, options)
    made = functools.partial(found, **given)
    made.makes_backward = getattr(found, "makes_backward", False)
    made.frameloom_name = backend if isinstance(backend, str) else name_of(found)
    return made
