"""Reading dictionaries and sets of the user's past the `__hash__` and `__eq__` of their keys."""

from __future__ import annotations

from typing import Any

from frameloom.native import dict_storage_get, set_storage_has, stored_hash
from frameloom.symbolic.keys import host_hashable
from frameloom.symbolic.signals import GraphBreak

__all__ = ["has_member", "stored_hash", "stored_value"]


def stored_value(mapping: dict, key: Any, default: Any) -> Any:
    """What a real dictionary has under a key that C code can hash and compare, else `default`.

    A GraphBreak where a user's `__eq__` would have to tell.
    """
    try:
        return dict_storage_get(mapping, key, default)
    except LookupError:
        _require_plain(key, dict.keys(mapping))
        return dict.get(mapping, key, default)


def has_member(real: Any, member: Any) -> bool:
    """As `stored_value`, of a real set or frozenset: whether the member is there."""
    try:
        return set_storage_has(real, member)
    except LookupError:
        base = frozenset if isinstance(real, frozenset) else set
        _require_plain(member, base.__iter__(real))
        return base.__contains__(real, member)


def _require_plain(key: Any, others: Any) -> None:
    if not all(map(host_hashable, others)):
        name = type(key).__name__
        raise GraphBreak("FL507", f"a {name} is looked for among keys that only their own classes can tell from it")
