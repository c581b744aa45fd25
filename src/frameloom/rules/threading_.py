"""threading.local, read and written for the running thread; locks and threads are not captured."""

from __future__ import annotations

import _thread
import threading
from typing import Any

from frameloom.interpreter.attributes import generic_get, generic_set
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse
from frameloom.rules.define import methods
from frameloom.rules.names import attribute_name
from frameloom.symbolic.layouts import dict_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.reading import keyed
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, Obj, Real, Value

LOCAL = _thread._local
_get = LOCAL.__dict__["__getattribute__"]


def _entry(holder: Any, name: str) -> Any:
    space = _get(holder, "__dict__")
    try:
        return space[name]
    except KeyError:
        raise AttributeError(name) from None


ENTRY = keyed(_entry, "<of this thread>")


def has_no_entry(holder: Any, name: str) -> bool:
    """Whether a threading.local has no such attribute in the running thread."""
    return name not in _get(holder, "__dict__")


def attributes(m: Machine, local: Value) -> None:
    """Make the attributes of a threading.local those of the running thread."""
    if type(local) is not Obj or local.real is None:
        raise GraphBreak("FL506", "a threading.local made in the trace")
    if local.attributes is not None and local.attributes.step == "thread_local":
        return
    if m.observe.peek_type(local.cls, "__init__") is not object.__init__:
        raise GraphBreak("FL506", f"{local.cls.__qualname__}.__init__ runs once in every thread")
    m.journal.set_field(local, "attributes", DictBody(False, local.real, "thread_local"))


def _read(session: Any, real: Real, name: str) -> Value:
    found = session.observe.read(Obj(LOCAL, real), "descriptor", ENTRY(name))
    if found is ABSENT:
        session.guard("CALL", real.source, (has_no_entry, name, f"{{}}.{name} is unset in this thread"))
    return found


def _read_keys(session: Any, real: Real) -> list:
    raise GraphBreak("FL506", "all that a threading.local holds")


dict_.READERS["thread_local"] = _read
dict_.KEY_READERS["thread_local"] = _read_keys


@methods(LOCAL, "__getattribute__")
def getattribute(m: Machine, local: Value, name: Value, /) -> Value:
    attributes(m, local)
    plain = attribute_name(m, name)
    if plain == "__dict__":
        raise GraphBreak("FL506", "all that a threading.local holds")
    return generic_get(m, local, plain)


@methods(LOCAL, "__setattr__")
def setattr_(m: Machine, local: Value, name: Value, value: Value, /) -> Value:
    _write(m, local, name, value)
    return NONE


@methods(LOCAL, "__delattr__")
def delattr_(m: Machine, local: Value, name: Value, /) -> Value:
    _write(m, local, name, ABSENT)
    return NONE


def _write(m: Machine, local: Value, name: Value, value: Value) -> None:
    plain = attribute_name(m, name)
    attributes(m, local)
    if plain == "__dict__":
        cls = "_thread._local" if local.cls is LOCAL else local.cls.__name__
        raise m.error(AttributeError, f"'{cls}' object attribute '__dict__' is read-only")
    generic_set(m, local, plain, value)


# -- threads and locks -----------------------------------------------------------------------------------------------

refuse("FL110", "a threading.local is made", LOCAL)
for _cls in (_thread.LockType, _thread.RLock):
    for _name in ("acquire", "release", "__enter__", "__exit__", "locked"):
        if _name in _cls.__dict__:
            refuse("FL110", "a lock is used", _cls.__dict__[_name])
refuse("FL110", "a lock is made", _thread.allocate_lock, _thread.RLock, threading.Lock)
refuse("FL110", "a thread is started", _thread.start_new_thread)
