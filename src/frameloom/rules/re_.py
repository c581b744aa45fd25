"""Regular expressions on known texts: patterns and matches do not change, and C code alone searches.

A pattern is known by identity, so a text that is known gives matches and texts that are known.  A replacement that is called back,
and `finditer`, are left to running code.
"""

from __future__ import annotations

import re
from typing import Any, Callable

from frameloom.interpreter.attributes import reads
from frameloom.interpreter.machine import Machine
from frameloom.rules.atoms import arguments
from frameloom.rules.define import methods
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.layouts.match import MatchBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Obj, Value

LAST = 2**63 - 1
"""Where a search ends that was told no end; `sys.maxsize` in CPython."""


def _pattern(m: Machine, pattern: Value, text: Value) -> re.Pattern | None:
    """The pattern itself, its identity guarded; None where the text is no text that is known."""
    if type(text) is not Const or text.cls not in (str, bytes):
        return None
    found = m.observe.known(pattern)
    return None if found is MISSING or type(found) is not re.Pattern else found


def _search(name: str) -> None:
    descriptor = re.Pattern.__dict__[name]

    @methods(re.Pattern, name)
    def search(m: Machine, self: Value, string: Value, pos: Value = Const(0), endpos: Value = Const(LAST)) -> Any:
        pattern = _pattern(m, self, string)
        known = arguments(m, (string, pos, endpos))
        if pattern is None or known is None or not all(type(bound) is int for bound in known[1:]):
            return NotImplemented
        found = _run(m, descriptor, pattern, *known)
        return NONE if found is None else m.session.alloc(re.Match, MatchBody(found, self, descriptor, tuple(known)))


def _run(m: Machine, target: Callable, *known: Any) -> Any:
    """The host's answer; an error of the program's pattern or template, which has details of its own, is a break."""
    try:
        return target(*known)
    except re.error:
        raise GraphBreak("FL102", "a template with an error in it") from None
    except (TypeError, IndexError, OverflowError):
        return m.fold(target, *known)  # raises it as the program's


def _texts(name: str) -> None:
    descriptor = re.Pattern.__dict__[name]

    @methods(re.Pattern, name)
    def texts(m: Machine, self: Value, *args: Value, **kwargs: Value) -> Any:
        known = arguments(m, args)
        named = arguments(m, tuple(kwargs.values()))
        text = kwargs.get("string") if "string" in kwargs else args[TEXT_AT[name]] if len(args) > TEXT_AT[name] else NONE
        pattern = _pattern(m, self, text)
        if pattern is None or known is None or named is None or any(map(callable, (*known, *named))):
            return NotImplemented
        return m.lift(_run(m, lambda *values: descriptor(*values, **dict(zip(kwargs, named))), pattern, *known))


TEXT_AT = {"findall": 0, "split": 0, "sub": 1, "subn": 1}
"""Methods that give texts -> at which place the text is that they search"""

for _name in ("match", "fullmatch", "search"):
    _search(_name)
for _name in TEXT_AT:
    _texts(_name)

# -- matches ---------------------------------------------------------------------------------------------------------

ITSELF = ("__copy__", "__deepcopy__")


@methods(re.Match, *ITSELF, storage=MatchBody)
@methods(re.Pattern, *ITSELF)
def itself(m: Machine, self: Value, memo: Value = NONE, /) -> Value:
    return self


def _told(name: str) -> None:
    descriptor = re.Match.__dict__[name]

    def told(m: Machine, self: Obj, /, *args: Value, **kwargs: Value) -> Any:
        known = arguments(m, (*args, *kwargs.values()))
        if known is None:
            return NotImplemented
        positional, named = known[: len(args)], dict(zip(kwargs, known[len(args) :]))
        return m.lift(_run(m, lambda *values: descriptor(*values, **named), self.body.found, *positional))

    methods(re.Match, name, storage=MatchBody)(told)


for _name in ("__repr__", "__getitem__", "group", "start", "end", "span", "groups", "groupdict", "expand"):
    _told(_name)


def _part(name: str) -> None:
    @reads(re.Match.__dict__[name])
    def read(m: Machine, match: Obj) -> Value:
        return m.lift(getattr(match.body.found, name))


for _name in ("string", "pos", "endpos", "lastindex", "lastgroup", "regs"):
    _part(_name)


@reads(re.Match.__dict__["re"])
def pattern_of(m: Machine, match: Obj) -> Value:
    return match.body.pattern
