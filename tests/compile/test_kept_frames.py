"""Frames that the program keeps hold the program's names alone, whatever they did when they ended."""

from __future__ import annotations

import sys
from types import FrameType

from tests.compile.calls import Compiled


def innermost(kept: list[FrameType]) -> int:
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        kept.append(frame)
        frame = frame.f_back
    return len(kept)


def middle(kept: list[FrameType], first: int) -> int:
    second = first + 1
    return [first, innermost(kept), second][1] + 1


def outermost(kept: list[FrameType], first: int) -> tuple:
    third = first + 2
    return middle(kept, third), third


def test_their_names_are_the_programs() -> None:
    run = Compiled(outermost)
    for _ in range(2):
        kept: list[FrameType] = []
        assert run(kept, 1)[1] == 3
        names = {name for frame in kept[:2] for name in frame.f_locals}
        assert names <= {"kept", "first", "second", "third"} and "kept" in names
