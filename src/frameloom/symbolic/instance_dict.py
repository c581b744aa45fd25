"""Reading an instance's own dictionary without running any Python code and without making the dictionary exist.

Since 3.11 an object may keep its attributes outside a dictionary until somebody asks for `__dict__`; from then on every
attribute of that object is slower for ever.  A trace must not do that to the user's objects.
"""

from __future__ import annotations

from typing import Any

from frameloom.native import instance_dict_get, instance_dict_names

MISSING = type("Missing", (), {"__repr__": lambda self: "<missing>"})()


def instance_dict_item(obj: Any, name: str) -> Any:
    """The value stored under `name` in `obj`'s own dictionary, or `MISSING`."""
    return instance_dict_get(obj, name, MISSING)


def instance_names(obj: Any) -> tuple | None:
    """The names in `obj`'s own dictionary in order, or None where it has no dictionary."""
    return instance_dict_names(obj)
