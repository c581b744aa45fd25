"""Reading an instance's own dictionary without running any Python code and without making the dictionary exist.

Since 3.11 an object may keep its attributes outside a dictionary until somebody asks for `__dict__`; from then on every
attribute of that object is slower for ever.  A trace must not do that to the user's objects.
"""

from __future__ import annotations

from typing import Any

from frameloom.native import (
    class_lookup,
    forget_subclass,
    instance_dict_get,
    instance_dict_names,
    is_interned,
    object_new,
    object_setattr,
)
from frameloom.symbolic.signals import GraphBreak

__all__ = ["MISSING", "class_item", "forget_subclass", "instance_dict_item", "instance_names", "is_the_one", "WITHOUT_TUPLES"]

WITHOUT_TUPLES = {object.__new__: object_new, object.__setattr__: object_setattr}
"""what generated code calls in the place of slot wrappers, which cost three times as much"""

MISSING = type("Missing", (), {"__repr__": lambda self: "<missing>"})()


def instance_dict_item(obj: Any, name: str) -> Any:
    """The value stored under `name` in `obj`'s own dictionary, or `MISSING`.  Breaks where that has other keys than str."""
    try:
        return instance_dict_get(obj, name, MISSING)
    except LookupError:
        raise GraphBreak("FL112", f"an object of {type.__repr__(type(obj))} has names that are no strings") from None


def class_item(cls: type, name: str) -> Any:
    """What is found under `name` along the classes of `cls`, unbound, or `MISSING`.  Breaks where a class has other keys than
    str, whose comparison may run code."""
    try:
        return class_lookup(cls, name, MISSING)
    except LookupError:
        raise GraphBreak("FL112", f"a class of {type.__repr__(cls)} has names that are no strings") from None


def is_the_one(text: str) -> bool:
    """Whether a text is the one object that CPython keeps for its value."""
    return is_interned(text)


def instance_names(obj: Any) -> tuple | None:
    """The names in `obj`'s own dictionary in order, or None where it has no dictionary."""
    return instance_dict_names(obj)
