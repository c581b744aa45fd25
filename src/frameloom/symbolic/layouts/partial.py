"""functools.partial: a function with arguments given in advance."""

from __future__ import annotations

import functools
from typing import Any

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import Obj, Value

PARTS = {name: functools.partial.__dict__[name] for name in ("func", "args", "keywords")}


class PartialBody:
    """`func`, `args` (a tuple) and `keywords` (a dictionary): Values, None while a real one was not looked at."""

    __slots__ = ("func", "args", "keywords")

    def __init__(self, func: Value | None = None, args: Value | None = None, keywords: Value | None = None) -> None:
        self.func = func
        self.args = args
        self.keywords = keywords


def part(session: Any, obj: Obj, name: str) -> Value:
    """One of `func`, `args`, `keywords`."""
    found = getattr(obj.body, name)
    if found is None:
        found = session.observe.read(obj, "descriptor", PARTS[name])
        session.journal.set_field(obj.body, name, found)
    return found


@register(functools.partial)
class PartialLayout(Layout):
    """functools.partial and its subclasses."""

    def look(self, obj: Obj, session: Any) -> PartialBody:
        return PartialBody()

    def children(self, obj: Obj) -> list:
        return [obj.body.func, obj.body.args, obj.body.keywords]

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(functools.partial.__new__, (build.constant(obj.cls), build.constant(callable)))

    def fill(self, obj: Obj, build: Any) -> None:
        body = obj.body
        build.call_effect(set_parts, obj, body.func, body.args, body.keywords)


def set_parts(made: functools.partial, func: Any, args: tuple, keywords: dict) -> None:
    """Give a new partial its parts, these very objects; called by compiled code."""
    functools.partial.__setstate__(made, (func, args, keywords, None))
