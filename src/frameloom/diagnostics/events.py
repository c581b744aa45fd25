"""What happened: one function per kind of event, counters for `stats()`, readable logs and a file of JSON lines.

Events are rare (a capture, a break, a recompile, an eager run that is told for the first time), so all of them take one
lock.  What happens at every call is counted in C and added by whoever asks for `stats()`.

Readable logs go to the loggers `frameloom.<channel>`; `config.logs` turns a channel on.
"""
from __future__ import annotations

import contextlib
import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from frameloom import config
from frameloom.diagnostics.location import Location
from frameloom.diagnostics.reports import BreakReport, RecompileReport
from frameloom.diagnostics.stats import Stats

logger = logging.getLogger("frameloom")
Listener = Callable[[str, dict[str, Any]], None]

_lock = threading.RLock()
_counts = Stats()
_listeners: tuple[Listener, ...] = ()
_told: set[tuple[str, str, str]] = set()


def frame(name: str, location: Location | None = None) -> None:
    """The capture of a frame begins.  name: the function's qualified name."""
    with _lock:
        _counts.frames += 1
    if config.current().progress:
        print(f"frameloom: capturing {name}", file=sys.stderr, flush=True)
    _emit("frame", name=name, location=location)


def entry(name: str, seconds: float) -> None:
    """A frame has got a new entry after `seconds` of capture, backend included."""
    with _lock:
        _counts.entries += 1
        _counts.capture_seconds += seconds
    _emit("entry", name=name, seconds=seconds)


def graph(name: str, operations: int, text: Callable[[], str] | None = None) -> None:
    """A graph goes to the backend.  operations: its call nodes.  text: prints it, called only when the log wants it."""
    with _lock:
        _counts.graphs += 1
        _counts.ops += operations
    _emit("graph", name=name, operations=operations)
    if text is not None:
        log("graph", lambda: f"graph of {name}, {operations} operations\n{text()}")


def graph_break(report: BreakReport) -> None:
    """A trace stopped at an instruction and goes on behind it."""
    with _lock:
        _counts.breaks[report.kind.code] += 1
    _emit("break", report=report)
    log("breaks", report.render)


def recompile(report: RecompileReport) -> None:
    """A call fitted none of the entries of its code object."""
    with _lock:
        _counts.recompiles[report.reason] += 1
    _emit("recompile", report=report)
    log("recompiles", report.render)


def eager(report: BreakReport, tell: bool = True, counted: bool = False) -> None:
    """A frame runs eagerly for a reason of group FL9.

    tell: warn, in one line and once for each reason and place; without it the event is counted and logged only.
    counted: somebody else counts how often this happens.  Raises ValueError for a report of another group.
    """
    if not report.kind.eager:
        raise ValueError(f"{report.kind.code} is no reason for running eagerly")
    if not counted:
        with _lock:
            _counts.eager[report.kind.code] += 1
    _emit("eager", report=report)
    if "breaks" in config.current().logs and _is_new("logged", report):
        log("breaks", report.render)
    if tell:
        announce(report)


def user_exception(error_type: type[BaseException], location: Location | None = None) -> None:
    """A trace ended because the program raises: an exit, not a break."""
    with _lock:
        _counts.user_exceptions += 1
    _emit("user_exception", type=error_type.__name__, location=location)


def restart(name: str, reason: str) -> None:
    """A capture began anew, because a question about shapes had been answered that rollback cannot take back."""
    with _lock:
        _counts.restarts += 1
    _emit("restart", name=name, reason=reason)


def announce(report: BreakReport) -> bool:
    """Warn in one line, once for each kind and place until `reset()`.  Gives whether this was the first time."""
    if not _is_new("announced", report):
        return False
    logger.warning("frameloom: %s (frameloom explain %s)", report.summary(), report.kind.code)
    return True


def _is_new(where: str, report: BreakReport) -> bool:
    key = (where, report.kind.code, str(report.location) if report.location else report.detail)
    with _lock:
        new = key not in _told
        _told.add(key)
    return new


def log(channel: str, text: Callable[[], str]) -> None:
    """Write `text()` to the log `channel`, if it is on.  channel: one of `config.LOG_CHANNELS`."""
    if channel in config.current().logs:
        target = logging.getLogger(f"frameloom.{channel}")
        _prepare(target)
        target.info("%s", text())


def stats() -> Stats:
    """A copy of the counters."""
    with _lock:
        return _counts.copy()


def reset() -> None:
    """Set every counter to zero and forget what was announced."""
    global _counts
    with _lock:
        _counts = Stats()
        _told.clear()


@contextlib.contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Call `listener(kind, data)` for every event inside the block, from whichever thread it comes.

    kind is the name of the event, data what it carries; reports are handed over as they are.
    """
    global _listeners
    with _lock:
        _listeners = (*_listeners, listener)
    try:
        yield
    finally:
        with _lock:
            _listeners = tuple(other for other in _listeners if other is not listener)


@contextlib.contextmanager
def eager_here() -> Iterator[list[BreakReport]]:
    """Collect why frames ran eagerly inside the block in this thread, each reason once for a place."""
    found: list[BreakReport] = []
    thread = threading.get_ident()

    def listener(kind: str, data: dict[str, Any]) -> None:
        if kind == "eager" and threading.get_ident() == thread and data["report"] not in found:
            found.append(data["report"])

    with listen(listener):
        yield found


def _emit(kind: str, **data: Any) -> None:
    for listener in _listeners:
        listener(kind, data)
    path = config.current().events
    if path is not None:
        line = json.dumps({"event": kind, "time": time.time(), "thread": threading.get_ident(), **_plain(data)})
        with _lock, open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, (BreakReport, RecompileReport)):
            plain.update(value.as_dict())
        else:
            plain[name] = value._asdict() if isinstance(value, Location) else value
    return plain


def _prepare(target: logging.Logger) -> None:
    """Let the channel reach standard error, unless the program has set up logging of its own."""
    if target.level == logging.NOTSET:
        target.setLevel(logging.INFO)
    if not target.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
