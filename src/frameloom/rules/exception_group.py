"""Exception groups: construction, parts, and the methods that take them apart (PEP 654)."""

from __future__ import annotations

from frameloom.interpreter import groups
from frameloom.interpreter.attributes import part_of, reads
from frameloom.interpreter.calls import class_made_by
from frameloom.interpreter.machine import Machine
from frameloom.rules.define import methods
from frameloom.symbolic.layouts.exception import EXCEPTIONS, MESSAGE
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Const, Value


@methods(BaseExceptionGroup, "__new__")
def new(m: Machine, cls: Value, message: Value, exceptions: Value, /) -> Value:
    return groups.make(m, class_made_by(m, BaseExceptionGroup, cls), message, exceptions)


for _member in (MESSAGE, EXCEPTIONS):
    reads(_member)(lambda m, group, member=_member: part_of(m, group, member))


@methods(BaseExceptionGroup, "derive")
def derive(m: Machine, group: Value, exceptions: Value, /) -> Value:
    return groups.make(m, BaseExceptionGroup, part_of(m, group, MESSAGE), exceptions)


@methods(BaseExceptionGroup, "split")
def split(m: Machine, group: Value, wanted: Value, /) -> Value:
    return m.tuple(list(groups.split(m, group, groups.condition(m, wanted))))


@methods(BaseExceptionGroup, "subgroup")
def subgroup(m: Machine, group: Value, wanted: Value, /) -> Value:
    return groups.split(m, group, groups.condition(m, wanted), rest_too=False)[0]


@methods(BaseExceptionGroup, "__str__")
def text(m: Machine, group: Value, /) -> Value:
    message = part_of(m, group, MESSAGE)
    if type(message) is not Const:
        raise GraphBreak("FL205", "the message of an exception group is known at run time only")
    count = len(groups.exceptions_of(m, group))
    return Const(f"{message.value} ({count} sub-exception{'s' * (count != 1)})")
