"""Programs made by a grammar, run by Python and compiled."""
from __future__ import annotations

asked: int | None = None
"""How many programs the command line asks for."""
