"""What the methods of C classes give to `copy` and `pickle`."""

from __future__ import annotations

from frameloom.interpreter.attributes import attributes_of, instance_dictionary
from frameloom.interpreter.machine import Machine
from frameloom.rules.class_ import class_of
from frameloom.rules.define import methods
from frameloom.symbolic.layouts import dict_, set_
from frameloom.symbolic.values import ABSENT, NONE, Value


def reduce_set(m: Machine, obj: Value, /) -> Value:
    """`set.__reduce__`: the class, the members as a list, the attributes."""
    members = m.list(set_.members(m.session, obj.body))
    return m.tuple([class_of(m, obj), m.tuple([members]), state(m, obj)])


def state(m: Machine, obj: Value) -> Value:
    """The dictionary of an object's attributes, or None where it has none."""
    body = attributes_of(m, obj)
    if body is None:
        return NONE
    dict_.materialise(m.session, body)
    filled = any(value is not ABSENT for _, value in body.known.values())
    return instance_dictionary(m, obj) if filled else NONE


for _cls in (set, frozenset):
    methods(_cls, "__reduce__")(reduce_set)
