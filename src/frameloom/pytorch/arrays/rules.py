"""Importing this module registers everything that is known of NumPy."""

from __future__ import annotations

from frameloom.pytorch.arrays import scalars, tensors  # noqa: F401
from frameloom.pytorch.constants import CONSTANT_CLASSES

CONSTANT_CLASSES.update(scalars.CONSTANTS)
