"""sys: settings that are read under a guard; what looks at frames or changes the interpreter is refused."""

from __future__ import annotations

import sys

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse
from frameloom.rules.define import function
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.reading import Reading
from frameloom.symbolic.values import NONE, Const, Value

LIMIT = Reading(lambda module: module.getrecursionlimit(), "getrecursionlimit()")


@function(sys.getrecursionlimit)
def getrecursionlimit(m: Machine) -> Value:
    return m.observe.read(m.observe.constant(sys), "descriptor", LIMIT)


@function(sys.intern)
def intern(m: Machine, text: Value, /) -> Value:
    return m.fold(sys.intern, m.need_constant(text, "FL205", "text known at run time only"))


@function(sys.getdefaultencoding)
def getdefaultencoding(m: Machine) -> Value:
    return Const(sys.getdefaultencoding())


@function(sys.is_finalizing)
def is_finalizing(m: Machine) -> Value:
    return Const(False)


@function(sys.exit)
def exit_(m: Machine, status: Value = NONE, /) -> Value:
    arguments = [] if type(status) is Const and status.value is None else _items(m, status)
    raise m.raising(m.invoke(m.observe.constant(SystemExit), arguments, {}))


def _items(m: Machine, status: Value) -> list[Value]:
    """A tuple is taken as the arguments of the exception."""
    return tuple_.items(m.session, status.body) if status.cls is tuple else [status]


def _refuse(kind: str, because: str, *names: str) -> None:
    refuse(kind, because, *(getattr(sys, name) for name in names if hasattr(sys, name)))


_refuse("FL108", "the call stack is read", "_getframe", "_getframemodulename", "_current_frames", "_current_exceptions")
_refuse(
    "FL111",
    "a setting of the interpreter is changed or asked",
    "setrecursionlimit",
    "settrace",
    "gettrace",
    "setprofile",
    "getprofile",
    "setswitchinterval",
    "getswitchinterval",
    "getrefcount",
    "getsizeof",
    "getallocatedblocks",
    "addaudithook",
    "audit",
    "set_int_max_str_digits",
    "set_asyncgen_hooks",
    "set_coroutine_origin_tracking_depth",
)
