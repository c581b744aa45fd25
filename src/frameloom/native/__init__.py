"""The C extension: frame hook, entries, tail records, guard programs.

Everything here is what the C files define; the meaning of each name is in its docstring. `unsupported()` says why the
extension cannot work in the running Python, without importing it.
"""

from __future__ import annotations

import importlib.util
import sys

SUPPORTED = ((3, 11), (3, 12), (3, 13))
NOT_BUILT = "frameloom's C extension is not built for this Python"


def unsupported() -> str | None:
    """Why frames cannot be captured in this Python, or None when they can."""
    if sys.implementation.name != "cpython":
        return f"frameloom needs CPython, not {sys.implementation.name}"
    if sys.version_info[:2] not in SUPPORTED:
        return "frameloom knows CPython 3.11, 3.12 and 3.13, not %d.%d" % sys.version_info[:2]
    if hasattr(sys, "_is_gil_enabled") and "free-threading" in sys.version:
        return "frameloom does not know free-threaded builds of CPython"
    if importlib.util.find_spec("frameloom.native._native") is None:
        return NOT_BUILT
    return None


if unsupported() is None:
    from ._native import (
        SKIP,
        SKIP_BELOW,
        Callable,
        Engine,
        Entry,
        GuardProgram,
        Joint,
        Slot,
        Tail,
        call_capturing,
        call_disabled,
        call_keyed,
        caught,
        close_section,
        close_scope,
        dict_ahead,
        dict_iterated,
        dict_storage_get,
        enter,
        forget_subclass,
        frame_globals,
        go_on,
        hook_is_in,
        in_compiled,
        instance_dict_get,
        class_lookup,
        instance_dict_made,
        instance_dict_names,
        is_interned,
        make_function,
        object_new,
        object_setattr,
        open_scope,
        open_section,
        reset,
        resume_function,
        set_storage_has,
        state,
        stored_hash,
        take,
        tensor_accept,
        tensor_read,
        tensor_scan,
        trampoline,
        watch_stance,
    )

    __all__ = [
        "SKIP",
        "SKIP_BELOW",
        "Callable",
        "Engine",
        "Entry",
        "GuardProgram",
        "Joint",
        "Slot",
        "Tail",
        "call_capturing",
        "call_disabled",
        "call_keyed",
        "caught",
        "close_section",
        "class_lookup",
        "close_scope",
        "dict_ahead",
        "dict_iterated",
        "dict_storage_get",
        "enter",
        "forget_subclass",
        "frame_globals",
        "go_on",
        "hook_is_in",
        "in_compiled",
        "instance_dict_get",
        "instance_dict_made",
        "instance_dict_names",
        "is_interned",
        "make_function",
        "object_new",
        "object_setattr",
        "open_scope",
        "open_section",
        "reset",
        "resume_function",
        "set_storage_has",
        "state",
        "stored_hash",
        "take",
        "tensor_accept",
        "tensor_read",
        "tensor_scan",
        "trampoline",
        "unsupported",
        "watch_stance",
    ]
