"""Sizes that are no numbers."""

from __future__ import annotations

from typing import Any

import torch


class Size:
    """A size of a fact that is no number: equal where its expression is, in one shape environment."""

    __slots__ = ("expression", "number")

    def __init__(self, expression: Any, number: Any) -> None:
        self.expression = expression
        self.number = number

    def __eq__(self, other: object) -> bool:
        return type(other) is Size and self.expression == other.expression and self.environment is other.environment

    def __hash__(self) -> int:
        return hash(self.expression)

    @property
    def environment(self) -> Any:
        """The `ShapeEnv` that the expression's symbols belong to."""
        return self.number.node.shape_env

    def __repr__(self) -> str:
        return str(self.expression)


def lift_size(number: Any) -> Any:
    """A number of torch's as a size of a fact: an int where it is known."""
    if not isinstance(number, torch.SymInt):
        return int(number)
    known = number.node.maybe_as_int()
    if known is not None:
        return known
    expression = number.node.expr
    return int(expression) if expression.is_number else Size(expression, number)
