"""What the running thread does, for whoever may not import the native room."""

from __future__ import annotations

from frameloom.native import call_capturing, call_disabled, in_compiled

__all__ = ["call_capturing", "call_disabled", "in_compiled"]
