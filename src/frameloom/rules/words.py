"""What the running CPython says: messages that differ between versions are asked for once, at import."""

from __future__ import annotations

from typing import Any, Callable


def words(function: Callable, *args: Any) -> str:
    """The message of the exception that a call raises."""
    try:
        function(*args)
    except Exception as error:  # noqa: BLE001  any exception is the answer
        return str(error)
    raise AssertionError(f"{function!r} raises nothing")
