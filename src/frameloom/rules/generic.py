"""C classes that spell out the standard attribute access: their slot wrappers mean what those of `object` mean."""

from __future__ import annotations

import _contextvars
import _thread
import builtins
import collections
import datetime
import functools
import itertools
import operator
import random
import re
import types
import weakref
from collections.abc import Iterator

from frameloom.interpreter.attributes import ALGORITHMS, WRITERS, generic_get, generic_set
from frameloom.interpreter.registry import RULES
from frameloom.rules import object_  # noqa: F401  its rules are used below
from frameloom.symbolic.layouts import LAYOUTS
from frameloom.symbolic.real import stands_on

ROOMS = (
    _contextvars,
    builtins,
    collections,
    datetime,
    functools,
    itertools,
    operator,
    random,
    re,
    types,
)
OF_THEIR_OWN = frozenset(
    {
        type,
        super,
        types.ModuleType,
        types.MethodType,
        types.GenericAlias,
        types.UnionType,
        weakref.ProxyType,
        weakref.CallableProxyType,
        _thread._local,
    }
)
"""C classes with another algorithm."""
HEAP_TYPE = 1 << 9


def static_classes() -> Iterator[type]:
    """The C classes of the modules above, and those whose storage is modelled."""
    for room in ROOMS:
        for found in vars(room).values():
            if stands_on(found, type):
                yield found
    yield from LAYOUTS


for _cls in static_classes():
    if _cls in OF_THEIR_OWN or _cls is object or _cls.__flags__ & HEAP_TYPE and not _cls.__flags__ & (1 << 8):
        continue
    _space = type.__dict__["__dict__"].__get__(_cls)
    if "__getattribute__" in _space:
        ALGORITHMS[_space["__getattribute__"]] = generic_get
        RULES[_space["__getattribute__"]] = RULES[object.__getattribute__]
    for _name in ("__setattr__", "__delattr__"):
        if _name in _space:
            WRITERS[_space[_name]] = generic_set
            RULES[_space[_name]] = RULES[object.__dict__[_name]]
