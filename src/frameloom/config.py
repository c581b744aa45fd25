"""Settings of the compiler, and the only place that reads the environment.

A setting is a field of `Config`.  Every field but its default can be given before start-up by an environment variable
`FRAMELOOM_<FIELD NAME>`, and inside a program by `patch`:

    with frameloom.config.patch(strict=True):
        compiled(x)

`current()` is what the rest of the compiler asks.  A patch holds for the running context (`contextvars`), so another
thread never sees it.
"""
from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

LOG_CHANNELS = ("breaks", "recompiles", "graph", "guards", "source")


AT_LIMIT = ("eager", "replace")
AtLimit = str


@dataclasses.dataclass(frozen=True, slots=True)
class Config:
    """One immutable set of settings.

    strict: raise internal errors of the compiler instead of warning once and running eagerly.
    logs: the channels of `LOG_CHANNELS` written in readable form to standard error.
    events: path of a file that receives every event as one JSON object a line; None writes none.
    recompile_limit: how many entries one code object may have before its further calls run eagerly.
    accumulated_recompile_limit: how often all that one `compile` call captures may be captured again, replaced entries included.
    at_limit: what a function at its `recompile_limit` does with a call that no entry fits: "eager" runs it as it is, "replace" captures it in
    place of an entry that was not used lately.
    fail_on_recompile_limit: a limit that is reached is an error, RecompileLimitReached.
    error_on_recompile: a call that fits none of the entries of its function is an error, RecompileError.
    trace_limit: how many instructions one trace may run, loops unrolled, before it breaks.
    capture_scalar_outputs: numbers read from tensors (`.item()`, `.tolist()`, `int(t)`) stay in the graph where they are whole; a branch on
    one breaks.
    capture_dynamic_output_shape_ops: so do operations that give as many elements as the data says (`nonzero`, masks, `unique`).  Both are
    on under `fullgraph=True`.
    verify: check the code of each entry before it runs; a fault found is an internal error. Tests run with it.
    progress: tell on standard error what is being captured.
    profile_path: a file that keeps, for other processes, which sizes and numbers were found to vary; None keeps nothing.
    report_directory: where the report of an internal error is written; None means the system's temporary directory.

    Raises ValueError or TypeError for a value that the setting cannot have.
    """

    strict: bool = False
    logs: frozenset[str] = frozenset()
    events: str | None = None
    recompile_limit: int = 8
    accumulated_recompile_limit: int = 256
    at_limit: AtLimit = "eager"
    fail_on_recompile_limit: bool = False
    error_on_recompile: bool = False
    trace_limit: int = 1_000_000
    capture_scalar_outputs: bool = False
    capture_dynamic_output_shape_ops: bool = False
    verify: bool = False
    progress: bool = False
    profile_path: str | None = None
    report_directory: str | None = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            CHECKS[field.type](field.name, getattr(self, field.name))


def _is_flag(name: str, value: object) -> None:
    if type(value) is not bool:
        raise TypeError(f"config.{name} is True or False, not {value!r}")


def _is_count(name: str, value: object) -> None:
    if type(value) is not int:
        raise TypeError(f"config.{name} is a whole number, not {value!r}")
    if value < 1:
        raise ValueError(f"config.{name} is at least 1, not {value}")


def _is_path(name: str, value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"config.{name} is a path or None, not {value!r}")


def _is_at_limit(name: str, value: object) -> None:
    if value not in AT_LIMIT:
        raise ValueError(f"config.{name} is {' or '.join(map(repr, AT_LIMIT))}, not {value!r}")


def _is_channels(name: str, value: object) -> None:
    if not isinstance(value, frozenset):
        raise TypeError(f"config.{name} is a frozenset of channel names, not {value!r}")
    unknown = sorted(value.difference(LOG_CHANNELS))
    if unknown:
        raise ValueError(f"config.{name}: no channel {', '.join(map(repr, unknown))}; there are {', '.join(LOG_CHANNELS)}")


def _parse_flag(text: str) -> bool:
    try:
        return {"": False, "0": False, "false": False, "no": False, "1": True, "true": True, "yes": True}[text.lower()]
    except KeyError:
        raise ValueError(f"expected 0 or 1, not {text!r}") from None


def _parse_channels(text: str) -> frozenset[str]:
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    return frozenset(LOG_CHANNELS) if names == {"all"} else names


# Keyed by the annotation of the field, which `from __future__ import annotations` keeps as text.
CHECKS: Mapping[str, Callable[[str, object], None]] = {
    "bool": _is_flag,
    "int": _is_count,
    "str | None": _is_path,
    "AtLimit": _is_at_limit,
    "frozenset[str]": _is_channels,
}
PARSERS: Mapping[str, Callable[[str], object]] = {
    "bool": _parse_flag,
    "int": int,
    "str | None": lambda text: text or None,
    "AtLimit": str,
    "frozenset[str]": _parse_channels,
}
FIELDS = {field.name: field for field in dataclasses.fields(Config)}


def from_environment(environment: Mapping[str, str]) -> Config:
    """The settings that `environment` asks for.  Raises ValueError naming the variable whose text is not understood."""
    given = {}
    for name, field in FIELDS.items():
        variable = f"FRAMELOOM_{name.upper()}"
        if variable in environment:
            try:
                given[name] = PARSERS[field.type](environment[variable])
            except ValueError as error:
                raise ValueError(f"environment variable {variable}: {error}") from None
    return Config(**given)


_current: ContextVar[Config] = ContextVar("frameloom.config", default=from_environment(os.environ))

current: Callable[[], Config] = _current.get
"""The settings in force in the running context.  A look-up of one context variable, in C."""


def patch(**changes: Any) -> contextlib.AbstractContextManager[Config]:
    """Change settings inside a `with` block, or inside a function when used as a decorator.

    Takes the fields of `Config` by name and gives the settings in force inside.  `logs` may be any iterable of channel
    names, or text as in `FRAMELOOM_LOGS`.  Raises TypeError for an unknown setting, and what `Config` raises for a wrong value, before anything changes.
    """
    unknown = sorted(set(changes).difference(FIELDS))
    if unknown:
        raise TypeError(f"no setting {', '.join(map(repr, unknown))}; there are {', '.join(FIELDS)}")
    logs = changes.get("logs")
    if isinstance(logs, str):
        changes["logs"] = _parse_channels(logs)
    elif isinstance(logs, Iterable):
        changes["logs"] = frozenset(logs)
    dataclasses.replace(current(), **changes)
    return _patched(changes)


@contextlib.contextmanager
def _patched(changes: Mapping[str, Any]) -> Iterator[Config]:
    patched = dataclasses.replace(current(), **changes)
    token = _current.set(patched)
    try:
        yield patched
    finally:
        _current.reset(token)
