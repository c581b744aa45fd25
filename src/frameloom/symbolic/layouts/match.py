"""Matches of regular expressions: what a pattern finds in a text, found again where the match is needed."""

from __future__ import annotations

import re
from typing import Any, Callable

from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Obj, Value


class MatchBody:
    """`found`: a match of the host's, equal in all but identity.  A match that the trace made is what `search`, a method of patterns,
    gives for `pattern` and `arguments`, the first of which is the text; a real one has its pattern only."""

    __slots__ = ("found", "pattern", "search", "arguments")

    def __init__(self, found: re.Match, pattern: Value, search: Callable | None = None, arguments: tuple = ()) -> None:
        self.found = found
        self.pattern = pattern
        self.search = search
        self.arguments = arguments


def places(match: re.Match) -> tuple:
    """The text of a match and where in it all was found."""
    return (match.string, match.pos, match.endpos, match.regs, match.lastindex)


def found_alike(match: Any, wanted: tuple) -> bool:
    """Guard: whether a match is in an equal text at the same places."""
    return type(match.string) is type(wanted[0]) and places(match) == wanted


@register(re.Match)
class MatchLayout(Layout):
    """re.Match."""

    def look(self, obj: Obj, session: Any) -> MatchBody:
        found = obj.real.object
        if type(found.string) not in (str, bytes):
            raise GraphBreak("FL102", f"a match in a {type(found.string).__name__}")
        session.guard("CALL", obj.real.source, (found_alike, places(found), f"{{}} is a match at {found.span()}"))
        pattern = session.observe.read(obj, "descriptor", re.Match.__dict__["re"])
        session.observe.known(pattern)
        return MatchBody(found, pattern)

    def children(self, obj: Obj) -> list:
        return [obj.body.pattern]

    def needs_first(self, obj: Obj) -> list:
        return [obj.body.pattern]

    def create(self, obj: Obj, build: Any) -> None:
        body = obj.body
        build.call_values(body.search, (body.pattern, *map(Const, body.arguments)))
