"""Whether frames can be captured in the running Python."""

from __future__ import annotations

import functools

from frameloom import native

unsupported = functools.cache(native.unsupported)
"""Why not, as one line, or None.  Importing this room's other files needs None."""


def code_of(reason: str) -> str:
    """The FL code of such a reason."""
    return "FL913" if reason == native.NOT_BUILT else "FL907"
