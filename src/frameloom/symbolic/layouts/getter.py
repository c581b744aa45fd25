"""itemgetter, attrgetter and methodcaller: what they were made with."""

from __future__ import annotations

import operator
from typing import Any

from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import Const, Obj, Value


class GetterBody:
    """`args` and `kwargs` of the constructor; None while a real one was not looked at."""

    __slots__ = ("args", "kwargs")

    def __init__(self, args: list[Value] | None, kwargs: dict[str, Value]) -> None:
        self.args = args
        self.kwargs = kwargs


def made_plainly(getter: Any, cls: type) -> bool:
    """Guard: whether a getter was made with positional arguments only."""
    return getter.__reduce__()[0] is cls


def look_into(session: Any, obj: Obj) -> bool:
    """Read the arguments of a real getter; False where it has keywords, which no path reaches."""
    if not made_plainly(obj.real.object, obj.cls):
        return False
    session.guard("CALL", obj.real.source, (made_plainly, obj.cls, "{} was made without keywords"))
    arguments = session.observe.read(obj, "reduced")
    session.journal.set_field(obj.body, "args", tuple_.items(session, arguments.body))
    return True


def make(cls: type, names: tuple[str, ...], *arguments: Any) -> Any:
    """A getter; the last arguments have these names.  Called by compiled code."""
    split = len(arguments) - len(names)
    return cls(*arguments[:split], **dict(zip(names, arguments[split:])))


@register(operator.itemgetter, operator.attrgetter, operator.methodcaller)
class GetterLayout(Layout):
    """Getters of the module operator."""

    def look(self, obj: Obj, session: Any) -> GetterBody:
        return GetterBody(None, {})

    def children(self, obj: Obj) -> list:
        return [*obj.body.args, *obj.body.kwargs.values()]

    def needs_first(self, obj: Obj) -> list:
        return self.children(obj)

    def create(self, obj: Obj, build: Any) -> None:
        build.call_values(make, (Const(obj.cls), Const(tuple(obj.body.kwargs)), *self.children(obj)))
