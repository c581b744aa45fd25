"""logging in plain Python without its lock."""

from __future__ import annotations

from typing import Any


def is_enabled_for(self: Any, level: int) -> bool:
    """`logging.Logger.isEnabledFor`."""
    if self.disabled:
        return False
    try:
        return self._cache[level]
    except KeyError:
        enabled = not self.manager.disable >= level and level >= self.getEffectiveLevel()
        self._cache[level] = enabled
        return enabled
