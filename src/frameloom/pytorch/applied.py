"""The targets of operations that run functions: those of the program, or bodies that were captured."""

from __future__ import annotations

import abc
from typing import Any, Callable


class WithBody(abc.ABC):
    """An operation of the graph that runs a function.

    `kind` is the FL code of a call that cannot be captured, `title` what messages call it, `may_fail` whether its function may refuse
    values, `draws` whether it is known to draw random numbers.
    """

    kind: str
    title: str
    may_fail: bool
    draws: bool
    __name__: str
    __qualname__: str

    @abc.abstractmethod
    def __call__(self, *operands: Any) -> Any:
        """Run the function on the operands of the graph's node."""


class Applied(WithBody):
    """Calls `apply` of an `autograd.Function`; two of the same class are equal."""

    kind = "FL301"
    may_fail = True
    draws = False

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.title = cls.__qualname__
        self.__name__ = f"apply_{cls.__name__}"
        self.__qualname__ = self.__name__

    def __call__(self, *args: Any) -> Any:
        return self.cls.apply(*args)

    def __eq__(self, other: object) -> bool:
        return type(other) is Applied and other.cls is self.cls

    def __hash__(self) -> int:
        return hash(id(self.cls))


class Transformed(WithBody):
    """Hands captured bodies to a function of torch: `run` takes the operands, all of them tensors, and gives a flat tuple."""

    def __init__(self, kind: str, title: str, run: Callable, may_fail: bool, draws: bool) -> None:
        self.kind = kind
        self.title = title
        self.run = run
        self.may_fail = may_fail
        self.draws = draws
        self.__name__ = title.replace(".", "_")
        self.__qualname__ = self.__name__

    def __call__(self, *operands: Any) -> Any:
        return self.run(*operands)
