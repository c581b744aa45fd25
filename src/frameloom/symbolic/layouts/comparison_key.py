"""Keys of `functools.cmp_to_key`: objects that compare as a function says."""

from __future__ import annotations

import functools
from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import ABSENT, Obj, Value

KEY: type = type(functools.cmp_to_key(print))
"""The class of what `cmp_to_key` gives and of what that makes."""


class KeyBody:
    """`compare`: the function; `wrapped`: the object to compare, ABSENT in what `cmp_to_key` itself gives."""

    __slots__ = ("compare", "wrapped")

    def __init__(self, compare: Value, wrapped: Value = ABSENT) -> None:
        self.compare = compare
        self.wrapped = wrapped


def make_key(compare: Any, wrapped: Any) -> Any:
    """The key of an object; called by compiled code."""
    return functools.cmp_to_key(compare)(wrapped)


@register(KEY)
class KeyLayout(Layout):
    """Real ones cannot be looked into: no path reaches the function."""

    def children(self, obj: Obj) -> list:
        body = obj.body
        return [body.compare] if body.wrapped is ABSENT else [body.compare, body.wrapped]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(functools.cmp_to_key if obj.body.wrapped is ABSENT else make_key, self.children(obj))
