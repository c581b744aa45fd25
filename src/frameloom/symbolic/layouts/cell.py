"""Cells: one model for every cell, wherever it came from (one field, possibly empty)."""

from __future__ import annotations

import types
from typing import Any

from frameloom.symbolic.layouts.base import Layout, register, replay
from frameloom.symbolic.values import ABSENT, UNBOUND, Obj, Value


class CellBody:
    """`contents`: a Value, UNBOUND for an empty cell, None while a real cell has not been looked at."""

    __slots__ = ("contents",)

    def __init__(self, contents: Value | None) -> None:
        self.contents = contents


def get(session: Any, cell: Obj) -> Value:
    """The contents, or UNBOUND."""
    body = cell.body
    if body.contents is None:
        found = session.observe.read(cell, "contents")
        if found is ABSENT:
            session.guard("EMPTY_CELL", cell.real.source)
            found = UNBOUND
        session.journal.set_field(body, "contents", found)
    return body.contents


def set_(session: Any, cell: Obj, value: Value) -> None:
    """Store; UNBOUND empties the cell."""
    session.journal.set_field(cell.body, "contents", value)
    if value is UNBOUND:
        session.operation("cell.clear", cell)
    else:
        session.operation("cell.set", cell, value)


@register(types.CellType)
class CellLayout(Layout):
    """types.CellType."""

    def look(self, obj: Obj, session: Any) -> CellBody:
        return CellBody(None)

    def children(self, obj: Obj) -> list:
        contents = obj.body.contents
        return [] if contents is None or contents is UNBOUND else [contents]

    def create(self, obj: Obj, build: Any) -> None:
        build.call_constant(types.CellType)

    def fill(self, obj: Obj, build: Any) -> None:
        if obj.body.contents is not UNBOUND and obj.body.contents is not None:
            build.set_descriptor(CONTENTS, obj, obj.body.contents)


CONTENTS = types.CellType.__dict__["cell_contents"]


@replay("cell.set", location=lambda value: None)
def _replay_set(build: Any, cell: Obj, value: Value) -> None:
    build.set_descriptor(CONTENTS, cell, value)


@replay("cell.clear")
def _replay_clear(build: Any, cell: Obj) -> None:
    build.call_effect(CONTENTS.__delete__, cell)
