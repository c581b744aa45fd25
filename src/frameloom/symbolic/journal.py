"""The journal: every change of a trace's state, so that a trace can step back to any instruction (law 4)."""

from __future__ import annotations

from operator import delitem, setitem
from typing import Any, Callable


class Journal:
    """Undo log.  Whoever changes trace state records how to take the change back, before or after making it.

    An entry is one flat tuple: a function, and what it is called with.
    """

    __slots__ = ("_undo",)

    def __init__(self) -> None:
        self._undo: list[tuple] = []

    def mark(self) -> int:
        """A point to which `rollback` can return."""
        return len(self._undo)

    def record(self, undo: Callable, *arguments: Any) -> None:
        """Remember that `undo(*arguments)` takes back one change."""
        self._undo.append((undo, *arguments))

    def rollback(self, mark: int) -> None:
        """Take back every change made since `mark`, newest first."""
        log = self._undo
        while len(log) > mark:
            undo, *arguments = log.pop()
            undo(*arguments)

    def clear(self) -> None:
        """Forget how to step back: the trace is over."""
        self._undo.clear()

    def set_item(self, mapping: dict, key: Any, value: Any) -> None:
        """Journalled `mapping[key] = value`; order of the mapping is restored too where the key is new."""
        if key in mapping:
            self._undo.append((setitem, mapping, key, mapping[key]))
        else:
            self._undo.append((delitem, mapping, key))
        mapping[key] = value

    def delete_item(self, mapping: dict, key: Any) -> None:
        """Journalled `del mapping[key]`, order included."""
        self._undo.append((_restore_mapping, mapping, dict(mapping)))
        del mapping[key]

    def append(self, items: list, value: Any) -> None:
        """Journalled `items.append(value)`."""
        self._undo.append((_LIST_POP, items))
        items.append(value)

    def insert(self, items: list, index: int, value: Any) -> None:
        """Journalled `items.insert(index, value)`, the index being in range and not negative."""
        self._undo.append((delitem, items, index))
        items.insert(index, value)

    def delete_index(self, items: list, index: int) -> None:
        """Journalled `del items[index]`, the index being in range and not negative."""
        self._undo.append((_LIST_INSERT, items, index, items[index]))
        del items[index]

    def replace(self, items: list, new: list) -> None:
        """Journalled `items[:] = new`."""
        self._undo.append((_restore_list, items, items.copy()))
        items[:] = new

    def set_index(self, items: list, index: int, value: Any) -> None:
        """Journalled `items[index] = value`."""
        self._undo.append((setitem, items, index, items[index]))
        items[index] = value

    def set_field(self, holder: Any, name: str, value: Any) -> None:
        """Journalled `holder.name = value`."""
        self._undo.append((setattr, holder, name, getattr(holder, name)))
        setattr(holder, name, value)


_LIST_POP = list.pop
_LIST_INSERT = list.insert


def _restore_mapping(mapping: dict, old: dict) -> None:
    mapping.clear()
    mapping.update(old)


def _restore_list(items: list, old: list) -> None:
    items[:] = old
