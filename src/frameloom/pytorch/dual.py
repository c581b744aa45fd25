"""Forward mode: the level that dual numbers live on, and the operations that enter it, make and take apart dual numbers, and leave it.

Torch has one level for all threads.  These run in graphs that run as they are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Callable

import torch
from torch._functorch import predispatch
from torch.autograd import forward_ad

from frameloom.pytorch.applied import WithBody

LEVEL = 0
"""The number of the one level."""


def is_around() -> bool:
    """Whether the program is on the level, by what torch's Python keeps of it."""
    return forward_ad._current_level >= LEVEL


def is_entered() -> bool:
    """Whether a graph or the program is on the level: torch tells by refusing a second one.  Asked by graphs only that make dual numbers:
    other threads see the answer being looked for."""
    try:
        predispatch._enter_dual_level()
    except RuntimeError:
        return True
    predispatch._exit_dual_level(level=LEVEL)
    return False


class OfLevel(WithBody):
    """An operation of forward mode.  What runs on the level may turn out to have no derivative."""

    kind, may_fail, draws = "FL303", True, False

    def __init__(self, title: str, run: Callable) -> None:
        self.title = title
        self.run = run
        self.__name__ = self.__qualname__ = run.__name__

    def __call__(self, *operands: Any) -> Any:
        return self.run(*operands)


def enter() -> int:
    return predispatch._enter_dual_level()


def leave() -> None:
    predispatch._exit_dual_level(level=LEVEL)


def make(tensor: torch.Tensor, tangent: torch.Tensor) -> torch.Tensor:
    """A dual number.  Where only its facts are asked for, nobody has entered the level."""
    forward_ad._maybe_load_decompositions()
    entered = is_entered()
    if not entered:
        enter()
    try:
        return predispatch._make_dual(tensor, tangent, level=LEVEL)
    finally:
        if not entered:
            leave()


def take_apart(tensor: torch.Tensor) -> tuple:
    return tuple(predispatch._unpack_dual(tensor, level=LEVEL))


ENTER, LEAVE = OfLevel("dual_level", enter), OfLevel("dual_level", leave)
MAKE, TAKE_APART = OfLevel("make_dual", make), OfLevel("unpack_dual", take_apart)


@contextlib.contextmanager
def apart() -> Iterator[None]:
    """Be behind it where one was before, on the level or not."""
    entered = is_entered()
    try:
        yield
    finally:
        if is_entered() and not entered:
            leave()


def left_on_failure(function: Callable) -> Callable:
    """A graph that enters the level leaves it if it fails."""

    def run(*given: Any) -> Any:
        try:
            return function(*given)
        except BaseException:
            if is_entered():
                leave()
            raise

    return run
