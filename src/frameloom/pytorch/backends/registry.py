"""The table of backends by name, and how a name is found.

A backend is a callable `(gm, example_inputs) -> callable`, where `gm` is a `torch.fx.GraphModule` and the result takes what
`gm.forward` takes and gives what it gives.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

from frameloom.diagnostics.errors import UnknownBackend, WrongOption
from frameloom.pytorch.backends import thirdparty

Backend = Callable[..., Callable]

ENTRY_POINTS = "frameloom.backends"
_LOADERS: dict[str, Callable[[], Backend]] = {}
_BACKENDS: dict[str, Backend] = {}


def register_backend(name: str | Backend | None = None, compiler: Backend | None = None) -> Any:
    """Make a backend known by name.  As a function `register_backend("mine", compile_it)`, or as a decorator, with or without
    a name (the function's own otherwise).  Gives the backend back.  A name that is taken stands for
    the new backend from then on.  Raises TypeError for a backend that cannot be called, and for a name that is no string.
    """
    if callable(name) and compiler is None:
        return register_backend(name.__name__, name)
    if name is not None and (not isinstance(name, str) or not name):
        raise TypeError(f"the name of a backend is a string, not {name!r}")
    if compiler is None:
        return lambda function: register_backend(name or function.__name__, function)
    if not callable(compiler):
        raise TypeError(f"a backend is a callable (gm, example_inputs), not {type(compiler).__qualname__}")
    if name is None:
        raise TypeError("a backend is registered under a name")
    _BACKENDS[name] = compiler
    return compiler


def builtin_backend(name: str) -> Callable:
    """Decorator: the function imports and gives the backend of this name."""

    def add(loader: Callable[[], Backend]) -> Callable[[], Backend]:
        _LOADERS[name] = loader
        return loader

    return add


@builtin_backend("eager")
def _eager() -> Backend:
    from frameloom.pytorch.backends.eager import eager

    return eager


@builtin_backend("aot_eager")
def _aot_eager() -> Backend:
    from frameloom.pytorch.backends.aot import aot_eager

    return aot_eager


@builtin_backend("inductor")
def _inductor() -> Backend:
    from frameloom.pytorch.backends.inductor import inductor

    return inductor


def list_backends() -> list[str]:
    """The names that `compile(backend=...)` takes, torch's third-party backends included."""
    names = {*_LOADERS, *_BACKENDS, *(point.name for point in _entry_points()), *thirdparty.names()}
    return sorted(names)


def find_backend(backend: Any) -> Backend:
    """The backend that a name or a callable stands for.  Raises UnknownBackend, or WrongOption for another type."""
    if callable(backend):
        return backend
    if not isinstance(backend, str):
        raise WrongOption(f"backend is a name or a callable, not {type(backend).__qualname__}")
    known = _BACKENDS.get(backend)
    if known is None:
        known = _BACKENDS[backend] = _load(backend)
    return known


def name_of(backend: Backend) -> str:
    """The name that a backend is known by, or what it calls itself."""
    given = getattr(backend, "frameloom_name", None)
    known = next((name for name, other in _BACKENDS.items() if other is backend), None)
    return given or known or getattr(backend, "__qualname__", None) or type(backend).__qualname__


def _load(name: str) -> Backend:
    if name in _LOADERS:
        return _LOADERS[name]()
    for point in _entry_points():
        if point.name == name:
            return point.load()
    found = thirdparty.find(name)
    if found is None:
        raise UnknownBackend(name, list_backends())
    return found


def _entry_points() -> Any:
    return importlib.metadata.entry_points(group=ENTRY_POINTS)
