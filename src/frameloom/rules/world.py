"""Clocks, files, processes, the garbage collector: C functions that are refused module by module."""

from __future__ import annotations

import _io
import _socket
import datetime
import gc
import importlib
import io
import os
import select
import signal
import socket
import time
import types
from collections.abc import Iterator

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse, refuse_instances
from frameloom.rules.define import function
from frameloom.symbolic.real import type_name
from frameloom.symbolic.values import Value


def c_functions(*modules: types.ModuleType) -> Iterator:
    """The C functions of modules, and the C classes."""
    for module in modules:
        for found in vars(module).values():
            if isinstance(found, types.BuiltinFunctionType) and found.__module__ == module.__name__:
                yield found


POSIX = importlib.import_module(os.name)
PURE = frozenset({os.fspath})

refuse("FL109", "a clock is read", *c_functions(time))
refuse("FL111", "the garbage collector is asked", *c_functions(gc))
refuse("FL104", "the operating system is asked", *(f for f in c_functions(POSIX) if f not in PURE))
refuse("FL104", "a file or socket is used", *c_functions(io, select, signal, socket))
refuse_instances("FL104", io.IOBase, _io._IOBase, socket.socket, _socket.socket)
refuse_instances("FL108", types.FrameType)
refuse("FL508", "an environment variable is changed", os.putenv, os.unsetenv)
for _cls in (datetime.datetime, datetime.date):
    for _name in ("now", "utcnow", "today"):
        if _name in _cls.__dict__:
            refuse("FL109", "a clock is read", getattr(_cls, _name), _cls.__dict__[_name])


@function(os.fspath)
def fspath(m: Machine, path: Value) -> Value:
    if path.cls in (str, bytes):
        return path
    slot = m.observe.type_lookup(path.cls, "__fspath__")
    if slot.cls is not types.FunctionType:
        return NotImplemented
    made = m.invoke(slot, [path], {})
    if not issubclass(made.cls, (str, bytes)):
        raise m.error(
            TypeError,
            f"expected {type_name(path.cls)}.__fspath__() to return str or bytes, not {type_name(made.cls)}",
        )
    return made
