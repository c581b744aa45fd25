"""What frontends ask of the native part: whether a frame runs below a compiled callable, and how tensors are read."""

from __future__ import annotations

from frameloom.native import in_compiled
from frameloom.native.tensors import Codes, Graded, Probe, calibrate, facts

__all__ = ["Codes", "Graded", "Probe", "calibrate", "facts", "in_compiled"]
