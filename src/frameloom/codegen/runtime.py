"""What generated code calls at run time.  The functions are native; `compile` hands them in."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple


class Runtime(NamedTuple):
    """new_slot(weak=...) -> a slot for a constant.  tail(function, *arguments) -> a tail record; caught(...) one of a frame
    that an exception's traceback keeps.  resume_function(code) -> a function
    with the calling frame's globals and closure.  make_function(code, globals, closure) -> a function.  open_scope() has the
    frames that are called from here on looked up.  enter(record) makes the call of a tail record; trampoline(record) and
    trampoline(function, *arguments) run the records that come back too, and so does go_on((function, *arguments)), which empties a
    tuple that nobody else has; take(record) is the tuple of function and arguments.
    joint(make) gives a callable that takes a record: make(code of its function), remembered, or None.  rerun(code) notes that a
    graph failed, and gives the code that runs in place of `code`, eagerly, with all parameters positional.  call_keyed(known,
    function, *arguments) calls a function that stores keys, whose hashes are known.
    """

    new_slot: Callable[..., Any]
    tail: Callable[..., Any]
    caught: Callable[..., Any]
    resume_function: Callable[..., Any]
    make_function: Callable[..., Any]
    open_scope: Callable[..., Any]
    trampoline: Callable[..., Any]
    enter: Callable[..., Any]
    go_on: Callable[..., Any]
    take: Callable[..., Any]
    joint: Callable[..., Any]
    rerun: Callable[[CodeType], CodeType]
    call_keyed: Callable[..., Any]
