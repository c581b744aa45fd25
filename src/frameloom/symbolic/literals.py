"""How constants are written in what people read."""

from __future__ import annotations

from typing import Any

MOST_BITS = 2000
"""An integer of more bits may have more digits than Python gives as text (`sys.set_int_max_str_digits`)."""

BRACKETS: dict[type, tuple[str, str]] = {tuple: ("(", ")"), frozenset: ("frozenset({", "})")}


def literal(value: Any) -> str:
    """The text of a constant; of an integer that may have more digits than Python allows, in hexadecimal."""
    if type(value) is int:
        return hex(value) if value.bit_length() > MOST_BITS else repr(value)
    try:
        return repr(value)
    except ValueError:  # such an integer is inside
        brackets = BRACKETS.get(type(value))
        if brackets is not None:
            return ", ".join(map(literal, value)).join(brackets)
        return f"{type(value).__name__}({', '.join(literal(getattr(value, name)) for name in ('start', 'stop', 'step'))})"
