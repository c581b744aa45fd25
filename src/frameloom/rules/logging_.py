"""logging: a record handed to the library's handlers is an ordered effect; one that is not enabled is nothing at all."""

from __future__ import annotations

import logging
import logging.handlers
from typing import Any

from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.rules.callers import caller
from frameloom.rules.polyfills import logging as polyfills
from frameloom.rules.print_ import as_now, writes_in_c
from frameloom.symbolic.real import stands_on
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Value

LIBRARY = ("logging", "logging.handlers")
NO_EXCEPTION = (None, False, 0)


@rule(logging.Logger.isEnabledFor)
def is_enabled_for(m: Machine, logger: Value, level: Value) -> Value:
    return m.invoke(m.observe.constant(polyfills.is_enabled_for), [logger, level], {})


def _is_internal(filename: str) -> bool:
    return filename == logging._srcfile or "importlib" in filename and "_bootstrap" in filename


@rule(logging.Logger._log)
def log(
    m: Machine,
    logger: Value,
    level: Value,
    msg: Value,
    args: Value,
    exc_info: Value = NONE,
    extra: Value = NONE,
    stack_info: Value = Const(False),
    stacklevel: Value = Const(1),
) -> Value:
    """Make the record and hand it on at run time, with the place of this call."""
    if not all(type(part) is Const and part.value in NO_EXCEPTION for part in (exc_info, extra, stack_info)):
        raise GraphBreak("FL105", "a log record with an exception, a stack or details of its own")
    _require_library(m, logger)
    depth = m.need_constant(stacklevel, "FL207", "stack level known at run time only")
    place = caller(m, max(depth, 1), _is_internal)
    shown = [as_now(m, value) for value in (msg, *unpack(m, args))]
    if any(value is None for value in shown):
        raise GraphBreak("FL105", "a log record made of objects of the program")
    details = [Const(part) for part in place[:3]]
    m.session.effect("call", Const(log_from), [logger, level, *details, *shown], ())
    return NONE


def _require_library(m: Machine, logger: Value) -> None:
    for name in ("makeRecord", "handle", "findCaller", "callHandlers", "filter"):
        if m.observe.peek_type(logger.cls, name) is not getattr(logging.Logger, name):
            raise GraphBreak("FL105", f"{logger.cls.__qualname__}.{name} of the program's own")
    real = m.observe.known(logger)
    if not stands_on(real, logging.Logger) or not uses_library(real, None):
        raise GraphBreak("FL105", "a handler of the program's own")
    m.session.guard("CALL", logger.real.source, (uses_library, None, "the handlers of {} are the library's"))


def uses_library(logger: Any, _: None) -> bool:
    """Whether a record given to a logger runs code of the library only."""
    if logging.getLogRecordFactory() is not logging.LogRecord or logger.filters:
        return False
    at, found = logger, 0
    while at is not None:
        found += len(at.handlers)
        if not all(map(_is_library, at.handlers)):
            return False
        at = at.parent if at.propagate else None
    return found > 0 or logging.lastResort is None or _is_library(logging.lastResort)


def _is_library(handler: Any) -> bool:
    if type(handler).__module__ not in LIBRARY or handler.filters:
        return False
    if handler.formatter is not None and type(handler.formatter) is not logging.Formatter:
        return False
    return writes_in_c(type(getattr(handler, "stream", None)))


def log_from(logger: logging.Logger, level: int, filename: str, line: int, function: str, msg: Any, *args: Any) -> None:
    """Log as if from a place of the program; called by compiled code."""
    record = logger.makeRecord(logger.name, level, filename, line, msg, args, None, function, None, None)
    logger.handle(record)
