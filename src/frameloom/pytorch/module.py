"""Compiled modules: an object of a generated subclass that shares the `__dict__` of the module it stands for.

Parameters, hooks, later edits, `state_dict` and the training flag are one; the original stays eager.  What a subclass cannot
share (an object's identity, its class) stays apart: `compiled is not module`, and `isinstance(compiled, type(module))` holds.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

ORIGINAL = "_frameloom_original"
RECIPE = "_frameloom_recipe"


def compiled_module(module: torch.nn.Module, call: Any, recipe: Callable[[torch.nn.Module], torch.nn.Module]) -> torch.nn.Module:
    """The compiled module.  `call` is what calling it calls; `recipe` makes the compiled form of another module, for copies."""
    cls = type(module)
    names = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "__call__": staticmethod(call),
        "__reduce_ex__": _reduce,
        "__deepcopy__": _deepcopy,
        "__copy__": _copy,
        ORIGINAL: _Held(module),
        RECIPE: _Held(recipe),
    }
    made = object.__new__(type(cls)(cls.__name__, (cls,), names))
    object.__setattr__(made, "__dict__", module.__dict__)
    return made


class _Held:
    """A class attribute that is no descriptor and no module, whatever it holds."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def original(module: Any) -> Any:
    """The module that a compiled one stands for; anything else as it is."""
    held = getattr(type(module), ORIGINAL, None)
    return module if held is None else held.value


def _recipe(module: Any) -> Callable[[Any], Any]:
    return getattr(type(module), RECIPE).value


def _deepcopy(self: Any, memo: dict) -> Any:
    recipe = _recipe(self)
    return recipe(copy.deepcopy(original(self), memo))


def _copy(self: Any) -> Any:
    return _recipe(self)(copy.copy(original(self)))


def _reduce(self: Any, protocol: Any) -> tuple:
    """Pickled as the original module and the options that it was compiled with."""
    return _recipe(self), (original(self),)
