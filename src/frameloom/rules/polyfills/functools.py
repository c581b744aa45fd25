"""functools in plain Python, where its C code calls back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from frameloom.interpreter.registry import polyfill

NOTHING = object()


@polyfill(functools.reduce)
def reduce(function: Callable, iterable: Any, initial: Any = NOTHING, /) -> Any:
    iterator = iter(iterable)
    value = initial
    if value is NOTHING:
        for value in iterator:
            break
        else:
            raise TypeError("reduce() of empty iterable with no initial value")
    for item in iterator:
        value = function(value, item)
    return value


def cached_property_get(self: Any, instance: Any, owner: Any = None) -> Any:
    """`functools.cached_property.__get__` without a lock."""
    if instance is None:
        return self
    if self.attrname is None:
        raise TypeError("Cannot use cached_property instance without calling __set_name__ on it.")
    try:
        cache = instance.__dict__
    except AttributeError:
        raise TypeError(
            f"No '__dict__' attribute on {type(instance).__name__!r} "
            f"instance to cache {self.attrname!r} property."
        ) from None
    value = cache.get(self.attrname, NOTHING)
    if value is NOTHING:
        value = self.func(instance)
        try:
            cache[self.attrname] = value
        except TypeError:
            raise TypeError(
                f"The '__dict__' attribute on {type(instance).__name__!r} instance "
                f"does not support item assignment for caching {self.attrname!r} property."
            ) from None
    return value
