"""Looks at real objects that no step of a path describes: a host function stands as the key of a "descriptor" step."""

from __future__ import annotations

from typing import Any, Callable


class Reading:
    """`function(object)` read as if a descriptor did it; AttributeError or ValueError say that there is nothing.

    Readings are compared by identity, so that one path has one source: make them once, or by `keyed`.
    """

    __slots__ = ("function", "__name__")

    def __init__(self, function: Callable[[Any], Any], name: str) -> None:
        self.function = function
        self.__name__ = name

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return self.function(obj)


def keyed(function: Callable[[Any, Any], Any], name: str) -> Callable[[Any], Reading]:
    """A family of readings `function(object, key)`, one for each hashable key."""
    made: dict[Any, Reading] = {}

    def reading(key: Any) -> Reading:
        found = made.get(key)
        if found is None:
            found = made[key] = Reading(lambda obj: function(obj, key), f"{name}({key!r})")
        return found

    return reading
