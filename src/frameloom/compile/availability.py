"""Whether frames can be captured in the running Python."""

from __future__ import annotations

import functools

from frameloom import native

unsupported = functools.cache(native.unsupported)
"""Why not, as one line, or None.  Importing this room's other files needs None."""
