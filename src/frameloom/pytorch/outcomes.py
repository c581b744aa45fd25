"""What running an operation on fakes told: the form in which it is remembered, apart from any trace."""

from __future__ import annotations

from typing import Any, NamedTuple


class TensorResult(NamedTuple):
    """A new tensor; `alias` is the index of the argument node whose storage it shares, or None; `differentiable` and `safe`
    see `state.View`."""

    fact: Any
    cls: type
    alias: int | None
    differentiable: bool
    safe: bool


class ArgumentResult(NamedTuple):
    """The very object that the argument node of this index is."""

    index: int


class ConstantResult(NamedTuple):
    """A value known at capture: a number, a dtype, None."""

    value: Any


class SizeResult(NamedTuple):
    """A whole number that follows from symbolic sizes."""

    size: Any


class SequenceResult(NamedTuple):
    """A list, tuple or structure sequence of results."""

    cls: type
    items: tuple


class Outcome(NamedTuple):
    """result: one of the above; changed: (argument index, new ungraded fact) of arguments with a new shape; written: the indices of
    arguments whose storage was written to; random: whether a generator was used; fresh: whether it has symbols that follow from data."""

    result: Any
    changed: tuple
    written: tuple
    random: bool
    fresh: bool = False

    @property
    def is_query(self) -> bool:
        """Whether the operation did nothing and made nothing: it only answered."""
        return not self.written and not self.random and not _makes(self.result)


def _makes(result: Any) -> bool:
    if type(result) is SequenceResult:
        return any(map(_makes, result.items))
    return type(result) in (TensorResult, SizeResult)
